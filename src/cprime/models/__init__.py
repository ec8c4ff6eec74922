"""What is log p(y, c | Theta), and which Theta maximises the free energy?"""

from cprime.models.base import Model
from cprime.models.isotropic import Isotropic

__all__ = ["Isotropic", "Model"]
