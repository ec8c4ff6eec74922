"""The classification likelihood of CEM is F at C' = 1 (Supplement B)."""

import math

import numpy as np
import paper
from hypothesis import given
from hypothesis import strategies as st
from problems import cases, labellings, variances
from scipy.stats import multivariate_normal

from cprime import KMeans, bounds
from cprime.models import Isotropic
from cprime.theta import Theta


def classification_likelihood(X, weights, means, variance, labels):
    """Return 1/N sum_n sum_c s_nc log(1/C N(y_n; mu_c, sigma^2 I))."""
    log_densities = [
        math.log(1 / len(means)) + multivariate_normal.logpdf(y, means[label], variance)
        for y, label in zip(X, labels)
    ]
    return paper.mean(np.array(log_densities), weights)


@given(data=st.data(), case=cases(max_rows=10), variance=variances)
def test_they_are_equal_for_the_closest_clusters_and_for_any_others(
    data, case, variance
):
    coefficients = Isotropic().coefficients(Theta(case.means, variance))
    closest = paper.squared_distances(case.X, case.means).argmin(axis=1)
    others = data.draw(labellings(case))
    for labels, K in ((closest, None), (others[:, 0], others)):
        F = bounds.free_energy(case.rows, coefficients, K=K, kernel=case.kernel)
        CML = classification_likelihood(
            case.X, case.weights, case.means, variance, labels
        )
        assert math.isclose(F, CML, abs_tol=paper.rounding(CML))


@given(case=cases(gridded=False, spare=3))
def test_a_fit_of_k_means_reports_it(case):
    kmeans = KMeans(case.C, init=case.means, kernel=case.kernel_name)
    kmeans.fit(case.rows.X, sample_weight=case.weights)
    CML = classification_likelihood(
        case.X,
        case.weights,
        kmeans.cluster_centers_.astype(np.float64),
        kmeans.variance_,
        kmeans.labels_,
    )
    assert math.isclose(kmeans.free_energy_, CML, abs_tol=paper.rounding(CML))


# Celeux and Govaert: to maximise it is to minimise the quantization error.
@given(data=st.data(), case=cases(scattered=False), variance=variances)
def test_of_two_labellings_the_one_with_less_quantization_error_has_more(
    data, case, variance
):
    coefficients = Isotropic().coefficients(Theta(case.means, variance))
    distances = paper.squared_distances(case.X, case.means)
    (F_one, J_one), (F_other, J_other) = (
        (
            bounds.free_energy(case.rows, coefficients, K=K, kernel=case.kernel),
            np.sum(case.weights * np.take_along_axis(distances, K, axis=1)[:, 0]),
        )
        for K in (data.draw(labellings(case)), data.draw(labellings(case)))
    )
    rises = F_other > F_one + paper.rounding(F_one, F_other)
    # On the grid J is exact: it differs visibly or not at all.
    assert rises == (J_other < J_one)
