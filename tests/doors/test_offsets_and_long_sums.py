"""Far from the origin, and over many rows, nothing is lost.

Coordinates on a map, Unix times and spectra lie far from zero, where the usual
|y|^2 - 2 y mu + |mu|^2 cancels; a sum of ten million float32 rows has long outgrown the
digits of float32.
"""

import numpy as np
import pytest

from cprime import KMeans

OFFSETS = {np.float32: 1e4, np.float64: 1e8}
N_CLUSTERS = 6


def rows_far_away(dtype, D, seed):
    """Return overlapping clusters, so that many rows lie near a border."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(N_CLUSTERS, D)) * 2 / np.sqrt(D)
    truth = rng.integers(N_CLUSTERS, size=2500)
    rows = centres[truth] + rng.normal(size=(len(truth), D)) / np.sqrt(D)
    return (OFFSETS[dtype] + rows).astype(dtype)


def n_misplaced(rows, labels, centres):
    """Return how many rows are not with a nearest centre, judged in long double."""
    differences = rows[:, None].astype(np.longdouble) - centres.astype(np.longdouble)
    squares = (differences**2).sum(axis=2)
    own = np.take_along_axis(squares, labels[:, None], axis=1)[:, 0]
    return np.count_nonzero(own > squares.min(axis=1))


@pytest.mark.parametrize("dtype", OFFSETS)
@pytest.mark.parametrize("D", [2, 16, 128])
@pytest.mark.parametrize("c_prime", [1, 2, None])
def test_every_row_is_with_its_nearest_centre(kernel_name, dtype, D, c_prime):
    rows, unseen = (rows_far_away(dtype, D, seed) for seed in (0, 1))
    model = KMeans(
        N_CLUSTERS, c_prime=c_prime, max_iter=20, random_state=0, kernel=kernel_name
    ).fit(rows)
    centres = model.cluster_centers_
    assert len(np.unique(model.labels_)) == N_CLUSTERS
    assert n_misplaced(rows, model.labels_, centres) == 0
    for asked in (rows, unseen):
        assert n_misplaced(asked, model.predict(asked), centres) == 0
        most_probable = model.predict_proba(asked).argmax(axis=1)
        assert n_misplaced(asked, most_probable, centres) == 0


# Of the reference about 12 s, and 0.6 GB: a much shorter sum would still fit the digits
# of float32.
def test_ten_million_float32_rows_in_one_cluster(kernel_name):
    rng = np.random.default_rng(0)
    rows = rng.normal(-1.0, 0.1, size=(10**7, 1)).astype(np.float32)
    model = KMeans(1, init=rows[:1], max_iter=2, kernel=kernel_name).fit(rows)
    mean = rows.mean(dtype=np.longdouble)
    inertia = np.square(rows - mean, dtype=np.longdouble).sum()
    # The centre is a float32; what it is rounded from, and the inertia, are not.
    assert model.cluster_centers_[0, 0] == pytest.approx(float(mean), rel=1e-7)
    assert model.inertia_ == pytest.approx(float(inertia), rel=1e-11)
    assert -model.score(rows) == pytest.approx(float(inertia), rel=1e-11)
