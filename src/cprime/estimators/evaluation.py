"""What is evaluated, and where do results go?"""

from dataclasses import dataclass
from typing import Any

from cprime.blocks import Elsewhere
from cprime.checking.units import Units
from cprime.kernels import Kernel
from cprime.rows import Rows
from cprime.theta import Coefficients


@dataclass(frozen=True)
class Evaluation:
    """Rows and a mixture, in common units, ready to be evaluated.

    Attributes
    ----------
    X : ndarray, CSR matrix, Data, DaskData or Elsewhere
        The rows as they were checked, in a user's units.
    rows : Rows
    coefficients : Coefficients
    kernel : Kernel
    units : Units
    """

    X: Any
    rows: Rows
    coefficients: Coefficients
    kernel: Kernel
    units: Units

    @property
    def C(self) -> int:
        return len(self.coefficients.means)

    @property
    def dtype(self) -> Any:
        return self.X.dtype

    def beside_rows(self, found: Any) -> Any:
        """Return what was found as a user gets it: where the rows are."""
        return self.X.beside(found) if isinstance(self.X, Elsewhere) else found
