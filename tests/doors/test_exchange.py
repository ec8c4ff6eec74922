"""Fits go to scikit-learn and come back, and k-means can be gone on from."""

import pickle

import numpy as np
import pytest
import sklearn.cluster
import sklearn.mixture
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans

IRIS = load_iris().data
every_type = pytest.mark.parametrize(
    "covariance_type", ["full", "tied", "diag", "spherical", "isotropic"]
)


def fitted(covariance_type, **options):
    options = {"random_state": 0, "max_iter": 500, **options}
    return GaussianMixture(3, covariance_type=covariance_type, **options).fit(IRIS)


@every_type
def test_k_means_can_be_gone_on_from(covariance_type):
    kmeans = KMeans(3, random_state=0).fit(IRIS)
    mixture = GaussianMixture.from_kmeans(kmeans, covariance_type=covariance_type)
    with pytest.raises(NotFittedError):
        mixture.predict(IRIS)
    mixture.fit(IRIS)
    labels = kmeans.labels_
    if covariance_type == "diag":
        mixture.set_params(max_iter=0).fit(IRIS)
        found = np.array([IRIS[labels == c].var(axis=0) for c in range(3)])
        assert np.allclose(mixture.covariances_, found)
        assert np.allclose(mixture.weights_, np.bincount(labels) / len(IRIS))
    theirs = sklearn.cluster.KMeans(3, random_state=0).fit(IRIS)
    assert GaussianMixture.from_kmeans(theirs, c_prime=2).fit(IRIS).n_iter_ > 0


@every_type
def test_to_scikit_learn_and_back(covariance_type):
    ours = fitted(covariance_type, c_prime=2)
    theirs = ours.to_sklearn()
    assert type(theirs) is sklearn.mixture.GaussianMixture
    assert np.array_equal(theirs.predict(IRIS), ours.predict(IRIS))
    assert np.allclose(theirs.predict_proba(IRIS), ours.predict_proba(IRIS), atol=1e-9)
    assert np.allclose(theirs.score_samples(IRIS), ours.score_samples(IRIS))
    assert np.array_equal(
        pickle.loads(pickle.dumps(theirs)).predict(IRIS), ours.predict(IRIS)
    )
    clone(theirs).fit(IRIS)
    back = GaussianMixture.from_sklearn(theirs)
    assert np.array_equal(back.predict(IRIS), ours.predict(IRIS))
    assert back.gap(IRIS, c_prime=1) == pytest.approx(ours.gap(IRIS, c_prime=1))
    if covariance_type != "isotropic":
        assert back.bic(IRIS) == pytest.approx(ours.bic(IRIS))
    clone(back).fit(IRIS)


def test_k_means_to_scikit_learn_and_back():
    for c_prime in (1, None):
        ours = KMeans(3, random_state=0, c_prime=c_prime, init="afk-mc2").fit(IRIS)
        theirs = ours.to_sklearn()
        assert type(theirs) is sklearn.cluster.KMeans
        assert np.array_equal(theirs.predict(IRIS), ours.predict(IRIS))
        assert np.allclose(theirs.transform(IRIS), ours.transform(IRIS))
        assert theirs.score(IRIS) == pytest.approx(ours.score(IRIS))
        assert np.array_equal(
            theirs.get_feature_names_out(), [f"kmeans{i}" for i in range(3)]
        )
        clone(theirs).fit(IRIS)
    hard = KMeans(3, random_state=0).fit(IRIS)
    back = KMeans.from_sklearn(hard.to_sklearn())
    assert back.variance_ == pytest.approx(hard.variance_)
    assert back.bic(IRIS) == pytest.approx(hard.bic(IRIS))
    with pytest.raises(NotFittedError):
        KMeans().to_sklearn()
    with pytest.raises(NotFittedError):
        KMeans.from_sklearn(sklearn.cluster.KMeans())
    with pytest.raises(NotFittedError):
        GaussianMixture.from_sklearn(sklearn.mixture.GaussianMixture())


