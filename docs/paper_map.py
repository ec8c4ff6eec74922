"""Writes the page that leads from the paper to the code: `python docs/paper_map.py`.

Each entry names a function, which is imported, and the laws that test it, which are
looked for: one that moves, or is renamed, breaks the page, and the test that makes it.
"""

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
PAGE = HERE / "paper.md"
LAWS = HERE.parent / "tests" / "laws"


class Entry(NamedTuple):
    """A part of the paper, what of the code it is, and which laws hold it."""

    where: str
    what: str
    code: str
    laws: str


EQUATIONS = (
    Entry(
        "Eq. 1",
        "objective J of k-means",
        "cprime.stats:Stats",
        "one_cluster_per_row_is_lloyd",
    ),
    Entry(
        "Eq. 2",
        "the mixture",
        "cprime.models.isotropic:Isotropic",
        "closed_forms_of_free_energy_agree",
    ),
    Entry(
        "Eq. 3",
        "log-likelihood L",
        "cprime.bounds:log_likelihood",
        "gap_is_a_kl_divergence",
    ),
    Entry(
        "Eqs. 4, 5",
        "truncated posterior q",
        "cprime.truncation:Truncated.normalise",
        "more_clusters_mean_more_free_energy",
    ),
    Entry(
        "Eq. 6",
        "M-step",
        "cprime.models.isotropic:Isotropic.maximize",
        "free_energy_never_falls",
    ),
    Entry(
        "Eq. 7",
        "free energy F",
        "cprime.bounds:free_energy",
        "closed_forms_of_free_energy_agree",
    ),
    Entry(
        "Eq. 8",
        "a closer cluster raises F",
        "cprime.kernels.reference:posterior",
        "closest_clusters_maximise_free_energy",
    ),
    Entry(
        "Eq. 9", "joint p(c, y)", "cprime.theta:Coefficients.log_joint", "kernels_agree"
    ),
    Entry(
        "Eqs. 10, 11",
        "q and M-step at C' = 1",
        "cprime.search:Exact",
        "one_cluster_per_row_is_lloyd",
    ),
    Entry(
        "Eq. 12",
        "variance of k-means",
        "cprime.models.isotropic:Isotropic.finalize",
        "variance_may_wait_until_the_end",
    ),
    Entry(
        "Eq. 13",
        "F of k-means from its variance",
        "cprime.bounds:free_energy_of_variance",
        "closed_forms_of_free_energy_agree",
    ),
    Entry(
        "Eqs. 14, 16", "L - F of k-means", "cprime.bounds:gap", "gap_is_a_kl_divergence"
    ),
    Entry(
        "Eq. 15",
        "F from Eq. 7, step by step",
        "cprime.bounds:free_energy",
        "closed_forms_of_free_energy_agree",
    ),
    Entry(
        "Eq. 17",
        "F of k-means from J",
        "cprime.bounds:free_energy_of_quantization_error",
        "closed_forms_of_free_energy_agree",
    ),
    Entry(
        "Eq. 18",
        "F of k-means-C' from its entropy",
        "cprime.bounds:free_energy_of_entropy",
        "entropy_completes_the_free_energy",
    ),
    Entry(
        "Eq. 19",
        "reluctance of lazy-k-means",
        "cprime.search:Lazy",
        "lazy_k_means_raises_free_energy",
    ),
    Entry(
        "Eq. 20 (Suppl. B)",
        "classification likelihood",
        "cprime.bounds:free_energy",
        "classification_likelihood_is_free_energy_of_k_means",
    ),
    Entry(
        "Eqs. 21, 23",
        "F in its standard form",
        "cprime.bounds:variational_free_energy",
        "closed_forms_of_free_energy_agree",
    ),
    Entry(
        "Eq. 22",
        "hard q",
        "cprime.kernels.reference:nearest",
        "the_label_is_the_likeliest_cluster",
    ),
    Entry(
        "Eqs. 24 to 26 (Suppl. C)",
        "general mixtures",
        "cprime.models.gaussian:Gaussian",
        "general_mixtures_raise_free_energy",
    ),
    Entry(
        "Eq. 27",
        "which clusters a row keeps there",
        "cprime.theta:Coefficients",
        "kernels_agree_on_general_mixtures",
    ),
)
STATEMENTS = (
    Entry(
        "Prop. 1",
        "F rises if and only if the new cluster is closer",
        "cprime.kernels.reference:posterior",
        "closest_clusters_maximise_free_energy",
    ),
    Entry(
        "Cor. 1",
        "F is highest for the C' closest clusters",
        "cprime.search:Exact",
        "closest_clusters_maximise_free_energy",
    ),
    Entry(
        "Prop. 2",
        "at C' = 1 it is k-means, whatever the variance",
        "cprime.estimators.kmeans:KMeans",
        "one_cluster_per_row_is_lloyd, variance_may_wait_until_the_end",
    ),
    Entry(
        "Prop. 3",
        "F of k-means, and its gap",
        "cprime.bounds:gap_per_row",
        "gap_is_a_kl_divergence",
    ),
    Entry(
        "Cor. 2",
        "k-means raises a bound on L",
        "cprime.bounds:free_energy_of_quantization_error",
        "closed_forms_of_free_energy_agree, free_energy_never_falls",
    ),
    Entry(
        "Prop. 4",
        "an entropy completes F of k-means-C'",
        "cprime.bounds:free_energy_of_entropy",
        "entropy_completes_the_free_energy",
    ),
    Entry(
        "Suppl. C",
        "with general covariances C' = 1 is not k-means",
        "cprime.estimators.mixture:GaussianMixture",
        "one_cluster_of_a_general_mixture_is_not_k_means",
    ),
    Entry(
        "Prop. of Suppl. D",
        "lazy-k-means raises the same F",
        "cprime.search:Lazy",
        "lazy_k_means_raises_free_energy",
    ),
)
ALGORITHMS = (
    Entry(
        "Alg. 1",
        "k-means",
        "cprime.lloyd:fits",
        "one_cluster_per_row_is_lloyd, unwatched_fits_are_those_of_the_loop",
    ),
    Entry(
        "Alg. 2", "EM for the mixture", "cprime.em:steps", "all_clusters_per_row_is_em"
    ),
    Entry("Alg. 3", "k-means-C'", "cprime.em:steps", "free_energy_never_falls"),
    Entry(
        "Sec. 4",
        "soft-k-means",
        "cprime.estimators.soft:SoftKMeans",
        "soft_k_means_has_a_fixed_variance",
    ),
    Entry(
        "Sec. 4",
        "lazy-k-means",
        "cprime.search:Lazy",
        "lazy_k_means_raises_free_energy",
    ),
    Entry(
        "Sec. 4",
        "fuzzy k-means",
        "cprime.estimators.fuzzy:FuzzyKMeans",
        "fuzzy_k_means_never_raises_its_objective, "
        "entropic_fuzzy_k_means_is_soft_k_means",
    ),
    Entry(
        "Sec. 5",
        "k-means++",
        "cprime.seeding:kmeans_plus_plus",
        "symmetries_of_the_rows_are_symmetries_of_the_fit",
    ),
    Entry(
        "Suppl. C",
        "mixtures of any covariances",
        "cprime.estimators.mixture:GaussianMixture",
        "all_clusters_of_general_mixtures_is_em",
    ),
)
HEADER = "| paper | what | in the code | laws |\n|---|---|---|---|\n"
SECTIONS = {
    "Equations": EQUATIONS,
    "Propositions and corollaries": STATEMENTS,
    "Algorithms": ALGORITHMS,
}
TITLE = """# From the paper to the code

Where every equation, proposition and algorithm of J. Lücke and D. Forster, *k-means as
a variational EM approximation of Gaussian mixture models* (2019), is in the code, and
which laws among the tests (`tests/laws`) hold it. Equations are counted through the
supplement. Tables and figures are on [a page of their own](reproduction/index.md).
"""


