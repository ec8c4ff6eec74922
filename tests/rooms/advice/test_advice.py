"""Numbers become words: verdicts, warnings, names."""

import math
import unicodedata

import numpy as np
import pytest

from cprime import advice
from cprime.advice import of_choice, of_comparison, of_data, of_fits, verdicts, wording
from cprime.advice.cluster_names import cluster_name

NAMES = ["a", "b", "c"]


def said(finding):
    return f"{finding.headline} {finding.text}"


# ---- verdicts ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gap", "level", "headline"),
    [
        (0.0, "good", "Labels are clear."),
        (0.00999, "good", "Labels are clear."),
        (0.01, "fair", "Most labels are clear."),
        (0.0999, "fair", "Most labels are clear."),
        (0.1, "poor", "Hard labels lose information."),
    ],
)
def test_hard_assignment_is_judged_by_the_nats_it_loses(gap, level, headline):
    finding = advice.hard_assignment(gap)
    assert (finding.level, finding.headline) == (level, headline)
    assert wording.nats(gap) in finding.text


def test_a_gap_is_said_as_a_share_of_probability():
    # Minus the mean log of what a row's own cluster has: its geometric mean.
    of_own = np.array([0.9, 0.5, 0.8])
    gap = -np.log(of_own).mean()
    finding = advice.hard_assignment(gap, n_ambiguous=1, n_rows=3)
    assert f"has {wording.share(of_own.prod() ** (1 / 3))} of a row's" in finding.text
    assert "1 row (33 %) is ambiguous" in finding.text


@pytest.mark.parametrize(
    ("gap", "n_ambiguous", "headline"),
    [
        (0.001, 0, "Labels are clear."),
        (0.001, 1, "Nearly all labels are clear; 1.0 % are ambiguous."),
        (0.05, 11, "Most labels are clear; 11 % are ambiguous."),
        (0.3, 59, "Hard labels lose information; 59 % are ambiguous."),
    ],
)
def test_a_headline_has_the_share_of_ambiguous_labels(gap, n_ambiguous, headline):
    finding = advice.hard_assignment(gap, n_ambiguous=n_ambiguous, n_rows=100)
    assert finding.headline == headline


def test_what_is_not_known_is_not_judged():
    assert advice.hard_assignment(None).level == "unknown"
    assert advice.which_c_prime({}, 5, 2).level == "unknown"
    assert advice.restarts(None).level == "unknown"
    assert advice.restarts([-1.0]).level == "unknown"


GAPS = {1: 0.2, 2: 0.03, 3: 0.008, 5: 1e-5}


def test_the_smallest_sufficient_c_prime_is_recommended():
    assert advice.recommended_c_prime(GAPS) == 3
    assert advice.recommended_c_prime(GAPS, threshold=0.05) == 2
    assert advice.recommended_c_prime({1: 0.2, 2: 0.01}) is None
    assert advice.recommended_c_prime({5: 0.0, 1: 0.0}) == 1


@pytest.mark.parametrize(
    ("fitted", "level", "headline"),
    [
        (1, "poor", "Use C' = 3."),
        (2, "fair", "Use C' = 3."),
        (3, "good", "Use C' = 3."),
        (20, "good", "C' = 3 is enough."),
    ],
)
def test_which_c_prime_depends_on_that_of_the_fit(fitted, level, headline):
    finding = advice.which_c_prime(GAPS, 20, fitted)
    assert (finding.level, finding.headline) == (level, headline)
    assert "0.0080 at C' = 3" in finding.text and "C' = 5" not in finding.text
    assert ("fit again with c_prime=3" in finding.text) == (fitted in (1, 2))


def test_where_nothing_suffices_more_clusters_are_kept():
    finding = advice.which_c_prime({1: 1.0, 2: 0.5}, 20, 1)
    assert finding.level == "poor"
    assert finding.headline == "Keep more than 2 of the 20 clusters per row, or all."


def test_one_cluster_is_exact():
    assert advice.which_c_prime({}, 1, 1).headline == "Use C' = 1."


def test_one_fit_with_one_cluster_a_row_says_what_else_to_try():
    gaps = {1: 0.001, 2: 0.0001}
    assert "C' = 2 may end at better" in advice.which_c_prime(gaps, 5, 1).text


