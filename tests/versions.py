"""Tests of what older versions of scikit-learn do not have."""

import pytest
import sklearn
from sklearn.utils import parse_version

HAS_CALLBACKS = parse_version(sklearn.__version__) >= parse_version("1.9")

with_callbacks_only = pytest.mark.skipif(
    not HAS_CALLBACKS, reason="scikit-learn before 1.9 has no callbacks"
)
