"""The same examples every time; with `make thorough`, many new ones."""

import os

from hypothesis import settings

# Examples are shared among the kernels.
settings.register_profile("laws", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("thorough", deadline=None, max_examples=600)
settings.load_profile(os.environ.get("CPRIME_EXAMPLES", "laws"))
