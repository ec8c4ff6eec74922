"""The kernels every law is held against: the specification and all others."""

import os

import pytest
from hypothesis import strategies as st

from cprime.kernels import get_kernel

# A GPU, or Triton's interpreter in its place, is not everywhere: `make test-gpu` asks.
KERNELS = os.environ.get("CPRIME_KERNELS", "reference native").split()

# For properties: which of them an example is about is part of the example.
kernel_names = st.sampled_from(KERNELS)


# Not once per test: then a property could not have examples of its own beside it.
@pytest.fixture(scope="module", params=KERNELS)
def kernel_name(request):
    return request.param


@pytest.fixture(scope="module")
def kernel(kernel_name):
    return get_kernel(kernel_name)
