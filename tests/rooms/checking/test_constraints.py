"""Parameters that were checked are not checked again; others always are."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.utils import _param_validation

from cprime import GaussianMixture, KMeans
from cprime.checking import constraints

X = np.random.default_rng(0).normal(size=(30, 2))


@pytest.fixture
def checks(monkeypatch):
    """Count what scikit-learn is asked."""
    asked = []

    def counted(*args, **kwargs):
        asked.append(args)
        return _param_validation.validate_parameter_constraints(*args, **kwargs)

    monkeypatch.setattr(constraints, "validate_parameter_constraints", counted)
    constraints._check.cache_clear()
    return asked


@pytest.mark.parametrize("of", [KMeans, GaussianMixture])
def test_the_same_parameters_are_checked_once(checks, of):
    for _ in range(3):
        of(2, random_state=0)._validate_params()
    assert len(checks) == 1


def test_equal_values_of_other_types_are_checked(checks):
    KMeans(1)._validate_params()
    with pytest.raises(ValueError, match="'n_clusters' parameter of KMeans"):
        KMeans(1.0).fit(X)
    KMeans(True)._validate_params()
    assert len(checks) == 3


def test_what_was_refused_is_refused_again(checks):
    kmeans = KMeans(0)
    for _ in range(2):
        with pytest.raises(ValueError, match="'n_clusters' parameter of KMeans"):
            kmeans.fit(X)
    assert len(checks) == 2


def test_values_that_may_change_are_left_to_scikit_learn(checks):
    KMeans(2, init=X[:2])._validate_params()
    KMeans(2, random_state=np.random.RandomState(0))._validate_params()
    assert not checks


def test_a_subclass_has_constraints_of_its_own(checks):
    class Stricter(KMeans):
        _parameter_constraints: ClassVar = {
            **KMeans._parameter_constraints,
            "n_clusters": [_param_validation.Options(int, {7})],
        }

    KMeans(2)._validate_params()
    with pytest.raises(ValueError, match="'n_clusters' parameter of Stricter"):
        Stricter(2)._validate_params()
