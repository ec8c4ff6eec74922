"""What `init` means."""

import traceback

import numpy as np
import pytest

from cprime import KMeans, SoftKMeans

X = np.random.default_rng(0).normal(size=(50, 3))


def misspelt(X, n_clusters, random_state):
    return {"first rows": X[:n_clusters]}["first row"]


class Misspelt:
    __call__ = staticmethod(misspelt)


@pytest.mark.parametrize("door", [KMeans, SoftKMeans])
@pytest.mark.parametrize("init", [misspelt, Misspelt()])
def test_an_error_of_a_callable_init_stays_its_own_and_says_where_it_is_from(
    door, init
):
    with pytest.raises(KeyError, match="first row") as raised:
        door(4, init=init).fit(X)
    assert traceback.extract_tb(raised.value.__traceback__)[-1].name == "misspelt"
    (note,) = raised.value.__notes__
    assert "init=misspelt" in note.lower() and "init(X, 4," in note
