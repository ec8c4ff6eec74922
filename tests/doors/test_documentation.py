"""What the documentation shows is what happens."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import cprime.estimators.kmeans

ROOT = Path(__file__).parent.parent.parent


def test_the_readme_example_prints_what_it_says():
    readme = (ROOT / "README.md").read_text()
    code, output = re.search(
        r"```python\n(.*?)```\n```\n(.*?)```", readme, re.S
    ).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == output


def test_the_docstring_example():
    result = doctest.testmod(cprime.estimators.kmeans)
    assert result.attempted >= 5 and result.failed == 0
