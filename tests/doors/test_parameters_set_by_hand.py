"""Clusters whose parameters were set by hand do what those of a fit do."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
import sklearn.mixture
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans

IRIS = load_iris().data
CENTERS = np.array([[5, 3, 1, 0], [6, 3, 4, 1], [7, 3, 6, 2]])
TYPES = ["full", "tied", "diag", "spherical", "isotropic"]
OF_CLUSTERS = ["predict", "transform", "score"]
OF_DENSITIES = ["predict_proba", "score_samples", "free_energy", "log_likelihood"]
OF_DENSITIES += ["gap", "bic", "aic"]

by_centers = pytest.mark.parametrize(
    "estimator",
    [
        KMeans(3),
        KMeans(3, c_prime=None),
        SoftKMeans(3),
        FuzzyKMeans(3),
        FuzzyKMeans(3, regularization="entropy"),
        FuzzyKMeans(3, regularization="quadratic"),
    ],
    ids=str,
)


def by_hand(estimator, **parameters):
    """Return an estimator that was never fitted, with these parameters."""
    fresh = type(estimator)(**estimator.get_params())
    for name, value in parameters.items():
        setattr(fresh, name, value)
    return fresh


def assert_same_answers(ours, fitted):
    for question in (*OF_CLUSTERS, *OF_DENSITIES):
        if hasattr(fitted, question):
            found, wanted = (getattr(of, question)(IRIS) for of in (ours, fitted))
            assert np.array_equal(found, wanted), question


@by_centers
@pytest.mark.parametrize("kind", ["list", "int64", "float32", "float64"])
def test_centres_alone_give_labels_distances_and_the_score(estimator, kind):
    given = CENTERS.tolist() if kind == "list" else CENTERS.astype(kind)
    ours = by_hand(estimator, cluster_centers_=given)
    # scikit-learn's transform needs no more either, its predict one thing of a fit.
    theirs = sklearn.cluster.KMeans(3)
    theirs.cluster_centers_, theirs._n_threads = CENTERS.astype(float), 1
    for X in (IRIS, sp.csr_array(IRIS)):
        assert np.array_equal(ours.predict(X), theirs.predict(X))
        assert np.allclose(ours.transform(X), theirs.transform(X))
        assert np.isclose(ours.score(X), theirs.score(X))


@pytest.mark.parametrize("scale", [1e-160, 1e-140, 1e100, 1e140])
def test_centres_of_any_size_give_labels_and_distances(scale):
    ours = by_hand(KMeans(3), cluster_centers_=scale * CENTERS)
    labels = by_hand(KMeans(3), cluster_centers_=CENTERS).predict(IRIS)
    assert np.array_equal(ours.predict(scale * IRIS), labels)
    assert by_hand(KMeans(1), cluster_centers_=[[0.0]]).transform([[1e120]]) == 1e120


@pytest.mark.parametrize("question", [*OF_DENSITIES, "sample", "partial_fit"])
@pytest.mark.parametrize("cls", [KMeans, SoftKMeans])
def test_what_needs_a_variance_says_so(cls, question):
    ours = by_hand(cls(3), cluster_centers_=CENTERS)
    if hasattr(ours, question):
        asked = getattr(ours, question)
        says = (
            f"This {cls.__name__} has no variance_, which is needed for .* or set it to"
        )
        with pytest.raises(NotFittedError, match=says):
            asked() if question == "sample" else asked(IRIS)


@by_centers
def test_centres_and_a_variance_do_what_a_fit_does(estimator):
    fitted = type(estimator)(**estimator.get_params()).fit(IRIS)
    names = ("cluster_centers_", "variance_", "lam_")
    known = {name: vars(fitted)[name] for name in names if hasattr(fitted, name)}
    assert_same_answers(by_hand(estimator, **known), fitted)


@pytest.mark.parametrize(
    "estimator",
    [
        KMeans(3, variance=0.3),
        SoftKMeans(3, stiffness=2.0),
        FuzzyKMeans(3, regularization="entropy", lam=0.5),
        FuzzyKMeans(3, regularization="quadratic", lam=0.5),
        FuzzyKMeans(3, m=1.5, c_prime=2),
    ],
    ids=str,
)
def test_a_variance_may_be_known_from_a_parameter(estimator):
    fitted = type(estimator)(**estimator.get_params()).fit(IRIS)
    ours = by_hand(estimator, cluster_centers_=fitted.cluster_centers_)
    assert_same_answers(ours, fitted)


@pytest.mark.parametrize("regularization", ["entropy", "quadratic"])
def test_memberships_that_need_a_lam_say_so(regularization):
    fuzzy = FuzzyKMeans(3, regularization=regularization)
    ours = by_hand(fuzzy, cluster_centers_=CENTERS)
    with pytest.raises(
        NotFittedError, match=r"no lam_, which is needed for .*memberships"
    ):
        ours.predict_proba(IRIS)


@pytest.mark.parametrize("covariance_type", TYPES)
@pytest.mark.parametrize(
    "given", ["covariances_", "precisions_", "precisions_cholesky_"]
)
def test_a_mixture_does_what_a_fit_does(covariance_type, given):
    mixture = GaussianMixture(3, covariance_type=covariance_type, random_state=0)
    fitted = GaussianMixture(**mixture.get_params()).fit(IRIS)
    names = ("weights_", "means_", given)
    ours = by_hand(mixture, **{name: getattr(fitted, name) for name in names})
    for question in ("predict", "score", *OF_DENSITIES):
        found, wanted = (getattr(of, question)(IRIS) for of in (ours, fitted))
        assert np.allclose(found, wanted, rtol=1e-9), question
    assert np.allclose(ours.sample(9)[0], fitted.sample(9)[0])
    theirs = ours.to_sklearn()
    assert np.array_equal(theirs.predict(IRIS), fitted.predict(IRIS))
    assert np.allclose(theirs.predict_proba(IRIS), fitted.predict_proba(IRIS))


def test_a_mixture_may_be_given_as_lists():
    ours = by_hand(
        GaussianMixture(3, covariance_type="diag"),
        weights_=[0.25, 0.25, 0.5],
        means_=CENTERS.tolist(),
        covariances_=np.ones((3, 4)).tolist(),
    )
    assert ours.predict(IRIS).shape == (150,)
    assert np.unique(ours.sample(50)[0]).size > 50
    assert np.array_equal(ours.to_sklearn().predict(IRIS), ours.predict(IRIS))


MIXTURE = {"weights_": np.ones(3) / 3, "means_": CENTERS, "covariances_": np.ones(3)}


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"weights_": None}, "has no weights_, which is needed for"),
        (
            {"covariances_": None},
            r"no covariances_, .* the shape \(3,\) of cov",
        ),
        ({"covariances_": np.eye(3)}, r"covariances_ has shape \(3, 3\), but means_"),
        ({"weights_": np.ones(2) / 2}, r"weights_ has shape \(2,\), but means_ of"),
        ({"weights_": np.array([1.0, 1.0, -1.0])}, "some weights are negative"),
        (
            {"covariances_": np.array([1.0, 0.0, 1.0])},
            "Some variances of this estimator are not positive",
        ),
        ({"means_": CENTERS + np.inf}, "means of this estimator hold NaN or inf"),
    ],
)
def test_what_a_mixture_lacks_is_named(parameters, says):
    known = {n: v for n, v in {**MIXTURE, **parameters}.items() if v is not None}
    ours = by_hand(GaussianMixture(3, covariance_type="spherical"), **known)
    with pytest.raises(ValueError, match=says):
        ours.predict(IRIS)


@pytest.mark.parametrize(
    ("centers", "says"),
    [
        (CENTERS[:, :2], "X has 4 features, but KMeans is expecting 2 features"),
        (CENTERS[0], r"have shape \(4,\): clusters by features are needed"),
        (CENTERS[:0], r"have shape \(0, 4\): clusters by features are needed"),
        (CENTERS * np.nan, "means of this estimator hold NaN or infinity"),
    ],
)
def test_centres_that_will_not_do_are_refused(centers, says):
    for variance in ({}, {"variance_": 1.0}):
        ours = by_hand(KMeans(3), cluster_centers_=centers, **variance)
        for question in OF_CLUSTERS:
            with pytest.raises(ValueError, match=says):
                getattr(ours, question)(IRIS)


def test_other_parameters_than_those_of_the_fit_are_what_counts():
    kmeans = KMeans(3, random_state=0).fit(IRIS)
    kmeans.cluster_centers_ = CENTERS
    assert np.array_equal(
        kmeans.predict(IRIS), by_hand(kmeans, cluster_centers_=CENTERS).predict(IRIS)
    )
