"""A function is known again in another process, and never taken for another one."""

import functools
import json
import logging
import operator
import os
import random
import subprocess
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import kmeans_plusplus

from cprime.checkpointing import functions

# Every block of it is one version of `f`; all of them differ.
VERSIONS = [
    "def f(X): return X[1]",
    "def f(X): return X[True]",
    "def f(X): return X[1.0]",
    "def f(X): return X * 0.0",
    "def f(X): return X * -0.0",
    "def f(X): return X.min()",
    "def f(X): return X.max()",
    "def f(X, n=1): return X[n]",
    "def f(X, n=2): return X[n]",
    "def f(X, *, n=1): return X[n]",
    "def f(X, *, n=2): return X[n]",
    "f = lambda X: X[1]",
    "f = lambda X: X[2]",
    "f = lambda X: [x + 1 for x in X]",
    "f = lambda X: [x + 2 for x in X]",
    "f = lambda X: (lambda y: y + 1)(X)",
    "f = lambda X: (lambda y: y + 2)(X)",
    "f = lambda X: X in {'a', 'b', 'c'}",
    "f = lambda X: X in {'a', 'b', 'd'}",
    "f = lambda X: X[1:2]",
    "f = lambda X: X[1:3]",
    "n = 1\nf = lambda X: X[n]",
    "n = 2\nf = lambda X: X[n]",
    "n = [1, 'a', b'a', 2.5, 1j, None, ..., range(3), slice(1)]\nf = lambda X: X[n]",
    "n = [1, 'a', b'a', 2.5, 2j, None, ..., range(3), slice(1)]\nf = lambda X: X[n]",
    "n = {'a': {'b': 1}}\nf = lambda X: X[n]",
    "n = {'a': {'b': 2}}\nf = lambda X: X[n]",
    "n = {'a', 'b', 'c'}\nf = lambda X: X[n]",
    "n = {'a', 'b', 'd'}\nf = lambda X: X[n]",
    "n = np.arange(3)\nf = lambda X: X[n]",
    "n = np.arange(3)[::-1]\nf = lambda X: X[n]",
    "n = np.arange(3.0)\nf = lambda X: X[n]",
    "n = np.arange(3).reshape(3, 1)\nf = lambda X: X[n]",
    "n = np.float32(1)\nf = lambda X: X[n]",
    "n = np.float64(1)\nf = lambda X: X[n]",
    "n = np.array(['2001-01-01'], dtype='M8[D]')\nf = lambda X: X[n]",
    "n = np.array(['2001-01-01'], dtype='M8[s]')\nf = lambda X: X[n]",
    "n = np.dtype('f4')\nf = lambda X: X[n]",
    "n = np.dtype('f8')\nf = lambda X: X[n]",
    "n = object()\nf = lambda X: X is n",
    "g = lambda X: X[1]\nf = lambda X: g(X)",
    "g = lambda X: X[2]\nf = lambda X: g(X)",
    "h = lambda X: X[1]\ng = lambda X: h(X)\nf = lambda X: g(X)",
    "h = lambda X: X[2]\ng = lambda X: h(X)\nf = lambda X: g(X)",
    "f = lambda X: min(X)",
    "min = lambda X: X\nf = lambda X: min(X)",
    "f = lambda X: np.sort(X)",
    "np = __import__('math')\nf = lambda X: np.sort(X)",
    "g = np.add\nf = lambda X: g(X)",
    "g = np.subtract\nf = lambda X: g(X)",
    "g = len\nf = lambda X: g(X)",
    "g = sum\nf = lambda X: g(X)",
    "g = str.upper\nf = lambda X: g(X)",
    "g = str.lower\nf = lambda X: g(X)",
    "g = [1].index\nf = lambda X: g(X)",
    "g = [2].index\nf = lambda X: g(X)",
    "g = dict.fromkeys\nf = lambda X: g(X)",
    "g = np.argsort\nf = lambda X: g(X)",
    "g = np.argmin\nf = lambda X: g(X)",
    "def outer(n):\n return lambda X: X[n]\nf = outer(1)",
    "def outer(n):\n return lambda X: X[n]\nf = outer(2)",
    "def outer(n):\n return lambda X: X[n]\nf = outer(len)",
    "def outer(n):\n return lambda X: lambda Y: X[n]\nf = outer(2)",
    "g = partial(pow, 1)\nf = lambda X: g(X)",
    "g = partial(pow, 2)\nf = lambda X: g(X)",
    "g = partial(pow, exp=2)\nf = lambda X: g(X)",
    "def f(X): return f(X) + 1",
    "def f(X): return f(X) + 2",
    "def f(X): return g(X) + 1\ndef g(X): return f(X) + 1",
    "def f(X): return g(X) + 1\ndef g(X): return f(X) + 2",
    "f = lambda X: X\nf.n = 1",
    "f = lambda X: X\nf.n = 2",
    "class A:\n def f(self, X): return self.n\na = A()\na.n = 1\nf = a.f",
    "class A:\n def f(self, X): return self.n\na = A()\na.n = 2\nf = a.f",
    "class A:\n m = 2\n def f(self, X): return self.n\na = A()\na.n = 2\nf = a.f",
    "class A:\n def f(self, X): return self.g()\n def g(self): return 1\nf = A().f",
    "class A:\n def f(self, X): return self.g()\n def g(self): return 2\nf = A().f",
    "class A:\n @classmethod\n def f(cls, X): return cls\nf = A.f",
    "class A:\n @staticmethod\n def f(X): return X\nf = A.f",
    "class A:\n @property\n def n(self): return 1\n def f(self, X): return self.n\n"
    "f = A().f",
    "class A:\n @property\n def n(self): return 2\n def f(self, X): return self.n\n"
    "f = A().f",
    "class B:\n n = 1\nclass A(B):\n def f(self, X): return super().n\nf = A().f",
    "class B:\n n = 2\nclass A(B):\n def f(self, X): return super().n\nf = A().f",
    "@dataclass\nclass A:\n n: int = 1\n def f(self, X): return self.n\nf = A().f",
    "@dataclass\nclass A:\n n: int = 1\n def f(self, X): return self.n\nf = A(2).f",
    "def f(X):\n import math\n return math.sqrt(X)",
    "def f(X):\n import cmath as math\n return math.sqrt(X)",
    "def f(X):\n try: return X[1]\n except ValueError: return 0",
    "def f(X):\n try: return X[1]\n except KeyError: return 0",
    "def f(X):\n global m\n m = 1",
    "async def f(X): return X[1]",
    "def f(X): yield X[1]",
]
FOLDER = Path(__file__).parent
USES = {"np": np, "partial": functools.partial, "dataclass": dataclass}
PRINTED = """
import json, sys
sys.path[:0] = sys.argv[1:]
import test_functions
print(json.dumps(test_functions.digests()))
"""


