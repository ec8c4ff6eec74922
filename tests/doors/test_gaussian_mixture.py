"""What a user sees of `GaussianMixture`."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.mixture
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold

from cprime import GaussianMixture, KMeans

IRIS = load_iris().data
TYPES = ["full", "tied", "diag", "spherical"]
ALL_TYPES = [*TYPES, "isotropic"]

every_type = pytest.mark.parametrize("covariance_type", ALL_TYPES)
their_types = pytest.mark.parametrize("covariance_type", TYPES)


def fitted(covariance_type, X=IRIS, n_components=3, **options):
    options = {"random_state": 0, "max_iter": 500, **options}
    mixture = GaussianMixture(n_components, covariance_type=covariance_type, **options)
    return mixture.fit(X)


def start(covariance_type):
    """Return all three parameters to start from, as scikit-learn wants them."""
    means = IRIS[[10, 60, 110]]
    precisions = {
        "full": np.tile(np.eye(4) * 3.0, (3, 1, 1)),
        "tied": np.eye(4) * 3.0,
        "diag": np.full((3, 4), 3.0),
        "spherical": np.full(3, 3.0),
    }[covariance_type]
    return {
        "means_init": means,
        "weights_init": np.array([0.2, 0.3, 0.5]),
        "precisions_init": precisions,
    }


@their_types
@pytest.mark.parametrize("kernel", ["reference", "native"])
def test_iterates_are_those_of_scikit_learn(covariance_type, kernel):
    for n_iter in (1, 2, 5, 20):
        options = {
            "covariance_type": covariance_type,
            "reg_covar": 0,
            "tol": 0,
            "max_iter": n_iter,
            **start(covariance_type),
        }
        with pytest.warns(ConvergenceWarning):
            theirs = sklearn.mixture.GaussianMixture(3, **options).fit(IRIS)
        with pytest.warns(ConvergenceWarning):
            ours = GaussianMixture(3, kernel=kernel, **options).fit(IRIS)
        for name in ("means_", "weights_", "covariances_", "precisions_cholesky_"):
            assert np.allclose(
                getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-9
            ), name
        assert np.isclose(ours.score(IRIS), theirs.score(IRIS), rtol=1e-9)


@their_types
@pytest.mark.parametrize("seed", range(10))
def test_as_many_iterations_as_in_scikit_learn(covariance_type, seed):
    rng = np.random.default_rng(seed)
    centers = 2.0 * rng.normal(size=(4, 3))
    X = np.concatenate([center + rng.normal(size=(60, 3)) for center in centers])
    precisions = {
        "full": np.tile(np.eye(3), (4, 1, 1)),
        "tied": np.eye(3),
        "diag": np.ones((4, 3)),
        "spherical": np.ones(4),
    }[covariance_type]
    options = {
        "covariance_type": covariance_type,
        "means_init": X[rng.choice(len(X), 4, replace=False)],
        "weights_init": np.full(4, 0.25),
        "precisions_init": precisions,
    }
    theirs = sklearn.mixture.GaussianMixture(4, **options).fit(X)
    ours = GaussianMixture(4, **options).fit(X)
    assert ours.n_iter_ == theirs.n_iter_
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@their_types
def test_warm_starts_end_when_scikit_learns_do(covariance_type):
    options = {
        "covariance_type": covariance_type,
        "max_iter": 1,
        "warm_start": True,
        **start(covariance_type),
    }
    theirs = sklearn.mixture.GaussianMixture(3, **options)
    ours = GaussianMixture(3, **options)
    far = GaussianMixture(3, **options).set_params(
        means_init=2.0**500 * options["means_init"],
        precisions_init=2.0**-1000 * options["precisions_init"],
    )
    ended = []
    for mixture, X in ((theirs, IRIS), (ours, IRIS), (far, 2.0**500 * IRIS)):
        n_fits = 0
        while n_fits == 0 or not mixture.converged_:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                mixture.fit(X)
            n_fits += 1
            assert n_fits < 100
        ended.append(n_fits)
    assert ended[0] > 2
    assert ended == [ended[0]] * 3


@every_type
def test_it_ends_where_nothing_is_to_be_gained(covariance_type):
    for c_prime in (None, 1, 2):
        mixture = fitted(covariance_type, c_prime=c_prime, tol=1e-9)
        assert mixture.converged_
        again = clone(mixture).set_params(warm_start=True)
        vars(again).update({k: v for k, v in vars(mixture).items() if k.endswith("_")})
        before = mixture.free_energy_
        assert abs(again.fit(IRIS).free_energy_ - before) < 1e-7


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@every_type
def test_a_warm_start_goes_on(covariance_type):
    whole = fitted(covariance_type, tol=1e-8)
    parts = GaussianMixture(
        3, covariance_type=covariance_type, random_state=0, max_iter=2, tol=1e-8
    )
    parts.set_params(warm_start=True)
    for _ in range(300):
        if parts.fit(IRIS).converged_:
            break
    assert np.allclose(parts.means_, whole.means_, atol=1e-3)


@every_type
def test_truncation_loses_what_the_gap_says(covariance_type):
    mixture = fitted(covariance_type, c_prime=1)
    assert mixture.free_energy_ == pytest.approx(
        mixture.log_likelihood_ - mixture.gap_, abs=1e-12
    )
    assert mixture.free_energy_ == pytest.approx(mixture.free_energy(IRIS), abs=1e-9)
    assert mixture.log_likelihood_ == pytest.approx(mixture.score(IRIS), abs=1e-9)
    assert mixture.gap(IRIS, c_prime=None) == pytest.approx(0.0, abs=1e-12)
    assert fitted(covariance_type).gap_ == pytest.approx(0.0, abs=1e-12)


def test_posteriors_come_dense_or_sparse():
    mixture = fitted("full", c_prime=2)
    dense = mixture.predict_proba(IRIS)
    assert np.allclose(dense.sum(axis=1), 1.0)
    stored = mixture.predict_proba(IRIS, c_prime=2, sparse=True)
    assert sp.issparse(stored) and stored.nnz == 2 * len(IRIS)
    assert np.array_equal(stored.toarray(), mixture.predict_proba(IRIS, c_prime=2))
    assert np.array_equal(dense.argmax(axis=1), mixture.predict(IRIS))


def test_float32_stays_float32():
    for covariance_type in TYPES:
        mixture = fitted(covariance_type, IRIS.astype(np.float32))
        exact = fitted(covariance_type)
        for name in ("means_", "weights_", "covariances_", "precisions_"):
            found = getattr(mixture, name)
            assert found.dtype == np.float32, name
            assert np.allclose(found, getattr(exact, name), rtol=2e-2, atol=2e-2)
        assert mixture.predict_proba(IRIS.astype(np.float32)).dtype == np.float32


@every_type
def test_weights_of_rows_are_repetitions(covariance_type):
    times = np.arange(len(IRIS)) % 3
    means = KMeans(3, random_state=0).fit(IRIS).cluster_centers_
    weighted = GaussianMixture(
        3, covariance_type=covariance_type, means_init=means, max_iter=500
    )
    weighted.fit(IRIS, sample_weight=times)
    repeated = clone(weighted).fit(np.repeat(IRIS, times, axis=0))
    assert np.allclose(weighted.means_, repeated.means_, atol=1e-9)
    assert np.allclose(weighted.covariances_, repeated.covariances_, atol=1e-9)
    assert weighted.free_energy_ == pytest.approx(repeated.free_energy_, abs=1e-9)
    assert weighted.bic(IRIS, sample_weight=times) == pytest.approx(
        repeated.bic(np.repeat(IRIS, times, axis=0))
    )


def test_equal_weights_stay_equal():
    mixture = fitted("full", equal_weights=True)
    assert np.array_equal(mixture.weights_, np.full(3, 1 / 3))
    free = fitted("full")
    assert free.log_likelihood_ > mixture.log_likelihood_
    assert free._n_parameters() - mixture._n_parameters() == 2


def test_lazy_rows_move_only_for_much():
    means = IRIS[[10, 60, 110]]
    options = {"c_prime": 1, "means_init": means, "tol": 1e-12}
    exact = fitted("diag", **options)
    barely = fitted("diag", search="lazy", eps=0, **options)
    assert np.array_equal(barely.means_, exact.means_)
    never = fitted("diag", search="lazy", eps=1e9, **options)
    with pytest.warns(ConvergenceWarning):
        once = fitted("diag", **options, max_iter=1)
    assert np.allclose(never.means_, once.means_)
    assert not np.allclose(never.means_, exact.means_)
    with pytest.raises(ValueError, match=r"search='lazy' .*below .* 3, not None"):
        fitted("diag", search="lazy")


@their_types
def test_samples_look_like_the_mixture(covariance_type):
    mixture = fitted(covariance_type)
    X, labels = mixture.sample(40000)
    for c in range(3):
        rows = X[labels == c]
        assert np.allclose(rows.mean(axis=0), mixture.means_[c], atol=0.05)
    assert np.allclose(np.bincount(labels) / 40000, mixture.weights_, atol=0.02)
    assert mixture.score(X) == pytest.approx(mixture.to_sklearn().score(X), rel=1e-9)


def test_the_best_of_several_starts_is_kept():
    several = GaussianMixture(
        5,
        covariance_type="tied",
        n_init=6,
        init_params="random_from_data",
        random_state=0,
    )
    several.fit(IRIS)
    # Restarts take from one stream what single fits take from it one after the other.
    stream = np.random.RandomState(0)
    singles = [
        clone(several).set_params(n_init=1, random_state=stream) for _ in range(6)
    ]
    values = [single.fit(IRIS).free_energy_ for single in singles]
    assert several.free_energy_ == max(values) > min(values)
    assert len(several.lower_bounds_) == several.n_iter_


def test_model_selection_works_on_it():
    search = GridSearchCV(
        GaussianMixture(random_state=0),
        {"n_components": [1, 2, 3], "covariance_type": ALL_TYPES},
        cv=KFold(3, shuffle=True, random_state=0),
    )
    assert search.fit(IRIS).best_params_["n_components"] > 1


def test_errors_name_what_is_wrong():
    for options, text in (
        ({"c_prime": 9}, r"c_prime=9 should be.*n_components=3"),
        ({"means_init": [[0.0]]}, r"'means' should have the shape of \(3, 4\)"),
        ({"weights_init": [0.5, 0.5, 0.5]}, r"'weights' should be normalized"),
        ({"precisions_init": np.zeros((3, 4))}, r"should have the shape|positive"),
        ({"covariance_type": "round"}, r"covariance_type"),
        ({"reg_covar": -1.0}, r"reg_covar"),
    ):
        with pytest.raises(ValueError, match=text):
            GaussianMixture(3, **options).fit(IRIS)
    with pytest.raises(ValueError, match="n_components = 3, n_samples = 2"):
        GaussianMixture(3).fit(IRIS[:2])
    with pytest.raises(TypeError, match="dense"):
        GaussianMixture(3).fit(sp.csr_array(IRIS))


def test_a_warm_start_cannot_change_what_it_goes_on_from():
    for change in (
        {"n_components": 5},
        {"n_components": 1},
        {"covariance_type": "diag"},
    ):
        mixture = fitted("full", warm_start=True)
        before = mixture.means_
        mixture.set_params(**change)
        with pytest.raises(ValueError, match=r"has 3 clusters with 'full'.*warm_start"):
            mixture.fit(IRIS)
        assert mixture.means_ is before
        # What was fitted stays what it was.
        assert np.array_equal(mixture.predict(IRIS), fitted("full").predict(IRIS))
    with pytest.raises(ValueError, match=r"4 features.*covariances of 3:"):
        fitted("full", warm_start=True).fit(IRIS[:, :3])


def test_progress_is_printed_at_intervals(capsys):
    fitted("full", verbose=1, verbose_interval=5)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Restart 1 of 1"
    assert [line.split(",")[0] for line in lines[1:4]] == [
        "Iteration 0",
        "Iteration 5",
        "Iteration 10",
    ]
    assert lines[-1].startswith("Converged at this iteration: free energy gained")
    assert not any("rows changed" in line for line in lines)


def test_the_last_lower_bound_is_the_lower_bound():
    mixture = fitted("diag")
    assert mixture.lower_bounds_[-1] == mixture.lower_bound_ == mixture.free_energy_
    assert np.all(np.diff(mixture.lower_bounds_) >= -1e-12)
    assert fitted("diag", max_iter=0).lower_bounds_ == []


def test_samples_take_no_more_memory_than_they_are():
    X = np.random.default_rng(0).normal(size=(400, 100))
    mixture = GaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
    tracemalloc.start()
    drawn, _ = mixture.sample(20000)
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert highest < 4 * drawn.nbytes


@every_type
def test_a_fit_starts_from_the_parameters_of_another(covariance_type, tmp_path):
    before = fitted(covariance_type)
    mixture = GaussianMixture(
        3,
        covariance_type=covariance_type,
        means_init=before.means_,
        weights_init=before.weights_,
        precisions_init=before.precisions_,
    )
    assert mixture.fit(IRIS).free_energy_ >= before.free_energy_ - 1e-9
    assert mixture.n_iter_ <= 2
    mixture.save(tmp_path / "model.cprime")
    loaded = GaussianMixture.load(tmp_path / "model.cprime")
    assert np.array_equal(loaded.precisions_init, before.precisions_)


@pytest.mark.parametrize("number", [2, 0.5, np.float32(0.5), np.array(0.5)])
def test_one_precision_may_be_any_number(number):
    options = {"covariance_type": "isotropic", "max_iter": 0}
    mixture = GaussianMixture(3, precisions_init=number, **options).fit(IRIS)
    assert mixture.precisions_ == number


@pytest.mark.parametrize(
    ("covariance_type", "number", "says"),
    [
        ("isotropic", 0.0, "'isotropic precision' should be positive"),
        ("isotropic", -1.0, "'isotropic precision' should be positive"),
        ("isotropic", np.nan, "'precisions_init' parameter"),
        ("isotropic", np.inf, "'precisions_init' parameter"),
        ("full", 2.0, r"'full precision' should have the shape of \(3, 4, 4\)"),
        ("spherical", 2.0, r"'spherical precision' should have the shape of \(3,\)"),
    ],
)
def test_a_precision_that_will_not_do_is_refused(covariance_type, number, says):
    with pytest.raises(ValueError, match=says):
        fitted(covariance_type, precisions_init=number)


@their_types
def test_labels_are_of_the_type_scikit_learn_gives(covariance_type):
    theirs = sklearn.mixture.GaussianMixture(3, covariance_type=covariance_type)
    ours = GaussianMixture(3, covariance_type=covariance_type)
    assert ours.fit_predict(IRIS).dtype == theirs.fit_predict(IRIS).dtype == np.int64
    assert ours.predict(IRIS).dtype == theirs.predict(IRIS).dtype
    assert ours.predict(sp.csr_array(IRIS)).dtype == np.int64
    assert ours.sample(9)[1].dtype == theirs.sample(9)[1].dtype
