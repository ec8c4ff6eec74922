"""A search can be watched, stopped, and gone on with, to the same answer."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from cprime import AutoMixture, Checkpoint, KMeans, Trial
from cprime.storage import container

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
X = np.concatenate([RNG.normal(c, 1.0, (50, 2)) for c in CENTERS])
AUTO = {"max_clusters": 5, "random_state": 0}
CHOSEN = AutoMixture(**AUTO).fit(X)


class KilledError(Exception):
    """Ends a search as if it had been killed."""


def stopping_at(number, error=KilledError):
    def listen(trial):
        if trial.n_tried == number:
            raise error

    return listen


def begin(folder, number, **parameters):
    with pytest.raises(KilledError):
        AutoMixture(**{**AUTO, **parameters}).fit(
            X, checkpoint=Checkpoint(folder, every=0.0), progress=stopping_at(number)
        )


def resume(folder, rows=X, **parameters):
    checkpoint = Checkpoint(folder, resume=True)
    return AutoMixture(**{**AUTO, **parameters}).fit(rows, checkpoint=checkpoint)


def assert_same(one, other):
    for name, values in one.results_.items():
        if name != "seconds":
            np.testing.assert_array_equal(values, other.results_[name], err_msg=name)
            assert values.dtype == other.results_[name].dtype, name
    for name in ("n_clusters_", "shape_", "plausible_", "agreement_", "verdict_"):
        assert getattr(one, name) == getattr(other, name)
    for name in ("labels_", "merged_labels_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.score_samples(X), other.score_samples(X))


def test_a_trial_says_what_is_best_so_far():
    told = []
    AutoMixture(**AUTO).fit(X, progress=told.append)
    assert all(isinstance(trial, Trial) for trial in told)
    assert told[0].best_n_clusters == told[0].n_clusters == 1
    last = told[-1]
    assert (last.best_n_clusters, last.best_shape) == (3, CHOSEN.shape_)


def test_the_best_so_far_is_of_groups():
    rows = np.random.default_rng(1).standard_t(5, size=(400, 2))
    told = []
    chosen = AutoMixture(**AUTO).fit(rows, progress=told.append)
    assert {trial.best_n_clusters for trial in told} == {1} == {chosen.n_clusters_}


def test_progress_must_be_callable():
    with pytest.raises(TypeError, match="progress must be a callable, not 3"):
        AutoMixture().fit(X, progress=3)


@pytest.mark.parametrize("number", [1, 4, 20])
def test_a_stopped_search_goes_on_to_the_same_bits(tmp_path, number):
    begin(tmp_path, number)
    assert_same(CHOSEN, resume(tmp_path))


def test_a_finished_search_is_there_at_once(tmp_path, monkeypatch):
    AutoMixture(**AUTO).fit(X, checkpoint=Checkpoint(tmp_path))

    def refuse(*anything):
        raise AssertionError("this was computed before")

    for name in ("_refined", "_scores"):
        monkeypatch.setattr(f"cprime.selection.candidates.Fitter.{name}", refuse)
    assert_same(CHOSEN, resume(tmp_path))


def test_steps_from_before_are_not_computed_again(tmp_path, monkeypatch):
    begin(tmp_path, 20)
    computed = []
    monkeypatch.setattr(
        "cprime.selection.candidates.Fitter._refined",
        lambda *given: computed.append(given) or 1 / 0,
    )
    reached = []
    with pytest.raises(ZeroDivisionError):
        AutoMixture(**AUTO).fit(
            X, checkpoint=Checkpoint(tmp_path, resume=True), progress=reached.append
        )
    assert len(reached) >= 20 and len(computed) == 1


def test_an_interrupted_last_fit_goes_on(tmp_path, monkeypatch):
    fit = KMeans.fit
    parameters = {"shapes": ("isotropic",)}

    def interrupted(self, *given, **named):
        if named.get("checkpoint") is not None:
            raise KeyboardInterrupt
        return fit(self, *given, **named)

    chosen = AutoMixture(**AUTO, **parameters)
    with monkeypatch.context() as patch:
        patch.setattr(KMeans, "fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            chosen.fit(X, checkpoint=Checkpoint(tmp_path))
    # What was found is there, and the rest of the fit to come.
    assert chosen.n_clusters_ == 3 and chosen.predict(X).shape == (150,)
    assert_same(
        AutoMixture(**AUTO, **parameters).fit(X), resume(tmp_path, **parameters)
    )


@pytest.mark.parametrize("number", [5, 23])
def test_an_interrupt_keeps_the_best_so_far_and_says_so(tmp_path, number):
    chosen = AutoMixture(**AUTO)
    with pytest.raises(KeyboardInterrupt):
        chosen.fit(
            X,
            checkpoint=Checkpoint(tmp_path, every=1000.0),
            progress=stopping_at(number, KeyboardInterrupt),
        )
    assert chosen.verdict_.startswith("The search was interrupted.")
    assert chosen.predict(X).shape == (150,)
    assert len(chosen.labels_) == 150
    assert_same(CHOSEN, resume(tmp_path))


def test_an_interrupt_while_all_rows_judge_keeps_what_the_sample_says(monkeypatch):
    monkeypatch.setattr("cprime.selection.choice.MOST_ROWS", 100)
    monkeypatch.setattr("cprime.estimators.auto.MOST_ROWS", 100)
    told = []
    AutoMixture(**AUTO).fit(X, progress=told.append)
    n_of_sample = AutoMixture(**AUTO).fit(X).results_["weight"].tolist().count(150.0)
    chosen = AutoMixture(**AUTO)
    # After the first of those that are fitted to all rows.
    number = len(told) - n_of_sample + 1
    with pytest.raises(KeyboardInterrupt):
        chosen.fit(X, progress=stopping_at(number, KeyboardInterrupt))
    assert chosen.n_clusters_ == 3


def test_an_interrupt_before_anything_is_found_leaves_it_unfitted(monkeypatch):
    def interrupt(*anything):
        raise KeyboardInterrupt

    monkeypatch.setattr("cprime.selection.candidates.Fitter._scores", interrupt)
    chosen = AutoMixture(**AUTO)
    with pytest.raises(KeyboardInterrupt):
        chosen.fit(X)
    assert not hasattr(chosen, "n_clusters_")


def test_another_search_is_refused(tmp_path):
    begin(tmp_path, 3)
    with pytest.raises(ValueError, match=r"shapes was 'all' and is now \['diag'\]"):
        resume(tmp_path, shapes=["diag"])
    with pytest.raises(ValueError, match="max_clusters was 5 and is now 6"):
        resume(tmp_path, max_clusters=6)
    with pytest.raises(ValueError, match="X has different values"):
        resume(tmp_path, X + 1.0)
    with pytest.raises(ValueError, match="holds an unfinished fit"):
        AutoMixture(**AUTO).fit(X, checkpoint=Checkpoint(tmp_path))
    assert_same(CHOSEN, resume(tmp_path, keep_estimators=True))


@pytest.mark.parametrize(
    "change",
    [
        lambda codes, numbers: (codes[:-1], numbers),
        lambda codes, numbers: (codes, numbers[:-1]),
        lambda codes, numbers: (np.where(codes == 3, 4, codes), numbers),
        lambda codes, numbers: (codes, np.full_like(numbers, np.nan)),
        lambda codes, numbers: (-codes, numbers),
        lambda codes, numbers: (np.full_like(codes, 2**40), numbers),
        lambda codes, numbers: (codes.astype(np.float64), numbers),
    ],
)
def test_steps_that_are_none_are_refused(tmp_path, change):
    begin(tmp_path, 5)
    for path in tmp_path.glob("*.cprime"):
        with container.open_file(path) as file:
            header = dict(file.header)
            arrays = {name: of.load() for name, of in file.arrays.items()}
        names = ("steps.codes", "steps.numbers")
        arrays |= dict(zip(names, change(*(arrays[name] for name in names))))
        header = {k: v for k, v in header.items() if k not in ("cprime", "arrays")}
        container.write(path, "it", header, arrays)
    with pytest.raises(ValueError, match="checkpoint"):
        resume(tmp_path)


def test_a_terminated_search_is_kept(tmp_path):
    script = f"""
        import os, signal, numpy as np
        from cprime import AutoMixture, Checkpoint
        def terminate(trial):
            if trial.n_tried == 5:
                os.kill(os.getpid(), signal.SIGTERM)
        X = np.load({str(tmp_path / "X.npy")!r})
        checkpoint = Checkpoint({str(tmp_path / "kept")!r}, every=1000.0)
        AutoMixture(max_clusters=5, random_state=0).fit(
            X, checkpoint=checkpoint, progress=terminate
        )
    """
    np.save(tmp_path / "X.npy", X)
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert ended.returncode == -15
    checkpoint = Checkpoint(tmp_path / "kept", resume=True)
    found = AutoMixture(**AUTO).fit(X, checkpoint=checkpoint)
    assert checkpoint.message.startswith("Resuming from ")
    assert "steps of the search" in checkpoint.message
    assert_same(CHOSEN, found)


def test_estimators_are_kept_on_request():
    chosen = AutoMixture(**AUTO, keep_estimators=True).fit(X)
    lines = zip(chosen.results_["n_clusters"], chosen.results_["shape"])
    assert len(chosen.estimators_) == len(chosen.results_["shape"])
    for estimator, (C, shape) in zip(chosen.estimators_, lines):
        proba = estimator.predict_proba(X)
        assert proba.shape == (150, C)
        assert getattr(estimator, "covariance_type", "isotropic") == shape
    assert chosen.best_estimator_ in chosen.estimators_
    assert not hasattr(CHOSEN, "estimators_")
