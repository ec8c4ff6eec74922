"""A fit is kept while it runs, goes on to the same bits, and says what is wrong."""

import copy
import errno
import logging
import os
import subprocess
import sys
import textwrap
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from kill_and_resume import difference
from sklearn.base import clone

import cprime
from cprime import Checkpoint, FuzzyKMeans, GaussianMixture, KMeans, SoftKMeans
from cprime.datasets import make_birch_random
from cprime.fitting.initialization import SEEDINGS
from cprime.rows import base
from cprime.storage import atomic, container

DATA = make_birch_random(10, 60, rng=1).data
MISSING = DATA.copy()
MISSING[::9, 0] = np.nan
WEIGHTS = np.arange(1.0, len(DATA) + 1.0)
MODEL = KMeans(10, c_prime=2, init="random", n_init=2, random_state=0)

MODELS = {
    "k-means": KMeans(10, init="random", n_init=3, random_state=0),
    "k-means-C', global random numbers": KMeans(10, c_prime=3, n_init=2),
    "EM, own random numbers": KMeans(10, c_prime=None, n_init=2).set_params(
        random_state=np.random.RandomState(3)
    ),
    "neighbours": KMeans(
        12, c_prime=2, search="neighbours", n_neighbors=4, init="random", n_init=2
    ),
    "lazy": KMeans(10, search="lazy", eps=0.01, init="random", n_init=2).set_params(
        random_state=0
    ),
    "given centres": KMeans(10, init=DATA[:10], random_state=0),
    "soft": SoftKMeans(5, n_init=2, random_state=0),
    "annealed": SoftKMeans(3, annealing=4.0, n_init=2, random_state=0),
    "fuzzy": FuzzyKMeans(5, n_init=2, random_state=0),
    "entropy": FuzzyKMeans(5, regularization="entropy", n_init=2, random_state=0),
    "quadratic": FuzzyKMeans(5, regularization="quadratic", c_prime=3).set_params(
        n_init=2, random_state=0
    ),
    **{
        kind: GaussianMixture(
            4, covariance_type=kind, n_init=2, random_state=0
        ).set_params(init_params="random_from_data", c_prime=c_prime, tol=1e-5)
        for kind, c_prime in [
            ("full", None),
            ("tied", None),
            ("diag", 2),
            ("spherical", 2),
            ("isotropic", None),
        ]
    },
}


class KilledError(Exception):
    """Ends a fit as if it had been killed."""


@pytest.fixture(autouse=True)
def quick_disks(monkeypatch):
    """Nothing here depends on what a disk has when the power is cut."""
    monkeypatch.setattr(atomic.os, "fsync", lambda descriptor: None)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "checkpoints"


def stopping_at(number, error=KilledError):
    """Return what ends a fit after so many iterations."""
    seen = []

    def listen(told):
        seen.append(told)
        if len(seen) == number:
            raise error

    return listen


def begin(model, folder, stop_after, X=DATA, sample_weight=None, every=0.0):
    """Begin a fit that comes to an end before it is finished."""
    checkpoint = Checkpoint(folder, every=every)
    with pytest.raises(KilledError):
        clone(model).fit(
            X,
            sample_weight=sample_weight,
            checkpoint=checkpoint,
            progress=stopping_at(stop_after),
        )


def resume(model, folder, X=DATA, sample_weight=None):
    checkpoint = Checkpoint(folder, resume=True)
    found = clone(model).fit(X, sample_weight=sample_weight, checkpoint=checkpoint)
    return found, checkpoint.message


def assert_same(one, other):
    ours, theirs = dict(vars(one)), dict(vars(other))
    states = [
        params.pop("random_state").get_state()[1:3]
        for params in (ours, theirs)
        if isinstance(params["random_state"], np.random.RandomState)
    ]
    if states:
        np.testing.assert_array_equal(states[0][0], states[1][0])
        assert states[0][1] == states[1][1]
    assert difference(ours, theirs) == ""


def latest(folder):
    return max(folder.glob("checkpoint-*"), key=lambda path: path.stat().st_mtime_ns)