def found(code: str) -> Any:
    """Return what a name like `cprime.bounds:gap` stands for, where it is defined."""
    module, _, name = code.partition(":")
    thing: Any = import_module(module)
    for part in name.split("."):
        thing = getattr(thing, part)
    if thing.__module__ != module:
        raise AttributeError(f"{code} is defined in {thing.__module__}")
    return thing


def described(code: str) -> str:
    """Return the first sentence that a function says of itself."""
    text = inspect.getdoc(found(code)) or ""
    return " ".join(text.split("\n\n")[0].split())


def law_file(name: str) -> Path:
    """Return the file of a law, which has to be there."""
    file = LAWS / f"test_{name}.py"
    if not file.is_file():
        raise FileNotFoundError(f"there is no law {name}")
    return file


def page() -> str:
    """Return the page."""
    text = TITLE
    for section, entries in SECTIONS.items():
        text += f"\n## {section}\n\n{HEADER}"
        text += "".join(f"{_line(entry)}\n" for entry in entries)
    return text


def _line(entry: Entry) -> str:
    code = f"`{entry.code.replace(':', '.')}`: {described(entry.code)}"
    laws = [law_file(name).stem for name in entry.laws.split(", ")]
    shown = ", ".join(name.removeprefix("test_").replace("_", " ") for name in laws)
    return f"| {entry.where} | {entry.what} | {_plain(code)} | {shown} |"


def _plain(text: str) -> str:
    return text.replace("|", r"\|")


if __name__ == "__main__":
    PAGE.write_text(page())