def compared(seconds, of_em=2.0, likelihood_of_em=-5.0, gap=0.004, C=20):
    fits = [
        of_comparison.Compared(1, 0.2, -5.1, 0.5),
        of_comparison.Compared(3, gap, -5.0, seconds),
        of_comparison.Compared(C, 0.0, likelihood_of_em, of_em),
    ]
    return of_comparison.best_of(fits, C)


@pytest.mark.parametrize(
    ("seconds", "of_em", "best", "words"),
    [
        (1.0, 2.0, 3, "It took 1 s; EM, which loses nothing, 2 s."),
        (2.0, 2.0, 20, "as fast here: it took 2 s, C' = 3 2 s"),
        (9.0, 2.0, 20, "as fast here: it took 2 s, C' = 3 9 s"),
        (0.01, 0.2, 20, "takes only 0.2 s here"),
    ],
)
def test_a_comparison_weighs_time(seconds, of_em, best, words):
    c_prime, finding = compared(seconds, of_em)
    assert c_prime == best and words in finding.text
    assert "C' = 3 is the smallest with a gap below 0.01" in finding.text
    assert finding.headline == (
        "Use C' = 3." if best == 3 else "Use all 20 clusters: EM."
    )


def test_em_that_ended_worse_is_not_advised():
    c_prime, finding = compared(9.0, 2.0, likelihood_of_em=-5.05)
    assert c_prime == 3 and "lower likelihood" in finding.text


def test_a_comparison_that_was_stopped_says_what_it_knows():
    fits = [of_comparison.Compared(1, 0.2, -5.0, 1.0)]
    c_prime, finding = of_comparison.best_of(fits, 9)
    assert c_prime is None and "more than 1 of the 9" in finding.headline
    fits.append(of_comparison.Compared(2, 0.002, -5.0, 1.0))
    assert of_comparison.best_of(fits, 9)[0] == 2


def test_k_means_is_advised_where_it_is_enough():
    fits = [of_comparison.Compared(c, 0.001, -5.0, 1.0 / c) for c in (1, 2, 5)]
    c_prime, finding = of_comparison.best_of(fits, 5)
    assert c_prime == 1 and finding.headline == "Use C' = 1: k-means."
    assert "try" not in finding.text


@pytest.mark.parametrize(
    ("of_em", "seconds", "best", "words"),
    [
        (-4.8, 0.4, 5, "EM ended at a likelihood higher by 0.200 nats per row. C' = 1"),
        (-4.8, 9.0, 1, "EM 9 s. EM ended at a likelihood higher by 0.200 nats"),
        (-4.995, 0.4, 1, "It took 1 s, EM 0.4 s."),
    ],
)
def test_k_means_is_not_advised_where_em_is_better_and_quick(
    of_em, seconds, best, words
):
    fits = [
        of_comparison.Compared(1, 0.001, -5.0, 1.0),
        of_comparison.Compared(5, 0.0, of_em, seconds),
    ]
    c_prime, finding = of_comparison.best_of(fits, 5)
    assert c_prime == best and words in finding.text


def test_fewer_clusters_say_what_they_rest_on():
    finding = of_choice.fewer(8, 3, 2000, 2000)
    assert "3 instead of 8" in finding.headline and "sample" not in finding.text
    assert "sample of 2,000 rows" in of_choice.fewer(8, 3, 2000, 2001).text


@pytest.mark.parametrize(
    ("energies", "level", "headline"),
    [
        ([-5.0, -5.0005, -5.009], "good", "All 3 restarts agree."),
        ([-5.0, -5.0005, -5.2], "fair", "2 of 3 restarts agree."),
        ([-5.0, -5.02, -5.2], "poor", "The best of 3 restarts was found only once."),
    ],
)
def test_restarts_agree_if_they_end_within_what_matters(energies, level, headline):
    finding = advice.restarts(np.array(energies))
    assert (finding.level, finding.headline) == (level, headline)
    assert wording.nats(max(energies) - min(energies)) in finding.text


# ---- warnings ------------------------------------------------------------------