def test_soft_and_fuzzy_k_means_to_scikit_learn_and_back():
    soft = SoftKMeans(3, stiffness=2.0, random_state=0).fit(IRIS)
    mixture = soft.to_sklearn()
    assert type(mixture) is sklearn.mixture.GaussianMixture
    assert np.array_equal(mixture.predict(IRIS), soft.predict(IRIS))
    assert np.allclose(mixture.predict_proba(IRIS), soft.predict_proba(IRIS))
    assert np.allclose(mixture.score_samples(IRIS), soft.score_samples(IRIS))
    back = SoftKMeans.from_sklearn(mixture)
    assert back.stiffness == pytest.approx(2.0)
    assert np.allclose(back.predict_proba(IRIS), soft.predict_proba(IRIS))
    assert back.bic(IRIS) == pytest.approx(soft.bic(IRIS))
    clone(back).fit(IRIS)
    with pytest.raises(ValueError, match=r"GaussianMixture\.from_sklearn"):
        SoftKMeans.from_sklearn(fitted("full").to_sklearn())

    for options in ({}, {"regularization": "entropy"}, {"regularization": "quadratic"}):
        fuzzy = FuzzyKMeans(3, random_state=0, **options).fit(IRIS)
        kmeans = fuzzy.to_sklearn()
        assert type(kmeans) is sklearn.cluster.KMeans
        assert np.array_equal(kmeans.predict(IRIS), fuzzy.predict(IRIS))
        assert np.allclose(kmeans.transform(IRIS), fuzzy.transform(IRIS))
        back = FuzzyKMeans.from_sklearn(kmeans)
        assert np.array_equal(back.predict(IRIS), fuzzy.predict(IRIS))
        if not options:
            assert np.allclose(back.predict_proba(IRIS), fuzzy.predict_proba(IRIS))
        clone(back).fit(IRIS)


def test_another_kind_of_estimator_is_named():
    kmeans, mixture = KMeans(3).fit(IRIS), fitted("full")
    for give in (GaussianMixture.from_sklearn, SoftKMeans.from_sklearn):
        with pytest.raises(TypeError, match=r"GaussianMixture is needed.*not KMeans"):
            give(kmeans)
    for give in (
        GaussianMixture.from_kmeans,
        KMeans.from_sklearn,
        FuzzyKMeans.from_sklearn,
    ):
        with pytest.raises(TypeError, match=r"KMeans is needed.*not GaussianMixture"):
            give(mixture)


@pytest.fixture(params=["", "Faster"])
def patched(monkeypatch, request):
    """scikit-learn as a patch leaves it: subclasses, which cannot do without a fit."""

    def broken(plain):
        def predict(self, X):
            raise AttributeError(f"{plain.__name__} has no attribute '_accelerated'")

        return type(request.param + plain.__name__, (plain,), {"predict": predict})

    for module, name in (
        (sklearn.cluster, "KMeans"),
        (sklearn.mixture, "GaussianMixture"),
    ):
        monkeypatch.setattr(module, name, broken(getattr(module, name)))


@pytest.mark.parametrize("cls", [KMeans, FuzzyKMeans, SoftKMeans, GaussianMixture])
def test_what_goes_to_a_patched_scikit_learn_is_plain(patched, cls):
    ours = cls(3, random_state=0).fit(IRIS)
    theirs = ours.to_sklearn()
    assert type(theirs).__module__.startswith("sklearn.")
    assert np.array_equal(theirs.predict(IRIS), ours.predict(IRIS))


@pytest.mark.parametrize("is_patched", [True, False])
def test_fits_of_a_patched_scikit_learn_come_back(patched, is_patched):
    found = sklearn.cluster.KMeans, sklearn.mixture.GaussianMixture
    kmeans, mixture = (
        (of if is_patched else of.__base__)(3, random_state=0).fit(IRIS) for of in found
    )
    for ours in (KMeans.from_sklearn(kmeans), FuzzyKMeans.from_sklearn(kmeans)):
        assert np.array_equal(ours.predict(IRIS), kmeans.labels_)
    ours = GaussianMixture.from_sklearn(mixture)
    assert np.allclose(ours.predict_proba(IRIS), mixture.predict_proba(IRIS))
    assert GaussianMixture.from_kmeans(kmeans).means_init is kmeans.cluster_centers_


@pytest.mark.parametrize("put", [lambda *a, **k: None, type("KMeans", (), {})])
def test_what_stands_in_its_place_need_not_be_its_child(monkeypatch, put):
    ours = KMeans(3, random_state=0).fit(IRIS)
    monkeypatch.setattr(sklearn.cluster, "KMeans", put)
    assert np.array_equal(ours.to_sklearn().predict(IRIS), ours.predict(IRIS))
