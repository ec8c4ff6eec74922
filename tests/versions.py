"""Tests of what older versions of scikit-learn do not have."""

from importlib.util import find_spec

import pytest

# They came with scikit-learn 1.9.
HAS_CALLBACKS = find_spec("sklearn.callback") is not None

with_callbacks_only = pytest.mark.skipif(
    not HAS_CALLBACKS, reason="scikit-learn before 1.9 has no callbacks"
)