def altered(path, place=-40):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("name", MODELS)
def test_a_resumed_fit_ends_in_the_same_bits(name, folder):
    np.random.seed(5)
    whole = clone(MODELS[name]).fit(DATA)
    n_iter = int(whole.restarts_["n_iter"].sum())
    for stop_after in {1, n_iter // 2, n_iter} - {0}:
        np.random.seed(5)
        begin(MODELS[name], folder / str(stop_after), stop_after)
        np.random.seed(77)
        resumed, message = resume(MODELS[name], folder / str(stop_after))
        assert "Resuming from iteration" in message
        assert_same(whole, resumed)
        again, message = resume(MODELS[name], folder / str(stop_after))
        assert "had finished" in message
        assert_same(whole, again)


def test_keeping_a_fit_changes_nothing(folder):
    kept = clone(MODEL).fit(DATA, checkpoint=Checkpoint(folder, every=0.0))
    assert_same(clone(MODEL).fit(DATA), kept)


@pytest.mark.parametrize(
    "X",
    [DATA.astype(np.float32), sp.csr_matrix(DATA), np.asfortranarray(DATA)],
    ids=["float32", "CSR", "columns first"],
)
def test_rows_of_any_kind_are_known_again(folder, X):
    whole = clone(MODEL).fit(X, sample_weight=WEIGHTS)
    begin(MODEL, folder, 4, X, WEIGHTS)
    assert_same(whole, resume(MODEL, folder, X.copy(), WEIGHTS.copy())[0])


def test_rows_with_missing_values(folder):
    model = MODELS["diag"].set_params(missing="marginalize")
    whole = clone(model).fit(MISSING)
    begin(model, folder, 3, MISSING)
    assert_same(whole, resume(model, folder, MISSING)[0])


def test_rows_of_a_file_and_in_memory_are_the_same(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(base, "STORED_ROWS", 10_000)
    rows = np.tile(DATA, (130, 1))
    np.save(tmp_path / "rows.npy", rows)
    data = cprime.open_data(tmp_path / "rows.npy", memory="1.1MB")
    assert not data.in_memory and len(rows) > data.block_rows
    model = KMeans(10, c_prime=2, init="sampled-k-means++", n_init=2, random_state=0)
    whole = clone(model).fit(rows)
    begin(model, folder, 4, data)
    resumed, _ = resume(model, folder, data)
    assert_same(whole, resumed)
    begin(model, folder / "file to memory", 4, data)
    assert_same(whole, resume(model, folder / "file to memory", rows)[0])
    begin(model, folder / "memory to file", 4, rows)
    assert_same(whole, resume(model, folder / "memory to file", data)[0])


def test_an_init_that_is_called_is_called_as_often(folder):
    calls = []

    def init(X, n_clusters, random_state):
        calls.append(random_state.randint(1000))
        return X[random_state.permutation(len(X))[:n_clusters]]

    model = KMeans(10, init=init, n_init=3, random_state=0)
    whole = clone(model).fit(DATA)
    expected, calls[:] = list(calls), []
    begin(model, folder, int(whole.restarts_["n_iter"][0]) + 1)
    calls.clear()
    assert_same(whole, resume(model, folder)[0])
    assert calls == expected


@pytest.mark.parametrize("writes", [2, 3, 4], ids=["seeds", "start", "iteration"])
def test_seeds_are_not_looked_for_again(folder, monkeypatch, writes):
    model = clone(MODEL).set_params(n_init=1)
    whole, write, left = clone(model).fit(DATA), container.write, [writes]

    def written(*args):
        if left[0] == 0:
            raise KilledError
        left[0] -= 1
        write(*args)

    def looked_for(*_):
        raise AssertionError("seeds are looked for")

    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(container, "write", written)
        clone(model).fit(DATA, checkpoint=Checkpoint(folder, every=0.0))
    monkeypatch.setitem(SEEDINGS, "random", looked_for)
    assert_same(whole, resume(model, folder)[0])


def test_random_numbers_that_were_drawn_are_drawn_again(folder):
    """Whoever goes on in the same session still has the RandomState of the first."""
    own = np.random.RandomState(3)
    model = KMeans(10, init="random", n_init=3, random_state=own)
    whole = clone(model).fit(DATA)
    with pytest.raises(KilledError):
        model.fit(
            DATA, checkpoint=Checkpoint(folder, every=0.0), progress=stopping_at(20)
        )
    model.fit(DATA, checkpoint=Checkpoint(folder, resume=True))
    assert model.random_state is own
    assert_same(whole, model)


def test_nothing_there_yet_is_said(folder, caplog, capsys):
    with caplog.at_level(logging.INFO, "cprime.checkpoint"):
        found, message = resume(MODEL.set_params(verbose=1), folder)
    MODEL.set_params(verbose=0)
    none_yet = f"There is no checkpoint in {str(folder)!r} yet"
    assert message == f"{none_yet}: starting from the beginning."
    assert caplog.messages == [message]
    assert capsys.readouterr().out.startswith(message + "\n")
    assert_same(found.set_params(verbose=0), clone(MODEL).fit(DATA))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_clusters": 9}, "n_clusters was 10 and is now 9"),
        ({"tol": 0.5}, "tol was 0.0001 and is now 0.5"),
        ({"c_prime": None}, "c_prime was 2 and is now None"),
        ({"random_state": 1}, "random_state was 0 and is now 1"),
        ({"random_state": None}, "random_state was 0 and is now None"),
        ({"init": DATA[:10], "n_init": 1}, "init was 'random' and is now an array"),
        ({"kernel": "reference", "eps": 1}, "eps was 0.1 and is now 1; kernel was"),
    ],
)
def test_another_parameter_is_refused(folder, change, words):
    begin(MODEL, folder, 3)
    with pytest.raises(ValueError, match=words) as caught:
        resume(clone(MODEL).set_params(**change), folder)
    assert "\n" not in str(caught.value)
    resume(clone(MODEL).set_params(verbose=0, copy_x=False), folder)


