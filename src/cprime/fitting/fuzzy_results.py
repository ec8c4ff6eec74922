"""What a fit puts on a `FuzzyKMeans`."""

from dataclasses import dataclass

from cprime import em
from cprime.fitting.results import Attributes, CentersResults, ClustersResults
from cprime.theta import Theta


@dataclass(frozen=True)
class FuzzyResults(CentersResults):
    """The results of memberships by a rule: J is what rows pay in all.

    Attributes
    ----------
    weight : float
        The total weight W of the rows.
    lam : float
        Of the quadratic regularisation, or 0: what a row of one cluster pays besides.
    """

    weight: float
    lam: float

    def measured(self, free_energy: float) -> Attributes:
        return {"objective": self.units.sum_out(self._J(free_energy))}

    def named(self, theta: Theta) -> Attributes:
        attributes = super().named(theta)
        attributes["_spread"] = self.units.variance_out(theta.covariance)
        if self.lam > 0.0:
            attributes["lam_"] = self.units.variance_out(self.lam)
        return attributes

    def ended(self, fit: em.Fit) -> Attributes:
        J = self.units.objective_out(self._J(fit.free_energy), "objective_")
        return {**super().ended(fit), "objective_": J}

    def _J(self, free_energy: float) -> float:
        return self.weight * (self.lam - free_energy)


@dataclass(frozen=True)
class EntropicResults(ClustersResults):
    """The results of memberships with entropy, which is that of a mixture.

    F = bias - J / (lam W), with bias the log-joint of a row and its cluster's centre.

    Attributes
    ----------
    weight : float
        The total weight W of the rows.
    lam : float
    bias : float
    """

    weight: float
    lam: float
    bias: float

    def measured(self, free_energy: float) -> Attributes:
        J = self.lam * self.weight * (self.bias - free_energy)
        return {"objective": self.units.sum_out(J), **super().measured(free_energy)}

    def named(self, theta: Theta) -> Attributes:
        return {**super().named(theta), "lam_": self.units.variance_out(self.lam)}

    def ended(self, fit: em.Fit) -> Attributes:
        J = fit.stats.scatter - self.lam * fit.stats.entropy
        objective = self.units.objective_out(J, "objective_")
        return {**super().ended(fit), "objective_": objective}