@pytest.mark.parametrize(
    "finding",
    [
        of_fits.unconverged(True, 7, 300),
        of_fits.unconverged(None, 7, 300),
        of_fits.empty_clusters([3, 4]),
        of_fits.tiny_clusters([10, 200, 300]),
        # Small clusters are what was asked for: 4 rows each, if even.
        of_fits.tiny_clusters([2, 4, 6]),
        of_fits.tiny_clusters([4, 40], needed=4),
        of_fits.dominating_cluster([950, 50]),
        of_fits.dominating_cluster([800, 100, 100]),
        of_fits.relocated(0),
        of_fits.collapsed(0, 5),
        of_fits.points(1.0, 2.0),
        of_fits.coincident_clusters([], 0.5),
        of_fits.few_rows(100, 100),
        of_data.unequal_scales(NAMES, [1.0, 99.0, 50.0], True),
        # A column or two that hardly change: the edges of images.
        of_data.unequal_scales("abcde", [1e-9, 0.1, 50.0, 60.0, 70.0], True),
        of_data.unequal_scales(NAMES, [1.0, 1e9, 50.0], False),
        of_data.unequal_scales(NAMES, [0.0, 0.0, 50.0], True),
        of_data.constant_columns(NAMES, [1.0, 1e-300, math.nan]),
        of_data.extreme_values(NAMES, [3.0, 29.0, 0.0], [0, 1, 2]),
        of_data.outliers(9, 1000),
        of_data.outliers(3, 20),
        of_data.missing_values(0, 300),
        of_data.other_rows(-5.0, -5.0000001),
        of_data.other_rows(-5.0, None),
        of_data.other_rows(math.nan, -5.0),
    ],
)
def test_nothing_is_said_where_all_is_well(finding):
    assert finding is None


@pytest.mark.parametrize(
    ("finding", "level", "words_in_it"),
    [
        (of_fits.unconverged(False, 300, 300), "poor", ["300 iterations", "max_iter"]),
        (of_fits.empty_clusters([3, 0]), "poor", ["1 of 2 clusters is empty", "r 1."]),
        (
            of_fits.empty_clusters([0, 3, 0]),
            "poor",
            ["2 of 3 clusters are empty", "clusters 0 and 2"],
        ),
        (
            of_fits.tiny_clusters([9, 200, 300]),
            "fair",
            ["1 of 3 clusters has fewer than 10 rows", "It is cluster 0."],
        ),
        (
            of_fits.tiny_clusters([1, 4, 6]),
            "fair",
            ["fewer than 2 rows"],
        ),
        (
            of_fits.tiny_clusters([30, 30, 300], needed=31),
            "poor",
            ["2 of 3 clusters have fewer than 31 rows", "covariance"],
        ),
        (of_fits.dominating_cluster([1, 950, 2]), "poor", ["Cluster 1 holds 99.7 %"]),
        (of_fits.relocated(1), "fair", ["once"]),
        (of_fits.relocated(1234), "fair", ["1,234 times"]),
        (of_fits.collapsed(1, 5), "poor", ["1 of 5 clusters is", "reg_covar"]),
        (of_fits.points(1e-30, 1.0), "poor", ["no width"]),
        (of_fits.points(1e-30, 0.0), "poor", ["no width"]),
        (
            of_fits.coincident_clusters([(1, 4)], 0.981),
            "poor",
            ["1 pair of clusters nearly coincides", "1 with 4", "98 %"],
        ),
        (of_fits.few_rows(99, 1000), "poor", ["1,000 numbers", "99 rows"]),
        (
            of_data.unequal_scales(NAMES, [1.0, 2.0, 5000.0], True),
            "poor",
            [
                "'c' has a standard deviation of 5000, 'a' of 1: 2 of 3 columns",
                "Unless 'c' is meant to decide, standardise",
            ],
        ),
        (
            of_data.unequal_scales("abcd", [1.0, 2.0, 5000.0, 4000.0], True),
            "fair",
            ["2 of 4 columns hardly count", "If all columns should count, stand"],
        ),
        (of_data.constant_columns(NAMES, [1.0, 0.0, 2.0]), "fair", ["'b' cannot"]),
        (
            of_data.extreme_values(NAMES, [31.0, 400.0, 2.0], [7, 8, 9]),
            "fair",
            ["In row 8, 'b' is 400", "2 columns have such values"],
        ),
        (of_data.outliers(11, 1000), "fair", ["1.1 % of the rows", "99.9 %"]),
        (of_data.outliers(4, 20), "fair", ["4 rows lie farther"]),
        (of_data.missing_values(3, 300), "fair", ["1.0 % of all values"]),
        (
            of_data.other_rows(-5.9, -6.0),
            "fair",
            ["not exactly the rows the model was fitted to"],
        ),
        (
            of_data.other_rows(-26.0, -6.0),
            "poor",
            ["not the rows the model was fitted to"],
        ),
        (
            of_data.row_numbers(["id"]),
            "poor",
            ["1 column is a row number", "'id' rises"],
        ),
        (of_data.row_numbers(["a", "b"]), "poor", ["2 columns are row numbers"]),
        (of_data.identifiers(["id"]), "fair", ["may be an id", "leave such columns"]),
        (of_fits.unconverged(False, 9, 300), "poor", ["interrupted", "9 iterations"]),
        (verdicts.which_c_prime({1: 0.02}, 4, 1), "unknown", ["Give the rows"]),
    ],
)
def test_warnings_name_numbers_and_what_to_do(finding, level, words_in_it):
    assert finding.level == level
    for part in words_in_it:
        assert part in said(finding)