def test_another_array_is_refused(folder):
    model = KMeans(10, init=DATA[:10])
    begin(model, folder, 2)
    with pytest.raises(ValueError, match="init has different values"):
        resume(KMeans(10, init=DATA[1:11]), folder)
    resume(KMeans(10, init=DATA[:10].tolist()), folder)


@pytest.mark.parametrize(
    ("X", "weights", "words"),
    [
        (DATA[1:], WEIGHTS[1:], r"X had shape \[600, 2\] and now has \[599, 2\]"),
        (DATA[::-1], WEIGHTS, "X has different values"),
        (DATA.astype(np.float32), WEIGHTS, "X has different values"),
        (DATA, WEIGHTS[::-1], "sample_weight has different values"),
        (DATA, None, "sample_weight has different values"),
    ],
)
def test_other_data_are_refused(folder, X, weights, words):
    begin(MODEL, folder, 3, DATA, WEIGHTS)
    with pytest.raises(ValueError, match=words):
        resume(MODEL, folder, X, weights)


def test_another_estimator_or_version_is_refused(folder, monkeypatch):
    begin(MODEL, folder, 3)
    with pytest.raises(ValueError, match="was a 'KMeans' and is a SoftKMeans"):
        resume(SoftKMeans(10), folder)
    version = cprime.__version__
    monkeypatch.setattr("cprime.checkpointing.keeper.__version__", "9.9")
    with pytest.raises(ValueError, match=rf"cprime was '{version}' and is now '9.9'"):
        resume(MODEL, folder)


def test_a_fit_that_has_not_finished_is_not_overwritten(folder):
    begin(MODEL, folder, 3)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(
        ValueError, match="resume=True to continue it, or delete the folder"
    ):
        clone(MODEL).fit(DATA, checkpoint=Checkpoint(folder))
    assert before == {path: path.read_bytes() for path in folder.iterdir()}


def test_whoever_is_refused_leaves_the_folder_as_it_is(folder):
    with pytest.raises(KilledError):
        MODEL.fit(DATA, checkpoint=Checkpoint(folder, 0), progress=stopping_at(3))
    # As if another fit were writing to it at this very moment.
    writing = folder / f".checkpoint-1.cprime.12345678{atomic.UNFINISHED}"
    writing.touch()
    with pytest.raises(ValueError, match="holds an unfinished fit"):
        MODEL.fit(DATA, checkpoint=Checkpoint(folder, 0))
    assert writing.exists()


def seeded(X, n_clusters, random_state, offset=0):
    return X[offset : offset + n_clusters]


def test_a_function_without_a_name_is_refused(folder):
    model = KMeans(10, init=partial(seeded, offset=3), random_state=0)
    with pytest.raises(ValueError, match=r"init=functools\.partial.* has no name"):
        model.fit(DATA, checkpoint=Checkpoint(folder, 0))


