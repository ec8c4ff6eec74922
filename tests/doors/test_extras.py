"""A plain install fits; whatever takes more says in one line what to install."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cprime.extras import EXTRAS

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
OPTIONAL = sorted({package for packages in EXTRAS.values() for package in packages})
# scipy looks for torch among loaded modules: to hide it there would break scipy.
HIDDEN = [package for package in OPTIONAL if package != "torch"]
# Under other names than they are installed by.
INSTALLED_AS = {"PIL": "pillow"}
HIDE = """
import sys
for name in {hidden!r}:
    sys.modules[name] = None
import numpy as np
X = np.random.default_rng(0).normal(size=(60, 3))
"""
ALONE = """
import cprime
for fitted in (cprime.KMeans(3), cprime.GaussianMixture(3), cprime.SoftKMeans(3),
               cprime.FuzzyKMeans(3)):
    fitted.fit(X).predict_proba(X)
cprime.KMeans(3).fit(X).save("model.cprime")
np.save("rows.npy", X)
cprime.load("model.cprime").predict("rows.npy")
cprime.KMeans(3).fit(X, checkpoint=cprime.Checkpoint("folder"))
"""
WISHES = {
    "matplotlib": ("from cprime.plots import MapDisplay", "plots"),
    "jinja2": (
        "from cprime import KMeans; KMeans(3).fit(X).report('x.html')",
        "report",
    ),
    "PIL": ("from cprime import KMeans; KMeans(3).fit(X).report('x.html')", "report"),
    "pyarrow": (
        "np.savetxt('x.csv', X, delimiter=','); "
        "from cprime import KMeans; KMeans(3).fit('x.csv')",
        "files",
    ),
    "triton": ("from cprime import KMeans; KMeans(3, kernel='gpu').fit(X)", "gpu"),
    "typer": ("from cprime.cli import main; sys.exit(main(['--help']))", "cli"),
    "rich": ("from cprime.cli import main; sys.exit(main(['--help']))", "cli"),
}


def run_without(hidden, code, folder):
    return subprocess.run(
        [sys.executable, "-c", HIDE.format(hidden=hidden) + code],
        cwd=folder,
        capture_output=True,
        text=True,
    )


def test_estimators_take_none_of_them(tmp_path):
    done = run_without(HIDDEN, ALONE, tmp_path)
    assert done.returncode == 0, done.stderr


def test_whoever_has_a_dask_collection_needs_no_more(tmp_path):
    assert set(OPTIONAL) - set(WISHES) == {"dask", "distributed", "torch"}
    code = """
import cprime, dask.array as da
cprime.KMeans(3).fit(da.from_array(X, chunks=20)).labels_.compute()
"""
    done = run_without(["distributed"], code, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", WISHES)
def test_what_is_missing_is_named_with_its_remedy(package, tmp_path):
    code, extra = WISHES[package]
    done = run_without([package], code, tmp_path)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert package in last
    assert last.endswith(f"pip install 'cprime[{extra}]'")
    if extra == "cli":
        assert "Traceback" not in done.stderr


def test_extras_are_those_of_the_project():
    promised = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    for extra, packages in EXTRAS.items():
        names = {re.split(r"\[|>=", requirement)[0] for requirement in promised[extra]}
        assert names == {INSTALLED_AS.get(package, package) for package in packages}
    # Most machines have no use for gigabytes of code for a GPU.
    everywhere = [extra for extra in EXTRAS if extra != "gpu"]
    assert promised["all"] == [f"cprime[{','.join(everywhere)}]"]
