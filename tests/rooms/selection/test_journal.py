"""A search that is gone through again computes nothing twice."""

from cprime.selection.journal import FORGETS, KeptJournal


def refuse():
    raise AssertionError("this is known")


def test_what_is_known_is_not_computed_and_what_is_new_is_kept():
    kept = []
    journal = KeptJournal([(5.0, "a"), (7.0, "b")], lambda: kept.append(1))
    assert [journal.recall(refuse), journal.recall(refuse)] == ["a", "b"]
    assert kept == []
    assert journal.recall(lambda: "c") == "c"
    assert [value for _, value in journal.entries] == ["a", "b", "c"]
    assert kept == [1]


def test_seconds_are_those_the_search_took():
    journal = KeptJournal([(5.0, "a"), (7.0, "b")], lambda: None)
    began = journal.now()
    journal.recall(refuse)
    journal.recall(refuse)
    assert 12.0 <= journal.now() - began < 13.0


def test_a_search_that_is_not_kept_remembers_nothing():
    assert [FORGETS.recall(lambda: 1), FORGETS.recall(lambda: 2)] == [1, 2]