def made(source, **names):
    """Return what a source defines as `f`, as if it were that of a module."""
    module = types.ModuleType("theirs")
    vars(module).update(USES, **names)
    exec(source, vars(module))
    return module.f


def identity(function):
    return functions.identity_of("init", function)


def digests():
    """Return what every version, and functions from elsewhere, are known by."""
    elsewhere = [np.add, np.argsort, kmeans_plusplus, len, operator.add]
    ours = [identity, captured(np.arange(5)), Seeder(3).seeds, Seeder.seeds]
    return [identity(made(source)) for source in VERSIONS] + [
        identity(function) for function in elsewhere + ours
    ]


def captured(value):
    def seeds(X, n_clusters, random_state):
        return X[value]

    return seeds


class Seeder:
    def __init__(self, offset):
        self.offset = offset

    def __call__(self, X, n_clusters, random_state):
        return self.seeds(X, n_clusters, random_state)

    def seeds(self, X, n_clusters, random_state):
        return X[self.offset : self.offset + n_clusters]


def test_all_versions_differ():
    found = [identity(made(source))["digest"] for source in VERSIONS]
    twice = {
        (VERSIONS[found.index(digest)], source)
        for digest, source in zip(found, VERSIONS)
        if VERSIONS[found.index(digest)] != source
    }
    assert twice == set()


