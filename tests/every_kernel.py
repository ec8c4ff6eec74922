"""The kernels every law is held against: the specification and all others."""

import pytest
from hypothesis import strategies as st

from cprime.kernels import get_kernel

KERNELS = ["reference", "native"]

# For properties: which of them an example is about is part of the example.
kernel_names = st.sampled_from(KERNELS)


# Not once per test: then a property could not have examples of its own beside it.
@pytest.fixture(scope="module", params=KERNELS)
def kernel_name(request):
    return request.param


@pytest.fixture(scope="module")
def kernel(kernel_name):
    return get_kernel(kernel_name)