# ---- words ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("age", "age"),
        ("Größe in cm", "Größe in cm"),
        (7, "7"),
        ("a\tb\r\n  c", "a b c"),
        ("", "(no name)"),
        ("\u200b\u2066", "(no name)"),
        ("ev\u202eil", "evil"),
        (
            "be\x07ep\x1b[31m",
            "be\N{REPLACEMENT CHARACTER}ep\N{REPLACEMENT CHARACTER}[31m",
        ),
        ("half \ud800", "half \N{REPLACEMENT CHARACTER}"),
        ("हिन्दी", "हिन्दी"),
        ("x" + "\u0302" * 50, unicodedata.normalize("NFC", "x\u0302\u0302")),
    ],
)
def test_names_become_one_visible_line(name, shown):
    assert wording.plain(name) == shown


def test_long_names_keep_their_ends():
    shown = wording.plain("beginning " + "x" * 1_000_000 + " end")
    assert len(shown) == 40
    assert shown.startswith("beginning x") and shown.endswith("x end")
    assert wording.ELLIPSIS in shown
    assert wording.plain("x" * 40) == "x" * 40


def test_numbers_have_the_digits_that_matter():
    assert [wording.nats(v) for v in (0.0, 1e-9, 0.0733, 0.4321, 12.3456)] == [
        "0",
        "less than 0.0001",
        "0.0733",
        "0.432",
        "12.346",
    ]
    assert [
        wording.number(v) for v in (0.0, 1234.5678, 0.00012346, 123456.7, -3e20)
    ] == [
        "0",
        "1235",
        "0.0001235",
        "123,457",
        f"{wording.MINUS}3e+20",
    ]
    assert wording.number(math.nan) == "missing"
    gaps = [wording.gap(v) for v in (0.0, 1.675e-36, 4.608e-08, 0.0104)]
    assert gaps == ["0.0000", "< 1e-9", "4.608e-08", "0.0104"]
    assert wording.brief(wording.nats(1e-9)) == "< 0.0001"
    assert wording.signed(-1.26) == f"{wording.MINUS}1.3"


def test_shares_are_nothing_or_all_only_if_they_are():
    shares = [0.0, 1e-9, 0.0005, 0.031, 0.5, 0.996, 1.0 - 1e-12, 1.0]
    assert [wording.share(value) for value in shares] == [
        "0 %",
        "less than 0.01 %",
        "0.05 %",
        "3.1 %",
        "50 %",
        "99.6 %",
        "more than 99.9 %",
        "100 %",
    ]
    assert wording.share(0, 0) == "0 %"


