"""The same examples every time: few in `make check`, many new in `make thorough`."""

import os

from hypothesis import settings

# Examples are shared among the kernels.
settings.register_profile("laws", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("few", derandomize=True, deadline=None, max_examples=15)
settings.register_profile("thorough", deadline=None, max_examples=600)
settings.load_profile(os.environ.get("CPRIME_EXAMPLES", "laws"))
