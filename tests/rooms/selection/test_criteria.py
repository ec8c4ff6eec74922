"""What a mixture is worth, worked out by hand."""

import math

import pytest

from cprime.selection.criteria import Scores, bic, bic_free_energy, held_out, icl

SCORES = Scores(-3.5, -3.0, 0.75, 10, 100.0, -3.25)


def test_criteria_are_those_of_their_authors():
    price = 10 * math.log(100)
    assert bic(SCORES) == pytest.approx(600 + price)
    assert icl(SCORES) == pytest.approx(750 + price)
    assert bic_free_energy(SCORES) == pytest.approx(700 + price)
    assert held_out(SCORES) == pytest.approx(650)


def test_a_parameter_more_for_the_same_is_worse():
    more = SCORES._replace(n_parameters=11)
    for criterion in (bic, icl, bic_free_energy):
        assert criterion(more) > criterion(SCORES)


def test_correlations_are_priced_by_the_rows_that_they_describe():
    # 2 clusters, of 25 and 75 rows, in 3-D: 3 correlations each.
    local = SCORES._replace(discount=3 * (math.log(4) + math.log(4 / 3)))
    price = 10 * math.log(100) - 6 * math.log(100) + 3 * math.log(25 * 75)
    assert bic_free_energy(local) == pytest.approx(700 + price)
    for criterion in (bic, icl):
        assert criterion(local) == criterion(SCORES)
