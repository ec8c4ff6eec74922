"""What is a mixture worth, once its parameters are paid for?

Functions of F, L, the entropy H of the posterior (all in nats per unit of weight), the
number of parameters p, the weight W of all rows and W_c of each cluster's. Lower is
better.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

# Differences of a criterion below this are no evidence.
NO_EVIDENCE = 10.0


class Scores(NamedTuple):
    """What criteria look at.

    Attributes
    ----------
    free_energy : float
        F with one cluster a row (C' = 1): the classification likelihood (Suppl. B).
    log_likelihood : float
    entropy : float
        Mean over rows of H(posterior).
    n_parameters : int
    weight : float
        Sum of the rows' weights.
    held_out : float, default=nan
        L of rows that were kept from the fit, if any were.
    discount : float, default=0.0
        Sum over clusters of log(W / W_c), times the correlations that are one's own.
    """

    free_energy: float
    log_likelihood: float
    entropy: float
    n_parameters: int
    weight: float
    held_out: float = math.nan
    discount: float = 0.0

    @property
    def price(self) -> float:
        """What the parameters cost: log W each (Schwarz 1978)."""
        return self.n_parameters * math.log(self.weight)


Criterion = Callable[[Scores], float]


def bic(scores: Scores) -> float:
    """Return -2 W L + p log W: how many Gaussians describe the density of the rows?"""
    return -2.0 * scores.weight * scores.log_likelihood + scores.price


def icl(scores: Scores) -> float:
    """Return -2 W (L - H) + p log W: how many groups can rows be assigned to?

    BIC that charges for ambiguous rows (Biernacki, Celeux & Govaert 2000).
    """
    clear = scores.log_likelihood - scores.entropy
    return -2.0 * scores.weight * clear + scores.price


def bic_free_energy(scores: Scores) -> float:
    """Return -2 W F + p log W with F at C' = 1, the paper's suggestion (section 6).

    L - H <= F <= L. Where a cluster is and how wide may be anything on the scale of all
    rows: log W for each number. A correlation is a number between -1 and 1, known from
    the cluster's own rows: log W_c (Laplace's approximation of the evidence).
    """
    price = scores.price - scores.discount
    return -2.0 * scores.weight * scores.free_energy + price


def held_out(scores: Scores) -> float:
    """Return -2 W times the mean log density of rows that no fit has seen."""
    return -2.0 * scores.weight * scores.held_out


CRITERIA: dict[str, Criterion] = {
    "bic_free_energy": bic_free_energy,
    "icl": icl,
    "bic": bic,
    "held_out": held_out,
}
