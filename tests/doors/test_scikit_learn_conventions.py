"""Every convention scikit-learn checks is obeyed, without an expected failure."""

import numpy as np
import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks
from versions import HAS_CALLBACKS

from cprime import FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans

# The checks ask for one cluster now and then, so none of these keeps two per row.
SETTINGS = [
    KMeans(),
    KMeans(c_prime=None),
    KMeans(search="lazy"),
    KMeans(init="plain-k-means++"),
    KMeans(init="afk-mc2"),
    KMeans(init="random"),
    KMeans(variance=1.0, c_prime=None, n_clusters=3),
    SoftKMeans(),
    SoftKMeans(annealing=2.0, n_clusters=3),
    SoftKMeans(stiffness=0.5, c_prime=1, n_clusters=3),
    FuzzyKMeans(),
    FuzzyKMeans(m=1.2, c_prime=1, n_clusters=3),
    FuzzyKMeans(regularization="entropy"),
    FuzzyKMeans(regularization="quadratic"),
    FuzzyKMeans(regularization="quadratic", lam=1.0, n_clusters=3),
    GaussianMixture(),
    GaussianMixture(covariance_type="tied", equal_weights=True),
    GaussianMixture(covariance_type="diag", c_prime=1),
    GaussianMixture(covariance_type="spherical", init_params="random"),
    GaussianMixture(covariance_type="isotropic", init_params="k-means++", reg_covar=0),
    GaussianMixture(c_prime=1, search="lazy", init_params="random_from_data"),
]
TRANSFORMERS = [KMeans, SoftKMeans, FuzzyKMeans]
DOORS = [*TRANSFORMERS, GaussianMixture]
doors = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)

# scikit-learn runs these on its own estimators, but not in `check_estimator`.
LEFT_OUT_BY_DEFAULT = [
    "check_param_validation",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_get_feature_names_out_error",
    "check_dataframe_column_names_consistency",
    "check_inplace_ensure_writeable",
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(SETTINGS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@doors
def test_no_check_fails_and_none_is_expected_to(door):
    records = check_estimator(door(), on_fail=None)
    not_passed = {r["check_name"] for r in records if r["status"] != "passed"}
    # Skipped unless SCIPY_ARRAY_API is set: numpy arrays are the only kind we claim.
    assert not_passed <= {"check_array_api_input"}
    if HAS_CALLBACKS:
        # Older versions of scikit-learn have fewer checks.
        assert len(records) >= (48 if door is GaussianMixture else 59)


# The checks themselves fit on frames and transform arrays, and the other way round.
@pytest.mark.filterwarnings(
    "ignore:X (has|does not have valid) feature names:UserWarning"
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", LEFT_OUT_BY_DEFAULT)
@doors
def test_the_checks_left_out_by_default(door, name):
    if door not in TRANSFORMERS and ("transform" in name or "feature_names" in name):
        pytest.skip("about transformers")
    getattr(estimator_checks, name)(door.__name__, door())


def test_names_of_an_earlier_fit_are_forgotten():
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(20, 3))
    kmeans = KMeans(2, random_state=0).fit(pandas.DataFrame(X, columns=list("abc")))
    assert kmeans.feature_names_in_.tolist() == ["a", "b", "c"]
    kmeans.fit(X[:, :2].copy())
    assert kmeans.n_features_in_ == 2 and not hasattr(kmeans, "feature_names_in_")
