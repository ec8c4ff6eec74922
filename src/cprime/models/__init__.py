"""What is log p(y, c | Theta), and which Theta maximises the free energy?"""

from cprime.models.base import Model
from cprime.models.diagonal import Diagonal
from cprime.models.distortion import Distortion
from cprime.models.full import Full
from cprime.models.isotropic import Isotropic
from cprime.models.spherical import Spherical
from cprime.models.tied import Tied

__all__ = [
    "Diagonal",
    "Distortion",
    "Full",
    "Isotropic",
    "Model",
    "Spherical",
    "Tied",
]
