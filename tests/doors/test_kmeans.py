"""What a user sees of a fitted `KMeans`."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from versions import with_callbacks_only

from cprime import KMeans, bounds
from cprime.datasets import make_birch_grid, make_birch_random
from cprime.models import Isotropic
from cprime.theta import Theta

DATA = make_birch_random(8, 60, rng=3).data
WEIGHTS = np.random.default_rng(4).uniform(0.5, 2.0, len(DATA))
C = 8


@pytest.fixture(params=[1, 2, 5, None], ids=lambda c: f"c_prime={c}")
def fitted(request):
    km = KMeans(C, c_prime=request.param, random_state=0, n_init=3)
    return km.fit(DATA, sample_weight=WEIGHTS)


def test_agrees_with_scikit_learn_from_the_same_start():
    init = DATA[::60]
    ours = KMeans(C, init=init).fit(DATA, sample_weight=WEIGHTS)
    theirs = SklearnKMeans(C, init=init, n_init=1).fit(DATA, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)


def test_every_parameter_of_scikit_learn_is_there_with_its_default():
    theirs, ours = SklearnKMeans().get_params(), KMeans().get_params()
    assert {name: ours[name] for name in theirs} == theirs


def test_what_is_reported_belongs_together(fitted):
    assert fitted.free_energy_ == pytest.approx(
        fitted.free_energy(DATA, WEIGHTS), rel=1e-13
    )
    assert fitted.log_likelihood_ == pytest.approx(
        fitted.log_likelihood(DATA, WEIGHTS), rel=1e-13
    )
    assert fitted.gap_ == fitted.gap(DATA, WEIGHTS)
    assert fitted.inertia_ == -fitted.score(DATA, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(fitted.labels_, fitted.predict(DATA))
    own = fitted.transform(DATA)[np.arange(len(DATA)), fitted.labels_]
    assert fitted.inertia_ == pytest.approx(np.sum(WEIGHTS * own**2), rel=1e-12)


def test_kmeans_variance_and_free_energy_follow_from_inertia_even_when_cut_short():
    km = KMeans(C, random_state=0, max_iter=1).fit(DATA, sample_weight=WEIGHTS)
    assert not km.converged_
    W, D = WEIGHTS.sum(), DATA.shape[1]
    assert km.variance_ == pytest.approx(km.inertia_ / (D * W), rel=1e-14)
    closed_form = bounds.free_energy_of_quantization_error(km.inertia_, W, C, D)
    assert km.free_energy_ == pytest.approx(closed_form, rel=1e-13)


def test_posterior_is_that_of_the_mixture(fitted):
    q = fitted.predict_proba(DATA)
    np.testing.assert_allclose(q.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(q.argmax(axis=1), fitted.predict(DATA))
    odds = np.exp(-0.5 * fitted.transform(DATA) ** 2 / fitted.variance_)
    np.testing.assert_allclose(q, odds / odds.sum(axis=1, keepdims=True), atol=1e-13)


def test_truncated_posterior_has_hard_zeros_and_a_sparse_form(fitted):
    dense = fitted.predict_proba(DATA, c_prime=2)
    sparse = fitted.predict_proba(DATA, c_prime=2, sparse=True)
    assert (np.count_nonzero(dense, axis=1) <= 2).all()
    assert sparse.nnz == 2 * len(DATA)
    np.testing.assert_array_equal(sparse.toarray(), dense)


def test_sparse_rows_ask_how_the_posterior_should_come(fitted):
    X = sp.csr_array(DATA)
    with pytest.raises(ValueError, match="X is sparse: use sparse="):
        fitted.predict_proba(X)
    np.testing.assert_array_equal(
        fitted.predict_proba(X, sparse=False), fitted.predict_proba(DATA)
    )


def test_gap_per_row_and_cluster_average_to_the_gap(fitted):
    per_row = fitted.gap(DATA, per="row")
    per_cluster = fitted.gap(DATA, per="cluster")
    assert per_row.shape == (len(DATA),) and (per_row >= 0).all()
    assert per_row.mean() == pytest.approx(fitted.gap(DATA), rel=1e-12)
    sizes = np.bincount(fitted.predict(DATA), minlength=C)
    assert sizes @ per_cluster / len(DATA) == pytest.approx(per_row.mean(), rel=1e-12)


def test_information_criteria_take_likelihood_or_free_energy(fitted):
    n_parameters, N = C * 2 + 1, len(DATA)
    for bound, value in (
        ("likelihood", fitted.log_likelihood(DATA)),
        ("free_energy", fitted.free_energy(DATA)),
    ):
        aic = -2 * N * value + 2 * n_parameters
        bic = -2 * N * value + math.log(N) * n_parameters
        assert fitted.aic(DATA, bound=bound) == pytest.approx(aic, rel=1e-13)
        assert fitted.bic(DATA, bound=bound) == pytest.approx(bic, rel=1e-13)


def test_a_held_variance_is_not_a_parameter():
    free = KMeans(C, random_state=0).fit(DATA)
    held = KMeans(C, random_state=0, variance=free.variance_).fit(DATA)
    assert held.aic(DATA) == pytest.approx(free.aic(DATA) - 2.0)


def test_weights_count_as_rows_in_bic(fitted):
    twice = np.concatenate([DATA, DATA])
    two = np.full(len(DATA), 2.0)
    assert fitted.bic(DATA, sample_weight=two) == pytest.approx(fitted.bic(twice))


def test_samples_look_like_the_mixture(fitted):
    X, labels = fitted.sample(20_000, random_state=1)
    residual = X - fitted.cluster_centers_[labels]
    assert residual.var() == pytest.approx(fitted.variance_, rel=0.03)
    assert np.bincount(labels, minlength=C) == pytest.approx(20_000 / C, rel=0.1)
    again, _ = fitted.sample(20_000, random_state=1)
    np.testing.assert_array_equal(X, again)


def test_trace_is_a_table_from_the_start_to_the_last_iteration(fitted):
    frame = pd.DataFrame(fitted.trace_)
    assert {"iteration", "free_energy", "evaluations", "changed"} <= set(frame)
    assert {"variance", "seconds", "relocated"} <= set(frame)
    np.testing.assert_array_equal(frame.iteration, np.arange(fitted.n_iter_ + 1))
    assert (np.diff(frame.free_energy) >= -1e-12).all()
    assert fitted.evaluations_ > frame.evaluations.sum() > 0


def test_more_restarts_are_never_worse():
    for c_prime, best in (
        (1, lambda km: -km.inertia_),
        (2, lambda km: km.free_energy_),
    ):
        kept = [
            best(KMeans(C, c_prime=c_prime, n_init=n, random_state=5).fit(DATA))
            for n in (1, 3, 6)
        ]
        assert kept == sorted(kept)


def test_float32_stays_float32_outside():
    km = KMeans(C, random_state=0).fit(DATA.astype(np.float32))
    X = DATA.astype(np.float32)
    assert km.cluster_centers_.dtype == np.float32
    assert km.transform(X).dtype == np.float32
    assert km.predict_proba(X).dtype == np.float32
    assert km.sample(3)[0].dtype == np.float32
    assert isinstance(km.inertia_, float) and isinstance(km.free_energy_, float)
    np.testing.assert_array_equal(km.labels_, km.predict(X))
    assert km.inertia_ == -km.score(X)


# What scikit-learn before 1.9 asks for names, polars has no more.
polars_frame = pytest.param(pl.DataFrame, marks=with_callbacks_only)


@pytest.mark.parametrize("frame", [pd.DataFrame, polars_frame])
def test_frames_keep_their_names(frame):
    X = frame({"length": DATA[:, 0], "width": DATA[:, 1]})
    km = KMeans(C, random_state=0).fit(X)
    assert list(km.feature_names_in_) == ["length", "width"]
    np.testing.assert_array_equal(
        km.predict(X), KMeans(C, random_state=0).fit_predict(DATA)
    )
    out = km.set_output(transform="pandas").transform(X)
    assert list(out.columns) == [f"kmeans{c}" for c in range(C)]


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.coo_array])
def test_sparse_gives_the_same_bits_as_dense(container):
    X = DATA * (DATA > 12.0)
    dense, sparse = (KMeans(C, random_state=0).fit(x) for x in (X, container(X)))
    np.testing.assert_array_equal(dense.cluster_centers_, sparse.cluster_centers_)
    assert dense.free_energy_ == sparse.free_energy_


def test_works_where_scikit_learn_composes_and_routes_weights():
    with sklearn.config_context(enable_metadata_routing=True):
        km = KMeans(random_state=0).set_fit_request(sample_weight=True)
        km.set_score_request(sample_weight=True)
        search = GridSearchCV(km, {"n_clusters": [2, 8]}, cv=2)
        search.fit(DATA, sample_weight=WEIGHTS)
    assert search.best_params_ == {"n_clusters": 8}
    pipeline = make_pipeline(StandardScaler(), KMeans(C, random_state=0))
    assert set(pipeline.fit_predict(DATA)) == set(range(C))


def test_lazy_keeps_its_labels_as_state():
    km = KMeans(C, search="lazy", eps=0.3, random_state=0).fit(DATA)
    nearest = km.predict(DATA)
    distances = km.transform(DATA)
    kept = km.labels_ != nearest
    assert kept.any()
    own = distances[np.arange(len(DATA)), km.labels_]
    assert (own <= 1.3 * distances.min(axis=1) * (1 + 1e-12)).all()
    assert km.inertia_ == pytest.approx(np.sum(own**2), rel=1e-12)
    assert km.inertia_ > -km.score(DATA)


def test_the_gap_of_a_lazy_fit_is_that_of_the_labels_it_kept():
    km = KMeans(C, search="lazy", eps=3.0, random_state=0).fit(DATA)
    mixture = Isotropic().coefficients(Theta(km.cluster_centers_, km.variance_))
    kept = bounds.gap(DATA, mixture, K=km.labels_[:, None])
    assert km.gap_ == pytest.approx(kept, rel=1e-13)
    assert km.gap_ > km.gap(DATA)


def test_densities_follow_the_units_even_where_squares_must_be_rescaled():
    factor = 2.0**430
    here, there = (KMeans(C, random_state=0).fit(x) for x in (DATA, DATA * factor))
    shift = 2 * 430 * math.log(2.0)
    np.testing.assert_allclose(
        there.score_samples(DATA * factor), here.score_samples(DATA) - shift, rtol=1e-13
    )
    assert there.free_energy_ == pytest.approx(here.free_energy_ - shift, rel=1e-13)
    np.testing.assert_array_equal(there.labels_, here.labels_)


def test_evaluations_include_seeding():
    def evaluations(**options):
        return KMeans(C, random_state=0, max_iter=1, **options).fit(DATA).evaluations_

    # Four trials a seed, but for the first.
    for_seeds = len(DATA) * (1 + (C - 1) * 4)
    given = evaluations(init=DATA[:C], kernel="reference")
    assert evaluations(kernel="reference") == given + for_seeds
    given = evaluations(init=DATA[:C], kernel="native")
    assert given < evaluations(kernel="native") < given + for_seeds


def test_soft_kmeans_holds_the_variance():
    km = KMeans(C, c_prime=None, variance=2.0, random_state=0).fit(DATA)
    assert km.variance_ == 2.0
    assert (km.trace_["variance"] == 2.0).all()


def test_variance_init_is_where_the_trace_begins():
    km = KMeans(C, c_prime=3, variance_init=7.0, random_state=0).fit(DATA)
    assert km.trace_["variance"][0] == 7.0
    assert km.trace_["variance"][1] != 7.0


def test_hard_assignment_loses_little_on_the_grid_and_more_where_clusters_overlap():
    grid, overlapping = (
        KMeans(25, random_state=0, n_init=5).fit(make(rng=0).data)
        for make in (make_birch_grid, make_birch_random)
    )
    assert 0 < grid.gap_ < 0.03 < overlapping.gap_


def test_fewer_distinct_rows_than_clusters_warns_once_and_stays_finite():
    X = np.repeat([[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]], 4, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(3\)") as caught:
        km = KMeans(5, random_state=0).fit(X)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert km.inertia_ == 0.0
    assert math.isfinite(km.free_energy_) and math.isfinite(km.log_likelihood_)
    assert "floored" in str(caught[0].message)


def test_given_centers_need_no_restarts():
    with pytest.warns(RuntimeWarning, match="performing only one init") as caught:
        KMeans(C, init=DATA[:C], n_init=4).fit(DATA)
    assert caught[0].filename == __file__


def test_verbose_says_how_it_goes(capsys):
    KMeans(C, verbose=1, random_state=0).fit(DATA)
    printed = capsys.readouterr().out
    assert "Iteration 1, free energy -" in printed
    assert "Converged" in printed


def test_refitting_leaves_nothing_of_the_fit_before():
    km = KMeans(C, random_state=0).fit(DATA)
    km.set_params(n_clusters=3).fit(DATA[:50])
    assert km.labels_.shape == (50,) and km.cluster_centers_.shape == (3, 2)
    fresh = clone(km).fit(DATA[:50])
    assert set(vars(fresh)) == set(vars(km))
