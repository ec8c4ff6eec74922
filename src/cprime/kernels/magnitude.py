"""How large are values, before anything is computed with them?"""

import numpy as np

from cprime.kernels import _native
from cprime.kernels.native import readable
from cprime.typing import Array


def magnitude(values: Array) -> float:
    """Return the largest absolute value; inf or nan if there is one."""
    return _native.magnitude(np.ascontiguousarray(readable(values)))
