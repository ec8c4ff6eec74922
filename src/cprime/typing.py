"""Names for the array types that travel between the rooms."""

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