def test_lists_are_said_in_one_breath():
    assert wording.listing([]) == ""
    assert wording.listing([1]) == "1"
    assert wording.listing([1, 2]) == "1 and 2"
    assert wording.listing(range(7)) == "0, 1, 2, 3, 4, 5 and 6"
    assert wording.listing(range(1000)) == "0, 1, 2, 3, 4, 5 and 994 more"
    assert wording.clusters([3]) == "cluster 3"
    assert (
        wording.count(1, "row") == "1 row"
        and wording.count(1e4, "row") == "10,000 rows"
    )


# ---- choices -------------------------------------------------------------------


@pytest.mark.parametrize(
    "bic, level, words",
    [
        (120.0, "poor", "One cluster describes these rows better."),
        (100.0, "poor", "lower is better: these 4 divide rows that may be one group"),
        (95.0, "fair", "a difference below 10 is no evidence"),
        (20.0, "good", "4 clusters describe these rows better than one."),
    ],
)
def test_clusters_are_held_against_one(bic, level, words):
    finding = of_choice.against_one(4, bic, 100.0)
    assert finding.level == level
    assert words in f"{finding.headline} {finding.text}"


def test_a_choice_in_words():
    assert of_choice.how_many(1, "full", [1], 4).text.startswith("With more clusters")
    assert of_choice.how_many(1, "full", [1]).text.startswith("More clusters do not")
    finding = of_choice.how_many(15, "isotropic", [14, 15, 16])
    assert finding.headline == "15 spherical clusters of equal size."
    assert finding.text == "14 and 16 are about as good."
    assert of_choice.about_as_good([]) == ""
    assert of_choice.about_as_good([3]) == "3 is about as good."
    assert of_choice.by_number({"bic": 3, "icl": 2, "modes": 3}) == (
        "3 by BIC and modes; 2 by ICL"
    )


def test_few_rows_in_words():
    assert of_choice.few_rows(4, 178.0, 107).headline == "The rows are few."
    assert of_choice.few_rows(4, 321.0, 107) is None
    assert of_choice.few_rows(1, 10.0, 20) is None


def test_parts_that_are_no_groups_in_words():
    one = of_choice.agreement({"bic": 3, "icl": 1, "modes": 1})
    assert one.headline == "3 Gaussians, but only 1 group."
    assert "it is one group that is not Gaussian, or with heavy tails" in one.text
    two = of_choice.agreement({"bic": 8, "icl": 2, "modes": 2})
    assert "8 Gaussians to describe, in 2 groups with valleys" in two.text
    assert of_choice.agreement({"bic": 2, "icl": 2, "modes": 2}) is None


@pytest.mark.parametrize(
    ("assigned", "icl", "bic", "words"),
    [
        (3, 2, 2, "Rows can be assigned to 3 groups, but only 2 are clearly apart."),
        (3, 1, 3, "to 3 groups, but none is clearly apart from the others."),
        (2, 2, 4, "There are 2 to 4 of them, depending on how much overlap counts."),
    ],
)
def test_criteria_that_disagree_in_words_without_their_names(assigned, icl, bic, words):
    says = {"bic_free_energy": assigned, "icl": icl, "bic": bic, "modes": bic}
    finding = of_choice.agreement(says)
    assert finding.headline == "Some groups overlap."
    assert finding.text.endswith(words)


def test_scaling_in_words():
    other, same = of_choice.scaling(2, 4), of_choice.scaling(4, 4)
    assert f"{other.headline} {other.text}".startswith(
        "The answer depends on scaling: standardised, it would be 4."
    )
    assert same.level == "good" and "it would be 4 too" in same.text


# ---- names of clusters -----------------------------------------------------------


def test_a_cluster_is_named_by_what_sets_it_apart_with_values():
    names, values = ["age", "income", "height", "rooms"], [61.5, 12000, 170.0, 2.0]
    name = cluster_name(names, [1.5, -0.8, 0.2, 0.3], values)
    assert name == "very high age (61.5), low income (12,000), high rooms (2)"


def test_a_cluster_like_all_rows_says_so():
    name = cluster_name(["a", "b"], [0.24, -0.1], [1.0, 2.0])
    assert name == "close to the average of all rows"


def test_names_of_columns_are_made_plain():
    assert "\n" not in cluster_name(["a\nb"], [3.0], [1.0])
