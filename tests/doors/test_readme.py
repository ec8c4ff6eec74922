"""The README can be followed line by line: here with the environment at hand."""

import sys
from pathlib import Path

import pytest
from follow_readme import ROOT, Follower

TEXT = (ROOT / "README.md").read_text()


@pytest.fixture
def follower(tmp_path):
    return Follower(Path(sys.executable).parent, ROOT, tmp_path)


def test_all_but_the_installation_prints_what_it_says(follower):
    assert follower.follow(TEXT, skip=("sh",)) >= 3
    assert follower.wrong == []


@pytest.mark.parametrize(
    "block",
    [
        "```python\nprint(6 * 7)\n```\n```\n41\n```\n",
        "```python\nraise SystemExit(3)\n```\n",
        "```console\n$ echo a\na\n$ echo b\nc\n```\n",
        "```diff\n-import os\n+import no_such_module_anywhere\n```\n",
        "```sh\nfalse\n```\n",
    ],
)
def test_what_is_wrong_is_noticed(follower, block):
    assert follower.follow(block) == 1
    assert len(follower.wrong) == 1


def test_what_is_right_is_not(follower):
    right = (
        "```python\nprint(6 * 7)\n```\n```\n42\n```\n"
        "```console\n$ echo a; echo\na\n\n$ echo done in 3.2 s\ndone in 9 ms\n```\n"
    )
    assert follower.follow(right) == 2
    assert follower.wrong == []