def from_row(first):
    """Return a function that takes the rows from that one on."""
    return lambda X, n_clusters, random_state: X[first : first + n_clusters]


FIRST = 3


def from_the_first(X, n_clusters, random_state):
    return X[FIRST : FIRST + n_clusters]


def test_a_function_is_known_again(folder):
    begin(KMeans(10, init=from_row(3), n_init=2), folder, 2)
    resumed, message = resume(KMeans(10, init=from_row(3), n_init=2), folder)
    assert "Resuming from iteration 2" in message
    whole = KMeans(10, init=resumed.init, n_init=2).fit(DATA)
    assert_same(whole, resumed)


def test_another_function_of_the_same_name_is_refused(folder, monkeypatch):
    one = lambda X, n, random_state: X[:n]  # noqa: E731
    other = lambda X, n, random_state: X[-n:]  # noqa: E731
    assert one.__qualname__ == other.__qualname__
    for place, (first, second) in enumerate(
        [(one, other), (from_row(3), from_row(4)), (one, from_row(3))]
    ):
        begin(KMeans(10, init=first), folder / str(place), 1)
        with pytest.raises(ValueError, match=r"init (is another function|was the fu)"):
            resume(KMeans(10, init=second), folder / str(place))
    begin(KMeans(10, init=from_the_first), folder / "global", 1)
    monkeypatch.setitem(globals(), "FIRST", 4)
    with pytest.raises(ValueError, match="or a value, a function or a package it uses"):
        resume(KMeans(10, init=from_the_first), folder / "global")


def test_a_function_nobody_could_know_again_is_refused_at_once(folder):
    rng = np.random.default_rng(0)
    model = KMeans(10, init=lambda X, n, random_state: rng.permutation(X)[:n])
    with pytest.raises(ValueError, match=r"it uses 'rng', a numpy.*Generator\. Use a"):
        model.fit(DATA, checkpoint=Checkpoint(folder))
    assert not folder.exists()


def test_a_checkpoint_from_before_functions_were_known_is_refused(folder):
    begin(KMeans(10, init=from_the_first), folder, 1)
    name = f"{__name__}.from_the_first"
    place = ("identity", "dict", "parameters", "dict", "init")
    for path in folder.iterdir():
        with container.open_file(path) as file:
            arrays = {name: stored.load() for name, stored in file.arrays.items()}
        header = {k: v for k, v in file.header.items() if k != "cprime"}
        container.write(path, "it", replaced(header, place, name), arrays)
    with pytest.raises(ValueError, match=f"init was '{name}' and is now the function"):
        resume(KMeans(10, init=from_the_first), folder)


def test_a_fit_that_has_finished_makes_room_for_another(folder):
    clone(MODEL).fit(DATA, checkpoint=Checkpoint(folder))
    other = clone(MODEL).set_params(random_state=7)
    begin(other, folder, 1, DATA[::2])
    resumed, _ = resume(other, folder, DATA[::2])
    assert_same(resumed, clone(other).fit(DATA[::2]))


def test_a_damaged_checkpoint_has_one_before_it(folder):
    whole = clone(MODEL).fit(DATA)
    begin(MODEL, folder, 5)
    altered(latest(folder))
    with pytest.warns(RuntimeWarning, match=r"is damaged: .* Resuming from .*checkpoi"):
        resumed, message = resume(MODEL, folder)
    assert "iteration 4 of restart 1" in message
    assert_same(whole, resumed)
    assert resume(MODEL, folder)[1].startswith("The fit in")


def test_only_damaged_checkpoints_are_not_overwritten(folder):
    begin(MODEL, folder, 5)
    for path in folder.iterdir():
        altered(path)
    for again in (True, False):
        with pytest.raises(
            ValueError, match=r"no other checkpoint .* delete the folder to start"
        ):
            clone(MODEL).fit(DATA, checkpoint=Checkpoint(folder, resume=again))
    assert len(list(folder.iterdir())) == 2


def test_an_interrupt_keeps_the_last_complete_iteration(folder):
    model = clone(MODEL)
    with pytest.raises(KeyboardInterrupt):
        model.fit(
            DATA,
            checkpoint=Checkpoint(folder),
            progress=stopping_at(7, KeyboardInterrupt),
        )
    assert model.n_iter_ == 7
    resumed, message = resume(MODEL, folder)
    assert "iteration 7 of restart 1" in message
    assert_same(resumed, clone(MODEL).fit(DATA))


