"""`FuzzyKMeans` from the outside: three objectives, memberships, and hard zeros."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from test_soft_k_means import CENTRES, DEGENERATE, TRUTH, X

from cprime import FuzzyKMeans, KMeans

KINDS = {
    "fuzzy": {},
    "less fuzzy": {"m": 1.1},
    "entropy": {"regularization": "entropy"},
    "quadratic": {"regularization": "quadratic"},
}
OF_A_MIXTURE = {"variance_", "free_energy_", "log_likelihood_", "gap_"}
kinds = pytest.mark.parametrize("kind", KINDS)


def fitted(kind, n_clusters=9, rows=X, **options):
    options = {"random_state": 0, **KINDS[kind], **options}
    return FuzzyKMeans(n_clusters, **options).fit(rows)


def objective(fuzzy, u):
    """Return J as the documentation writes it."""
    d = np.sum((X[:, None] - fuzzy.cluster_centers_) ** 2, axis=2)
    if fuzzy.regularization is None:
        return np.sum(u**fuzzy.m * d)
    if fuzzy.regularization == "quadratic":
        return np.sum(u * d) + fuzzy.lam_ * np.sum(u**2)
    return np.sum(u * d) + fuzzy.lam_ * np.sum(u * np.log(np.where(u > 0, u, 1.0)))


@kinds
@pytest.mark.parametrize("c_prime", [None, 1, 3])
def test_a_fit_has_everything_it_promises(kernel_name, kind, c_prime):
    fuzzy = fitted(kind, c_prime=c_prime, kernel=kernel_name)
    assert adjusted_rand_score(TRUTH, fuzzy.labels_) == 1.0
    assert fuzzy.labels_.tolist() == fuzzy.predict(X).tolist()
    u = fuzzy.predict_proba(X)
    assert u.argmax(axis=1).tolist() == fuzzy.labels_.tolist()
    assert np.abs(u.sum(axis=1) - 1.0).max() <= 1e-12
    assert np.count_nonzero(u, axis=1).max() <= (c_prime or 9)
    assert fuzzy.objective_ == pytest.approx(objective(fuzzy, u), rel=1e-12)
    J = fuzzy.trace_["objective"]
    assert J[-1] == pytest.approx(fuzzy.objective_, rel=1e-3)
    assert np.all(np.diff(J) <= 1e-12 * np.abs(J[1:]))
    assert fuzzy.inertia_ == pytest.approx(-fuzzy.score(X))
    assert fuzzy.converged_ and fuzzy.n_iter_ == len(J) - 1
    assert fuzzy.evaluations_ >= (fuzzy.n_iter_ + 1) * 360 * 9
    named = {name for name in vars(fuzzy) if name in OF_A_MIXTURE}
    assert named == (OF_A_MIXTURE if kind == "entropy" else set())
    assert hasattr(fuzzy, "lam_") == (fuzzy.regularization is not None)
    # Only a mixture has a density to ask for.
    assert not hasattr(fuzzy, "score_samples")


@kinds
def test_memberships_can_be_had_of_other_numbers_of_clusters(kind):
    fuzzy = fitted(kind, c_prime=2)
    assert np.count_nonzero(fuzzy.predict_proba(X), axis=1).max() <= 2
    everything = fuzzy.predict_proba(X, c_prime=9)
    assert np.abs(everything.sum(axis=1) - 1.0).max() <= 1e-12
    if fuzzy.regularization is None and kind == "fuzzy":
        assert np.all(everything > 0.0)


@kinds
def test_sparse_memberships_are_the_dense_ones_without_zeros(kind):
    fuzzy = fitted(kind)
    dense, sparse = (fuzzy.predict_proba(X, sparse=s) for s in (False, True))
    assert sp.issparse(sparse)
    assert sparse.nnz == np.count_nonzero(dense)
    assert sparse.toarray().tobytes() == dense.tobytes()


def test_quadratic_memberships_are_sparse_by_themselves():
    fuzzy = fitted("quadratic", lam=20.0)
    members = np.count_nonzero(fuzzy.predict_proba(X), axis=1)
    assert members.min() == 1 and 1 < members.max() < 9


def test_lam_is_twice_the_variance_of_the_start():
    spread = np.sum((X - CENTRES[TRUTH]) ** 2) / X.size
    for kind in ("entropy", "quadratic"):
        assert fitted(kind, init=CENTRES).lam_ == pytest.approx(2 * spread)
        assert fitted(kind, lam=3.0).lam_ == 3.0


def test_the_best_restart_has_the_lowest_objective():
    for kind in KINDS:
        lam = None if kind == "fuzzy" else 2.0
        options = {"init": "random", "lam": lam}
        several = fitted(kind, n_init=5, **options)
        one = fitted(kind, n_init=1, **options)
        assert several.objective_ <= one.objective_ * (1 + 1e-12)


def test_an_empty_cluster_is_moved():
    far = np.vstack([CENTRES[:8], [[1e4, 1e4]]])
    for kind in ("fuzzy", "quadratic"):
        fuzzy = fitted(kind, init=far, c_prime=2, lam=2.0)
        assert fuzzy.n_relocations_ == 1
        assert adjusted_rand_score(TRUTH, fuzzy.labels_) == 1.0


@pytest.mark.parametrize("c_prime", [None, 3])
def test_towards_one_m_is_k_means(c_prime):
    kmeans = KMeans(9, init=CENTRES).fit(X)
    fuzzy = fitted("fuzzy", m=1.0 + 1e-6, init=CENTRES, c_prime=c_prime)
    np.testing.assert_allclose(fuzzy.cluster_centers_, kmeans.cluster_centers_)
    assert fuzzy.objective_ == pytest.approx(kmeans.inertia_)


@kinds
@pytest.mark.parametrize("exponent", [-500, 500])
def test_units_do_not_matter(kind, exponent):
    scale = 2.0**exponent
    here, there = fitted(kind), fitted(kind, rows=scale * X)
    assert (scale * here.cluster_centers_).tolist() == there.cluster_centers_.tolist()
    assert there.objective_ == here.objective_ * scale * scale
    u = here.predict_proba(X)
    np.testing.assert_allclose(there.predict_proba(scale * X), u, atol=1e-15)


def test_sparse_rows_and_float32_are_welcome():
    counts = np.random.default_rng(0).poisson(1.0, size=(100, 4)).astype(np.float32)
    for kind in KINDS:
        dense, sparse = (fitted(kind, 3, r) for r in (counts, sp.csr_array(counts)))
        assert dense.cluster_centers_.dtype == np.float32
        assert dense.cluster_centers_.tolist() == sparse.cluster_centers_.tolist()
        with pytest.raises(ValueError, match="use sparse=False"):
            sparse.predict_proba(sp.csr_array(counts))


# Clusters that coincide, or have a row each, come with a warning of ours and no other.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("c_prime", [None, 1, 2])
@kinds
def test_degenerate_data_give_finite_numbers(kernel_name, kind, name, c_prime):
    rows = DEGENERATE[name]
    fuzzy = fitted(kind, 3, rows, c_prime=c_prime, kernel=kernel_name)
    for value in vars(fuzzy).values():
        if isinstance(value, float | np.ndarray):
            assert np.isfinite(value).all()
    u = fuzzy.predict_proba(rows)
    assert np.isfinite(u).all()
    assert np.abs(u.sum(axis=1) - 1.0).max() <= 1e-12
    # A row on a centre belongs to it, or to all centres there are in that place.
    at_home = fuzzy.predict_proba(fuzzy.cluster_centers_)
    assert np.isfinite(at_home).all()


@pytest.mark.parametrize("m", [np.nextafter(1.0, 2.0), 1.0001, 1.5, 5.0, 30.0])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_fuzziness_gives_finite_numbers(m):
    fuzzy = fitted("fuzzy", m=m)
    assert np.isfinite(fuzzy.cluster_centers_).all()
    assert np.isfinite(fuzzy.predict_proba(X)).all()
    J = fuzzy.trace_["objective"]
    assert np.all(np.diff(J) <= 1e-12 * J[:-1])


@pytest.mark.parametrize("lam", [1e-200, 1e-9, 1e9, 1e200])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_regularisation_gives_finite_numbers(lam):
    for kind in ("entropy", "quadratic"):
        fuzzy = fitted(kind, lam=lam)
        assert np.isfinite(fuzzy.cluster_centers_).all()
        assert np.isfinite(fuzzy.predict_proba(X)).all()
        assert np.isfinite(fuzzy.trace_["objective"]).all()


WRONG = {
    "m": [1.0, 0.5, np.inf, "fuzzy"],
    "regularization": ["none", 1],
    "lam": [0.0, -1.0, np.inf, "much"],
    "c_prime": [0, 1.5],
}


@pytest.mark.parametrize(
    ("parameter", "value"),
    [(name, v) for name, values in WRONG.items() for v in values],
)
def test_a_wrong_parameter_is_named_with_its_value(parameter, value):
    with pytest.raises(ValueError, match=f"'{parameter}' parameter .* Got {value!r}"):
        FuzzyKMeans(3, **{parameter: value}).fit(X)


def test_messages_say_what_to_do():
    with pytest.raises(ValueError, match=r"m=40.0 is too fuzzy .* Give m <= 31.5"):
        FuzzyKMeans(9, m=40.0).fit(X)
    FuzzyKMeans(9, m=40.0, c_prime=2, random_state=0).fit(X)
    for lam in (1e-308, 1.7e308):
        with pytest.raises(ValueError, match=r"lam=1.* Give a"):
            fitted("quadratic", lam=lam)
    with pytest.raises(ValueError, match=r"lam=2e\+307 .* nearer to squared distances"):
        fitted("quadratic", lam=2e307)
    with pytest.raises(ValueError, match=r"c_prime=10 should be .* n_clusters=9"):
        fitted("fuzzy", c_prime=10)
    with pytest.raises(ValueError, match=r"c_prime=10 should be .* n_clusters=9"):
        fitted("fuzzy").predict_proba(X, c_prime=10)
    with pytest.raises(NotFittedError):
        FuzzyKMeans().predict_proba(X)


def test_so_fuzzy_that_clusters_coincide_is_said():
    with pytest.warns(ConvergenceWarning, match="so fuzzy that clusters coincide"):
        fitted("entropy", lam=1e6)


@kinds
def test_verbose_tells_the_objective(kind, capsys):
    fitted(kind, verbose=1, max_iter=2, tol=0.0)
    assert "Iteration 1, objective " in capsys.readouterr().out