def test_they_are_the_same_in_another_process(tmp_path):
    first, second = (
        json.loads(
            subprocess.run(
                [sys.executable, "-W", "error", "-c", PRINTED, str(FOLDER)],
                env={**os.environ, "PYTHONHASHSEED": seed},
                cwd=folder,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for seed, folder in (("1", FOLDER), ("2", tmp_path))
    )
    assert first == second
    # Not those of this file: its code was rewritten, to say why an assertion fails.
    ours = [identity(made(source)) for source in VERSIONS]
    assert first[: len(VERSIONS)] == ours


def test_where_it_is_written_does_not_matter():
    source = "def f(X):\n    n = 1\n    return [X[n] for n in X]"
    moved = source.replace("\n", "\n    # A word on it.\n\n")
    compiled = compile(f"\n\n{moved}", "/elsewhere/file.py", "exec")
    assert identity(made(source)) == identity(made(compiled))


def test_calling_it_does_not_matter():
    """Though Python rewrites code that is called often."""
    function = made("def f(X):\n    n = 0\n    for x in X: n += x\n    return n")
    before = identity(function)
    for _ in range(1000):
        function([1, 2, 3])
    assert identity(function) == before


@pytest.mark.parametrize("change", ["n = 2", "def n(): return 2"])
def test_modules_of_the_user_are_looked_into(tmp_path, monkeypatch, change):
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("their_helpers", "their_helpers.deep"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "their_helpers").mkdir()
    (tmp_path / "their_helpers/__init__.py").write_text("import their_helpers.deep")
    (tmp_path / "their_helpers/deep.py").write_text("n = 1\nunused = object\n")
    import their_helpers

    function = made("f = lambda X: X[h.deep.n]", h=their_helpers)
    before = identity(function)
    assert identity(function) == before
    exec("unused = 3", vars(their_helpers.deep))
    assert identity(function) == before
    exec(change, vars(their_helpers.deep))
    assert identity(function) != before
    monkeypatch.delitem(sys.modules, "their_helpers.deep")
    monkeypatch.delitem(sys.modules, "their_helpers")


def test_versions_of_packages_count(monkeypatch):
    for source in ("f = lambda X: np.sort(X)", "g = np.sort\nf = lambda X: g(X)"):
        before = identity(made(source))
        with monkeypatch.context() as patch:
            patch.setattr(np, "__version__", "9.9")
            assert identity(made(source)) != before


def wrapped(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args) + OFFSET

    return wrapper


OFFSET = 1


def test_what_wraps_a_function_is_not_taken_for_it(monkeypatch):
    wrapper = wrapped(np.sort)
    assert wrapper.__module__ == np.sort.__module__
    before = identity(wrapper)
    assert before["digest"] != identity(np.sort)["digest"]
    monkeypatch.setitem(globals(), "OFFSET", 2)
    assert identity(wrapper) != before


def test_who_logs_may_go_on():
    source = "f = lambda X: log.info(X)"
    assert identity(made(source, log=logging.getLogger("theirs")))


class Slotted:
    __slots__ = ("n",)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (np.random.default_rng(0), r"'n', a numpy\.random\._generator\.Generator"),
        (np.random.RandomState(0).permutation, r"'self', a numpy.*RandomState"),
        (random.Random(0), r"'n', a random\.Random"),
        ([{"a": random.Random(0)}], r"'a', a random\.Random"),
        (np.array([None]), "'n', an array of object"),
        (np.zeros(2, dtype=[("a", int)]), "'n', an array of"),
        (np.ma.zeros(2), r"'n', a numpy\.ma\.MaskedArray"),
        (pd.Series([1]), "'n', a pandas"),
        (sys.stderr, "'n', a "),
        (Slotted(), "'n', a member_descriptor|a builtins.member_descriptor"),
        (functools.lru_cache(len), r"'n', a functools\._lru_cache_wrapper"),
        (np.frompyfunc(lambda x: x, 1, 1), r"'n', a numpy\.ufunc"),
        (np.vectorize(lambda x: x), r"'n', a numpy\.vectorize"),
        (operator.itemgetter(1), r"'n', a operator\.itemgetter"),
        ((i for i in range(3)), r"'n', a builtins\.generator"),
        ([types.ModuleType("theirs")], r"'n', a builtins\.module"),
        (type("Mine", (list,), {})(), r"'n', a .*Mine"),
    ],
)
def test_what_cannot_be_compared_is_refused(value, told):
    for function in (
        captured_as_n(value),
        made("f = lambda X: X[n]", n=value),
        made("f = lambda X, n=n: X[n]", n=value),
    ):
        with pytest.raises(ValueError, match=told) as caught:
            identity(function)
        assert "Use a function that depends only on numbers" in str(caught.value)
        assert "\n" not in str(caught.value) and "0x" not in str(caught.value)


def captured_as_n(n):
    return lambda X: X[n]


@pytest.mark.parametrize(
    "source",
    [
        "def f(X):\n    import their_helpers\n    return X",
        "def f(X):\n    from . import json\n    return X",
        "def f(X):\n    from .json import loads\n    return X",
        "def f(X):\n    return [__import__ for x in X if (lambda: g())]\n"
        "def g():\n    import their_helpers",
    ],
)
def test_imports_of_who_knows_what_are_refused(source):
    with pytest.raises(
        ValueError, match=r"when it is called, which should be imported"
    ):
        identity(made(source))


@pytest.mark.parametrize("function", [functools.partial(len), Seeder(3)])
def test_what_has_no_name_is_refused(function):
    with pytest.raises(ValueError, match=r"has no name.* define a named function"):
        identity(function)


def test_a_list_in_itself_is_read_once():
    endless = []
    endless.append(endless)
    assert identity(made("f = lambda X: X[n]", n=endless))
    deep = []
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deeply"):
        identity(made("f = lambda X: X[n]", n=deep))


def test_differences_are_told():
    one, other = (identity(made(f"f = lambda X: X[{n}]")) for n in (1, 2))
    told = functions.difference("init", one, other)
    assert "init is another function with the name 'theirs.<lambda>': its code" in told
    older = {**one, "python": "3.10"}
    assert "was compiled by Python 3.10 and is now by" in functions.difference(
        "init", older, one
    )
    named = identity(len)
    assert "was the function 'theirs.<lambda>' and is now 'builtins.len'" in (
        functions.difference("init", one, named)
    )