def test_an_interrupt_while_resuming_loses_nothing(folder, monkeypatch):
    begin(MODEL, folder, 5)
    before = latest(folder).read_bytes()

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("cprime.checkpointing.state_codec.unpacked", interrupt)
        resume(MODEL, folder)
    assert latest(folder).read_bytes() == before
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("cprime.bounds.gap", interrupt)
        resume(MODEL, folder)
    resumed, message = resume(MODEL, folder)
    assert "had finished" in message
    assert_same(resumed, clone(MODEL).fit(DATA))


def test_checkpoints_are_as_far_apart_as_asked(folder, monkeypatch):
    written = []
    write = container.write
    monkeypatch.setattr(
        container, "write", lambda *args: (written.append(args[0]), write(*args))
    )
    clone(MODEL).fit(DATA, checkpoint=Checkpoint(folder))
    # The beginning and the end.
    assert len(written) == 2
    written.clear()
    whole = clone(MODEL).fit(DATA, checkpoint=Checkpoint(folder, every=0))
    # Besides, seeds, the start and the end of every restart, and its iterations.
    assert len(written) == 2 + 2 * 3 + whole.restarts_["n_iter"].sum()
    assert len(set(written)) == 2


def test_what_a_killed_writer_left_is_removed(folder):
    begin(MODEL, folder, 3)
    left = folder / f".checkpoint-1.cprime.12{atomic.UNFINISHED}"
    left.write_bytes(b"half")
    (folder / "notes.txt").touch()
    resume(MODEL, folder)
    names = {path.name for path in folder.iterdir()}
    assert names == {"checkpoint-1.cprime", "checkpoint-2.cprime", "notes.txt"}


@pytest.mark.parametrize("writes", [1, 2, 5])
def test_a_full_disk_ends_the_fit_and_leaves_the_last_checkpoint(
    folder, monkeypatch, writes
):
    whole, left = clone(MODEL).fit(DATA), [writes]

    def full(descriptor):
        left[0] -= 1
        # A file, and its folder, for every checkpoint.
        if left[0] < -writes:
            raise OSError(errno.ENOSPC, "No space left on device")

    model = clone(MODEL)
    with monkeypatch.context() as patch:
        patch.setattr(atomic.os, "fsync", full)
        with pytest.raises(
            OSError, match=r"Could not write the checkpoint '.*No space"
        ):
            model.fit(DATA, checkpoint=Checkpoint(folder, every=0.0))
    assert not hasattr(model, "labels_")
    assert len(list(folder.iterdir())) == min(writes, 2)
    for path in folder.iterdir():
        with container.open_file(path):
            pass
    assert_same(whole, resume(MODEL, folder)[0])


