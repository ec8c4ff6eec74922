"""Cluster the paper's two BIRCH data sets, and say what hard assignment loses there."""

import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt

from cprime import KMeans, bounds
from cprime.datasets import make_birch_grid, make_birch_random
from cprime.models import Isotropic
from cprime.theta import Theta

N_INIT = 20
# A rule of thumb: a posterior this close, in nats per row, is as good as hard.
FINE = 0.05
HARD, SOFT = "#3f90da", "#e76300"


def main(picture=Path("build/demo.png")):
    figure, panels = plt.subplots(2, 2, figsize=(10, 9), layout="constrained")
    for title, make, (left, right) in (
        ("25 clusters on a grid", make_birch_grid, panels[0]),
        ("25 clusters at random places", make_birch_random, panels[1]),
    ):
        sample = make(rng=1)
        fits = {c_prime: timed_fit(sample.data, c_prime) for c_prime in (1, 3)}
        print_table(title, sample, fits)
        draw_clusters(left, title, sample, fits)
        draw_free_energy(right, fits)
    picture.parent.mkdir(exist_ok=True)
    figure.savefig(picture, dpi=110)
    print(f"Picture: {picture}")


def timed_fit(data, c_prime):
    start = time.perf_counter()
    km = KMeans(25, c_prime=c_prime, n_init=N_INIT, random_state=0).fit(data)
    return km, time.perf_counter() - start


def print_table(title, sample, fits):
    truth = Isotropic().coefficients(Theta(sample.centers, sample.variance))
    print(f"\nBIRCH, {title}: {len(sample.data)} rows, best of {N_INIT} restarts")
    print(
        f"{'':18s}{'free energy F':>14s}{'likelihood L':>14s}{'gap L-F':>10s}{'s':>7s}"
    )
    for c_prime, (km, seconds) in fits.items():
        name = "C'=1 (k-means)" if c_prime == 1 else f"C'={c_prime}"
        print(
            f"  {name:16s}{km.free_energy_:14.4f}{km.log_likelihood_:14.4f}"
            f"{km.gap_:10.2g}{seconds:7.2f}"
        )
    likelihood = bounds.log_likelihood(sample.data, truth)
    print(f"  {'true clusters':16s}{'':14s}{likelihood:14.4f}   (nats per row)")
    print(f"  Verdict: {verdict(fits[1][0], fits[3][0])}\n")


def verdict(hard, soft):
    if hard.gap_ < FINE:
        return f"hard assignment is fine, its gap is {hard.gap_:.3f} nats per row."
    gain = soft.log_likelihood_ - hard.log_likelihood_
    return (
        f"hard assignment loses {hard.gap_:.2f} nats per row of its bound. C'=3 loses "
        f"{soft.gap_:.2g},\n           and finds a mixture that is {gain:.3f} nats per "
        "row more likely. Use c_prime=3."
    )


def draw_clusters(ax, title, sample, fits):
    ax.scatter(*sample.data.T, s=3, color="0.8", linewidths=0)
    ax.scatter(
        *sample.centers.T, s=90, facecolors="none", edgecolors="0.2", label="truth"
    )
    for c_prime, colour, marker in ((1, HARD, "x"), (3, SOFT, "+")):
        centers = fits[c_prime][0].cluster_centers_
        name = "k-means" if c_prime == 1 else f"C'={c_prime}"
        ax.scatter(*centers.T, s=60, color=colour, marker=marker, label=name)
    ax.set(title=title, aspect="equal", xticks=[], yticks=[])
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False)


def draw_free_energy(ax, fits):
    for c_prime, colour in ((1, HARD), (3, SOFT)):
        km = fits[c_prime][0]
        trace, last = km.trace_, km.n_iter_
        name = "k-means" if c_prime == 1 else f"C'={c_prime}"
        ax.plot(
            trace["iteration"], trace["free_energy"], color=colour, label=f"F, {name}"
        )
        ax.plot(last, km.log_likelihood_, "o", color=colour, label=f"L, {name}")
        ax.vlines(
            last, km.free_energy_, km.log_likelihood_, color=colour, lw=4, alpha=0.4
        )
        if km.gap_ > FINE:
            middle = (km.free_energy_ + km.log_likelihood_) / 2
            ax.text(last, middle, f"  gap {km.gap_:.2f}", color=colour, va="center")
    ax.set(
        xlabel="iteration",
        ylabel="nats per row",
        title="free energy F and likelihood L",
    )
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower right", frameon=False)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
