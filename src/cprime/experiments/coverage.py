"""What the paper's text claims, sentence by sentence: where it is judged, or why not.

A claim is judged by a verdict, whose name begins with what stands here; or it is a
theorem and has a law among the tests; or neither, for a reason.
"""

from dataclasses import dataclass

from cprime.experiments.exhibits import Table


@dataclass(frozen=True)
class Claim:
    """One claim of the text.

    Attributes
    ----------
    where, text : str
    verdicts : tuple of str
        How the verdicts on it begin.
    laws : tuple of str
        Files in tests/laws that a theorem rests on here.
    why_not : str
        Why it is not judged, if it is not.
    """

    where: str
    text: str
    verdicts: tuple[str, ...] = ()
    laws: tuple[str, ...] = ()
    why_not: str = ""


CITED = "A result of others that is cited."
OUTLOOK = "An expectation of what others may do with it."

CLAIMS = (
    Claim(
        "Sec. 1",
        "k-means is widely used and easy to implement.",
        why_not="Not about anything that is run.",
    ),
    Claim("Sec. 1", "k-means is the limit of EM for small variances.", why_not=CITED),
    Claim(
        "Sec. 2, Eqs. 4-7",
        "Truncated EM raises F, a lower bound of L.",
        laws=(
            "test_free_energy_never_falls.py",
            "test_more_clusters_mean_more_free_energy.py",
        ),
    ),
    Claim(
        "Sec. 2",
        "Truncated posteriors are accurate for many data sets.",
        verdicts=("Suppl. A", "Fig. 1G"),
    ),
    Claim(
        "Prop. 1, Cor. 1",
        "F rises with closer clusters and is highest for the C' closest.",
        laws=("test_closest_clusters_maximise_free_energy.py",),
    ),
    Claim(
        "Prop. 2",
        "With C'=1 the updates of the means are those of k-means, whatever sigma^2.",
        laws=(
            "test_one_cluster_per_row_is_lloyd.py",
            "test_variance_may_wait_until_the_end.py",
        ),
    ),
    Claim(
        "Sec. 3", "With C'=C it is EM.", laws=("test_all_clusters_per_row_is_em.py",)
    ),
    Claim(
        "Prop. 3, Cor. 2",
        "F of k-means is a function of sigma^2, or of its objective, alone.",
        verdicts=("Section E: Eq. 7, Prop. 3",),
        laws=("test_closed_forms_of_free_energy_agree.py",),
    ),
    Claim(
        "Prop. 3",
        "The difference from L is a KL divergence, small for separate clusters.",
        verdicts=("Fig. S3B",),
        laws=("test_gap_is_a_kl_divergence.py",),
    ),
    Claim(
        "Prop. 4",
        "At convergence F has an entropy besides, zero for C'=1, largest for C'=C.",
        verdicts=("Section E: Eq. 7 and Prop. 4",),
        laws=("test_entropy_completes_the_free_energy.py",),
    ),
    Claim(
        "Sec. 4",
        "Soft-k-means is sensitive to its stiffness and start, as sigma^2 should be "
        "updated.",
        verdicts=("Section 4 suggests",),
        laws=("test_soft_k_means_has_a_fixed_variance.py",),
    ),
    Claim(
        "Sec. 4, Suppl. D",
        "Lazy-k-means raises the same F.",
        laws=("test_lazy_k_means_raises_free_energy.py",),
    ),
    Claim(
        "Sec. 4",
        "Run-time bounds of k-means and lazy-k-means carry over to bounds of L.",
        why_not="A run shows no bound on all runs; the bounds are cited.",
    ),
    Claim(
        "Sec. 4",
        "Fuzzy k-means with an entropy is related to the mixture, others less.",
        laws=("test_entropic_fuzzy_k_means_is_soft_k_means.py",),
    ),
    Claim(
        "Sec. 4, Suppl. C",
        "With general covariances C'=1 is not k-means, and clusters are chosen by all "
        "parameters.",
        laws=(
            "test_one_cluster_of_a_general_mixture_is_not_k_means.py",
            "test_general_mixtures_raise_free_energy.py",
        ),
    ),
    Claim(
        "Sec. 5, Fig. 1A",
        "Runs converge to different optima; where they end.",
        verdicts=("Fig. 1A",),
    ),
    Claim(
        "Sec. 5",
        "The best run of k-means on the grid finds all centres and exceeds the truth.",
        verdicts=("Section 5: on the grid",),
    ),
    Claim(
        "Sec. 5",
        "This overfitting decreases with N.",
        verdicts=("Section 5: this overfitting",),
    ),
    Claim(
        "Sec. 5, Fig. S3",
        "The gap is larger for worse optima, and for more overlap.",
        verdicts=("Fig. S3A", "Fig. S3B"),
    ),
    Claim(
        "Sec. 5, Fig. 1",
        "Seeded by k-means++, L is high from the start.",
        verdicts=("Fig. 1, grid: mean L at", "Fig. 1, random: mean L at"),
    ),
    Claim(
        "Sec. 5, Fig. S3",
        "k-means shifts centres where clusters overlap, C' > 1 can prevent it.",
        verdicts=("Section 5: k-means pushes",),
    ),
    Claim(
        "Sec. 5",
        "Best likelihoods with C' > 1 can be higher than those of k-means.",
        verdicts=("Section 5: on the random set",),
    ),
    Claim(
        "Sec. 5, Tab. S1",
        "On the grid the purity of DBSCAN is comparable, on the random set it is not.",
        verdicts=("Tab. S1, grid, DBSCAN", "Tab. S1, random, DBSCAN"),
    ),
    Claim(
        "Sec. 5, Fig. 1G",
        "On the protein data the gap is smaller for C'=2, and vanishes nearly for 10.",
        verdicts=("Fig. 1G",),
    ),
    Claim(
        "Fig. 1H", "The quantization error on the protein data.", verdicts=("Fig. 1H",)
    ),
    Claim("Sec. 6", "The link is relevant for future studies.", why_not=OUTLOOK),
    Claim(
        "Suppl. A, Fig. S1",
        "A truncated posterior is scaled and zero elsewhere.",
        verdicts=("Fig. S1",),
    ),
    Claim(
        "Suppl. A",
        "C'=3 is enough for basically all points, C'=2 and C'=1 for most.",
        verdicts=("Suppl. A, on the random sets",),
    ),
    Claim(
        "Suppl. B",
        "The classification likelihood is not the likelihood, but F of k-means.",
        laws=("test_classification_likelihood_is_free_energy_of_k_means.py",),
    ),
    Claim(
        "Suppl. B",
        "Earlier derivations from hard variational distributions are informal.",
        why_not="A statement about the literature.",
    ),
    Claim(
        "Suppl. C",
        "Other truncated algorithms for mixtures have no proof that F rises.",
        why_not="A statement about the literature.",
    ),
    Claim("Tab. S1", "All printed numbers.", verdicts=("Tab. S1",)),
    Claim(
        "Tab. S1",
        "Which algorithm is best in each column (bold).",
        verdicts=("Tab. S1, grid, k-means-C' less", "Tab. S1, grid, lazy-k-means less"),
    ),
    Claim(
        "Figs. 1, S2",
        "Lines of the true parameters.",
        verdicts=("Fig. 1, grid: L of the truth", "Figs. 1 and S2"),
    ),
    Claim(
        "Figs. 1 B-F, S2",
        "Curves of L, phi, purity and NMI over iterations.",
        verdicts=("Fig. S2, random",),
        why_not="Only their ends are printed, in Table S1; the curves are drawn.",
    ),
    Claim(
        "Suppl. E",
        "A lower quantization error does not mean a higher likelihood.",
        verdicts=("Fig. S2, random",),
    ),
    Claim(
        "Suppl. E",
        "On the random set k-means trades NMI for purity.",
        verdicts=("Suppl. E",),
    ),
    Claim(
        "Suppl. E",
        "C'=2 has NMI and purity near the ground truth.",
        verdicts=("Tab. S1, random, k-means-C': mean NMI, less the truth's",),
    ),
    Claim(
        "Fig. S3C",
        "For C' >= 2 the best solutions are close to identical.",
        verdicts=("Fig. S3C",),
    ),
    Claim(
        "Fig. S3C",
        "Some C' find the best solutions more often than others.",
        why_not="It says neither which nor how often.",
    ),
    Claim(
        "Fig. S4",
        "From the truth k-means raises F and lowers L; EM stays.",
        verdicts=("Fig. S4",),
    ),
    Claim(
        "Fig. S4",
        "The higher the overlap, the more pronounced.",
        verdicts=("Fig. S4, k-means: L falls",),
        why_not="The levels are of an arrangement that is not printed.",
    ),
)


def table() -> Table:
    """Return all claims, with the verdicts or laws that judge them."""
    rows = [(of.where, of.text, _judged(of), of.why_not) for of in CLAIMS]
    header = ("where", "claim", "judged by", "not judged, because")
    return Table("coverage", "What the paper's text claims", header, rows)


def _judged(claim: Claim) -> str:
    laws = (f"tests/laws/{name}" for name in claim.laws)
    return "; ".join((*claim.verdicts, *laws))