def test_a_file_that_may_not_grow_ends_the_fit(folder):
    """The same by the system itself: files may have so many bytes and no more."""
    script = f"""
        import resource, signal
        import numpy as np
        from cprime import Checkpoint, KMeans
        X = np.random.RandomState(0).normal(size=(20_000, 2))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
        try:
            KMeans(3, random_state=0).fit(X, checkpoint=Checkpoint({str(folder)!r}, 0))
        except OSError as error:
            print(error)
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True
    )
    assert found.stderr == ""
    assert "Could not write the checkpoint" in found.stdout
    assert "File too large" in found.stdout and "free some space" in found.stdout
    rows = np.random.RandomState(0).normal(size=(20_000, 2))
    model = KMeans(3, random_state=0)
    assert sorted(path.name for path in folder.iterdir()) == [
        "checkpoint-1.cprime",
        "checkpoint-2.cprime",
    ]
    resumed, message = resume(model, folder, rows)
    assert "beginning of restart 1" in message
    assert_same(clone(model).fit(rows), resumed)


def test_a_folder_that_cannot_be_is_said_before_the_fit(tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "inside"):
        with pytest.raises(OSError, match="Could not make the folder for checkpoints"):
            clone(MODEL).fit(DATA, checkpoint=Checkpoint(folder))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_said(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="write it to a folder of yours"):
        clone(MODEL).fit(DATA, checkpoint=Checkpoint(tmp_path))
    tmp_path.chmod(0o700)


def test_a_warm_start_is_refused(folder):
    model = GaussianMixture(3, warm_start=True, random_state=0).fit(DATA)
    with pytest.raises(ValueError, match="which a checkpoint does not hold"):
        model.fit(DATA, checkpoint=Checkpoint(folder))
    first = GaussianMixture(3, warm_start=True, random_state=0)
    first.fit(DATA, checkpoint=Checkpoint(folder))
    np.testing.assert_array_equal(first.means_, model.means_)


def test_what_is_no_checkpoint_is_said(folder):
    with pytest.raises(TypeError, match=r"give cprime.Checkpoint\(folder\)"):
        clone(MODEL).fit(DATA, checkpoint=str(folder))
    for every in (-1, float("inf"), float("nan"), "60"):
        with pytest.raises(ValueError, match="should be a number of seconds"):
            Checkpoint(folder, every=every)
    with pytest.raises(ValueError, match="draws from PCG64"):
        random_state = np.random.RandomState(np.random.PCG64(1))
        model = KMeans(3, random_state=random_state)
        model.fit(DATA, checkpoint=Checkpoint(folder))
    assert repr(Checkpoint("a", resume=True)) == (
        "Checkpoint('a', every=60.0, resume=True)"
    )


def test_a_model_file_is_no_checkpoint(folder):
    folder.mkdir()
    clone(MODEL).fit(DATA).save(folder / "checkpoint-1.cprime")
    with pytest.raises(ValueError, match="it holds no checkpoint"):
        resume(MODEL, folder)
    begin(MODEL, folder / "other", 1)
    with pytest.raises(ValueError, match="it holds no model"):
        cprime.load(latest(folder / "other"))


def replaced(tree, path, value):
    """Return nested values with another one at a path."""
    tree = copy.deepcopy(tree)
    inner = tree
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return tree


RUN = ("state", "dict", "current", "dict")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("state",), None),
        (("state",), {"dict": {}}),
        (("identity",), {"dict": {}}),
        (("identity", "dict", "parameters"), 3),
        (("random_state",), 3),
        (("finished",), 1),
        (("finished",), True),
        (("count",), "many"),
        (("count",), -1),
        (("when",), None),
        (("seeding",), 7),
        ((*RUN, "K"), {"array": "state.current.theta.means"}),
        ((*RUN, "K"), 5),
        ((*RUN, "theta"), {"dict": {"means": 1, "covariance": 1, "proportions": None}}),
        ((*RUN, "theta"), {"dict": {}}),
        ((*RUN, "step"), {"dict": {}}),
        ((*RUN, "trace"), {"dict": {"a": [[]], "b": [[], []]}}),
        ((*RUN, "trace"), 5),
        (RUN, 5),
    ],
)
def test_a_state_that_cannot_be_is_refused(folder, path, value):
    begin(MODEL, folder, 5)
    newest = latest(folder)
    for older in set(folder.iterdir()) - {newest}:
        older.unlink()
    with container.open_file(newest) as file:
        arrays = {name: stored.load() for name, stored in file.arrays.items()}
    header = {k: v for k, v in file.header.items() if k != "cprime"}
    container.write(newest, "it", replaced(header, path, value), arrays)
    with pytest.raises(ValueError, match=r"\w") as caught:
        resume(MODEL, folder)
    assert type(caught.value) is ValueError


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("state.current.K", np.full((600, 2), 10, dtype=np.int32)),
        ("state.current.K", np.full((600, 2), -1, dtype=np.int32)),
        ("state.current.K", np.zeros((599, 2), dtype=np.int32)),
        ("state.current.K", np.zeros((600, 11), dtype=np.int32)),
        ("state.current.K", np.zeros((600, 2))),
        ("state.current.theta.means", np.zeros((9, 2))),
        ("state.current.theta.means", np.full((10, 2), np.nan)),
    ],
)
def test_arrays_of_another_fit_are_refused(folder, name, value):
    begin(MODEL, folder, 5)
    for path in folder.iterdir():
        with container.open_file(path) as file:
            arrays = {name: stored.load() for name, stored in file.arrays.items()}
        assert name in arrays
        header = {k: v for k, v in file.header.items() if k != "cprime"}
        container.write(path, "it", header, {**arrays, name: value})
    with pytest.raises(
        ValueError, match=r"Cannot read .*: (it holds clusters|its mean)"
    ):
        resume(MODEL, folder)
