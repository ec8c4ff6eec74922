"""`AutoMixture` says how many clusters there are, and how sure that is."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.utils.estimator_checks import parametrize_with_checks

from cprime import AutoMixture, GaussianMixture, KMeans, open_data
from cprime.advice.of_choice import clusters_of
from cprime.kernels import native
from cprime.kernels.threads import allowed_threads

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
X = np.concatenate([RNG.normal(c, 1.0, (70, 2)) for c in CENTERS])
CHOSEN = AutoMixture(max_clusters=6, random_state=0).fit(X)


def but_seconds(results):
    return {name: values for name, values in results.items() if name != "seconds"}


def same(one, other):
    for (name, a), (_, b) in zip(
        but_seconds(one.results_).items(), but_seconds(other.results_).items()
    ):
        np.testing.assert_array_equal(a, b, err_msg=name)
    assert one.n_clusters_ == other.n_clusters_
    assert one.plausible_ == other.plausible_
    assert one.agreement_ == other.agreement_


@parametrize_with_checks([AutoMixture(max_clusters=3, random_state=0)])
def test_it_is_an_estimator(estimator, check):
    check(estimator)


def test_it_finds_the_clusters_and_says_so():
    assert CHOSEN.n_clusters_ == 3
    assert 3 in CHOSEN.plausible_
    assert set(CHOSEN.agreement_.values()) == {3}
    assert CHOSEN.verdict_.startswith(f"{clusters_of(3, CHOSEN.shape_)}.")
    truth = np.repeat([0, 1, 2], 70)
    for labels in (CHOSEN.labels_, CHOSEN.merged_labels_):
        pairs = {*zip(labels.tolist(), truth.tolist())}
        assert len(pairs) == 3


def test_what_it_knows_is_what_the_best_estimator_knows():
    best = CHOSEN.best_estimator_
    np.testing.assert_array_equal(CHOSEN.predict(X), best.predict(X))
    np.testing.assert_array_equal(CHOSEN.predict_proba(X), best.predict_proba(X))
    np.testing.assert_array_equal(CHOSEN.score_samples(X), best.score_samples(X))
    assert CHOSEN.bic(X) == best.bic(X)
    assert CHOSEN.sample(5)[0].shape == (5, 2)
    assert best.c_prime == CHOSEN.c_prime_


def test_results_are_a_table():
    columns = CHOSEN.results_
    lengths = {len(values) for values in columns.values()}
    assert len(lengths) == 1
    assert {*columns} >= {"n_clusters", "shape", "bic", "icl", "bic_free_energy"}
    assert np.all(columns["log_likelihood"] >= columns["free_energy"] - 1e-12)
    assert np.all(columns["icl"] >= columns["bic"] - 1e-9)


def test_one_cluster_is_a_possible_answer():
    one = AutoMixture(max_clusters=5, random_state=0).fit(RNG.normal(size=(300, 3)))
    assert one.n_clusters_ == 1
    assert one.verdict_.startswith("No cluster structure")


def test_isotropic_clusters_of_equal_weight_are_k_means():
    chosen = AutoMixture(max_clusters=6, shapes=["isotropic"], random_state=0).fit(X)
    assert isinstance(chosen.best_estimator_, KMeans)
    assert chosen.n_clusters_ == 3 and chosen.shape_ == "isotropic"


@pytest.mark.parametrize("proposer", ["x-means", "g-means"])
def test_splits_may_be_proposed_by_a_test(proposer):
    chosen = AutoMixture(random_state=0, proposer=proposer).fit(X)
    assert chosen.n_clusters_ == 3
    # Paths end where no cluster fails the test; leaders are varied by one.
    assert max(chosen.results_["n_clusters"]) <= 4


def test_what_other_rows_might_say_is_plausible():
    rng = np.random.default_rng(1)
    near = np.concatenate([rng.normal(c, 1.0, (40, 2)) for c in (0.0, 2.3)])
    assert {1, 2} <= {*AutoMixture(max_clusters=4, random_state=0).fit(near).plausible_}


def test_what_other_criteria_say_is_plausible():
    rng = np.random.default_rng(2)
    skewed = np.concatenate([c + rng.gamma(4.0, size=(400, 2)) for c in (0.0, 20.0)])
    chosen = AutoMixture(max_clusters=8, random_state=0).fit(skewed)
    assert chosen.n_clusters_ == 2 < chosen.agreement_["bic"]
    assert chosen.agreement_["bic"] in chosen.plausible_


def test_groups_are_plausible_though_one_cluster_is_the_answer():
    chosen = AutoMixture(random_state=0).fit(load_breast_cancer().data)
    assert chosen.n_clusters_ == 1 < chosen.agreement_["modes"]
    assert chosen.agreement_["modes"] in chosen.plausible_
    assert "about as good" in chosen.verdict_


def test_a_few_rows_beside_a_group_are_none():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 2))
    beside = [6.0, 0.0] + 0.3 * rng.normal(size=(4, 2))
    found = AutoMixture(max_clusters=5, random_state=0).fit(np.vstack([rows, beside]))
    assert found.n_clusters_ == 1


def test_a_shape_is_found():
    stretched = X * [1.0, 1.0] + 0.0
    stretched[:70] = stretched[:70] @ np.array([[3.0, 1.0], [1.0, 0.5]])
    chosen = AutoMixture(max_clusters=6, random_state=0).fit(stretched)
    assert chosen.shape_ == "full"
    assert isinstance(chosen.best_estimator_, GaussianMixture)


def test_neither_order_nor_repetition_of_rows_matters():
    order = RNG.permutation(len(X))
    same(CHOSEN, AutoMixture(max_clusters=6, random_state=0).fit(X[order]))
    weights = RNG.integers(0, 3, size=len(X))
    weighted = AutoMixture(max_clusters=4, random_state=0)
    weighted.fit(X, sample_weight=weights)
    repeated = AutoMixture(max_clusters=4, random_state=0)
    same(weighted, repeated.fit(np.repeat(X, weights, axis=0)))


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_any_number_of_threads_gives_the_same_bits(n_jobs):
    before = native.get_num_threads()
    used = set()
    chosen = AutoMixture(max_clusters=6, n_jobs=n_jobs, random_state=0)
    chosen.fit(X, progress=lambda trial: used.add(native.get_num_threads()))
    same(CHOSEN, chosen)
    assert used == {n_jobs if n_jobs > 0 else allowed_threads()}
    assert native.get_num_threads() == before


def test_rows_of_a_file_are_rows(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    data = open_data(tmp_path / "rows.npy", memory=2**20)
    same(CHOSEN, AutoMixture(max_clusters=6, random_state=0).fit(data))


def test_a_sample_is_searched_and_all_rows_judge(monkeypatch):
    monkeypatch.setattr("cprime.selection.choice.MOST_ROWS", 150)
    monkeypatch.setattr("cprime.estimators.auto.MOST_ROWS", 150)
    chosen = AutoMixture(max_clusters=5, random_state=0).fit(X)
    assert chosen.n_clusters_ == 3
    assert {*chosen.results_["weight"]} == {150.0, 210.0}
    assert "150 of 210 rows were searched" in chosen.verdict_


def test_it_tells_what_it_tries():
    trials = []
    AutoMixture(max_clusters=3, random_state=0).fit(X, progress=trials.append)
    assert [t.n_tried for t in trials] == list(range(1, len(trials) + 1))
    assert {t.n_clusters for t in trials} == {1, 2, 3}


def test_an_interrupt_leaves_the_best_so_far():
    def interrupt(trial):
        if trial.n_clusters == 4:
            raise KeyboardInterrupt

    chosen = AutoMixture(max_clusters=6, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        chosen.fit(X, progress=interrupt)
    assert chosen.n_clusters_ == 3
    assert chosen.predict(X).shape == (210,)


def test_the_limit_is_said_if_it_was_met():
    limited = AutoMixture(max_clusters=2, random_state=0).fit(X)
    assert "raise max_clusters" in limited.verdict_


@pytest.mark.parametrize(
    "rows",
    [
        np.ones((1, 2)),
        np.ones((50, 2)),
        np.column_stack([X[:, 0], np.ones(len(X))]),
        X[:2],
    ],
    ids=["one row", "equal rows", "a constant column", "two rows"],
)
@pytest.mark.filterwarnings("ignore:The covariance of cluster")
@pytest.mark.filterwarnings("ignore:Every row lies on")
def test_few_or_equal_rows_have_an_answer(rows):
    chosen = AutoMixture(max_clusters=500, random_state=0).fit(rows)
    assert 1 <= chosen.n_clusters_ <= len(rows)


@pytest.mark.filterwarnings("ignore:The covariance of cluster")
@pytest.mark.parametrize("value", [0.0, 1.0, -1e6])
def test_a_constant_column_changes_nothing(value):
    rows = np.concatenate([RNG.normal(c, 1.0, (80, 1)) for c in (0.0, 9.0, 18.0)])
    constant = np.full((240, 2), value)
    chosen = AutoMixture(max_clusters=6, random_state=0)
    assert chosen.fit(np.hstack([rows, constant])).n_clusters_ == 3
    few_values = np.column_stack([np.arange(50.0) % 7, np.full(50, value)])
    assert chosen.fit(few_values).n_clusters_ == 1


def test_values_that_many_rows_share_are_no_cluster():
    rounded = np.round(RNG.normal(size=(300, 2)), 0)
    assert AutoMixture(max_clusters=6, random_state=0).fit(rounded).n_clusters_ == 1


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="should be 'all' or some of iso"):
        AutoMixture(shapes=["round"]).fit(X)
    with pytest.raises(ValueError, match="NaN at row 0, column 1"):
        AutoMixture().fit(np.array([[1.0, np.nan], [2.0, 3.0]]))
    for scale, word in ((1e200, "large"), (1e-200, "small")):
        with pytest.raises(ValueError, match=f"are too {word} for float64.*Rescale X"):
            AutoMixture().fit(scale * X)
    with pytest.raises(ValueError, match=r"needs 5 different rows .* X has 4"):
        AutoMixture(criterion="held_out").fit(np.repeat(X[:4], 3, axis=0))
    with pytest.raises(ValueError, match="All sample_weight are zero"):
        AutoMixture().fit(X, sample_weight=np.zeros(len(X)))
    with pytest.raises(ValueError, match="0 sample"):
        AutoMixture().fit(np.empty((0, 2)))
    with pytest.raises(ValueError, match="max_clusters"):
        AutoMixture(max_clusters=0).fit(X)
    with pytest.raises(ValueError, match="shapes"):
        AutoMixture(shapes=[]).fit(X)
    with pytest.raises(ValueError, match="shapes"):
        AutoMixture(shapes="diag").fit(X)
    with pytest.raises(ValueError, match="criterion"):
        AutoMixture(criterion="aic").fit(X)
