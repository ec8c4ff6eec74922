"""Is advice good advice? What is advised, and what following it does, on many sets.

A script that prints the table of `docs/guide/advice.md`; a test of doors
holds the page to it.
"""

from dataclasses import dataclass

import numpy as np
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score

from cprime import AutoMixture, KMeans
from cprime.advice import recommended_c_prime
from cprime.advice.number_of_clusters import SomeRows, number_of_clusters
from cprime.advice.of_data import unequal_scales

SEEDS = range(5)
HEADER = (
    "| data | rows x columns | advice on scales | agreement, as it is → standardised "
    "| clusters | advice on their number | agreement, before → after "
    "| advice on C' | L, before → after |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Measured:
    """What is advised for one set, and agreement or L before and after."""

    name: str
    shape: tuple
    scales: str
    standardised: tuple
    C: int
    number: str
    renumbered: tuple
    c_prime: int
    likelihoods: tuple

    def line(self):
        """Return the line of the table."""
        kept = "1 is enough" if self.c_prime == 1 else f"keep {self.c_prime}"
        return (
            f"| {self.name} | {self.shape[0]:,} x {self.shape[1]} | {self.scales} "
            f"| {arrow(self.standardised)} | {self.C} | {self.number} "
            f"| {arrow(self.renumbered)} | {kept} | {arrow(self.likelihoods)} |"
        )


def arrow(values):
    """Return '0.37 → 0.90', or nothing if nothing was advised."""
    return " → ".join(f"{value:.2f}" for value in values).replace("-0.00", "0.00")


def grid(scales, seed=0):
    """Return four clusters along the first two columns; the other columns are noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=600)
    X = rng.standard_normal((600, len(scales)))
    X[:, :2] += 6.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[labels]
    return X * np.asarray(scales), labels


def overlapping():
    """Return three clusters of which neighbours overlap."""
    rng = np.random.default_rng(2)
    labels = rng.integers(3, size=900)
    return rng.standard_normal((900, 2)) + 2.2 * np.eye(3)[labels][:, :2] * 1.4, labels


def sets():
    """Return rows and what is known of them besides: classes, or measurements."""
    found = {}
    for name in ("iris", "wine", "digits", "breast_cancer"):
        of = getattr(datasets, f"load_{name}")()
        found[name.replace("_", " ")] = of.data, of.target
    of = datasets.load_diabetes(scaled=False)
    found["diabetes"] = of.data, of.target
    of = datasets.load_linnerud()
    found["linnerud"] = of.data, of.target
    found["made: one scale"] = grid([1, 1, 1, 1])
    found["made: a vast column of noise"] = grid([1, 1, 1, 1000])
    found["made: noise of large units"] = grid([1, 1, 200, 250])
    found["made: a nearly constant column"] = grid([1, 1, 1, 0.001])
    found["made: overlapping clusters"] = overlapping()
    rng = np.random.default_rng(1)
    found["made: noise alone"] = rng.normal(size=(2000, 50)), np.zeros(2000, dtype=int)
    return found


def agreement(labels, truth):
    """Return the adjusted Rand index; of numbers, the adjusted share explained."""
    if truth.dtype.kind == "i":
        return adjusted_rand_score(truth, labels)
    truth = truth.reshape(len(truth), -1)
    means = {c: truth[labels == c].mean(axis=0) for c in np.unique(labels)}
    within = ((truth - np.array([means[c] for c in labels])) ** 2).sum(axis=0)
    around = ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
    n, k = len(truth), len(means)
    return float(np.mean(1.0 - (within / (n - k)) / (around / (n - 1))))


def of_k_means(X, truth, C):
    """Return the mean agreement over random states."""
    fits = [KMeans(C, n_init=5, random_state=seed).fit(X) for seed in SEEDS]
    return float(np.mean([agreement(fit.labels_, truth) for fit in fits]))


def number_advised(X, C):
    """Return the advice on a fit of C clusters in short, and what follows it."""
    fit = KMeans(C, n_init=5, random_state=0).fit(X)
    shares = np.bincount(fit.labels_, minlength=C) / len(X)
    some = SomeRows(X, np.ones(len(X)), len(X))
    of = *fit._mixture(), shares, fit.log_likelihood_, float(len(X)), some
    headline = number_of_clusters(*of).headline
    if headline.startswith("Fewer"):
        n = int(headline.split(": ")[1].split()[0])
        return f"fewer: {n}", lambda truth: of_k_means(X, truth, n)
    if headline.startswith("Clusters of another shape"):
        auto = AutoMixture(random_state=0).fit(X)
        short = f"another shape: {auto.n_clusters_}, {auto.shape_}"
        return short, lambda truth: agreement(auto.labels_, truth)
    if headline.startswith("One"):
        return "one", lambda truth: of_k_means(X, truth, 1)
    return "none", None


def measured(name, X, truth):
    """Return what is advised for a set, and what following it does."""
    spreads = X.std(axis=0)
    Z = X[:, spreads > 0] / spreads[spreads > 0]
    names = [str(column) for column in range(X.shape[1])]
    found = unequal_scales(names, spreads.tolist(), True)
    is_classes = truth.dtype.kind == "i"
    C = max(2, len(np.unique(truth))) if is_classes else 3
    scaled = of_k_means(X, truth, C), of_k_means(Z, truth, C)
    advised = {None: "none", "fair": "consider", "poor": "standardise"}
    rows, doubled = (Z if found else X), 2 * C
    number, follow = number_advised(rows, doubled)
    before = of_k_means(rows, truth, doubled)
    fit = KMeans(C, n_init=5, random_state=0).fit(rows)
    tried = [c for c in (1, 2, 3, 5, 10) if c < C]
    kept = recommended_c_prime({c: fit.gap(rows, c_prime=c) for c in tried}) or C
    soft = KMeans(C, c_prime=kept, n_init=5, random_state=0).fit(rows)
    likelihoods = fit.log_likelihood_, soft.log_likelihood_
    return Measured(
        name,
        X.shape,
        advised[found.level if found else None],
        scaled,
        doubled,
        number,
        (before, follow(truth)) if follow else (before,),
        kept,
        likelihoods if kept > 1 else likelihoods[:1],
    )


if __name__ == "__main__":
    print(HEADER)
    for name, (X, truth) in sets().items():
        print(measured(name, X, truth).line())
