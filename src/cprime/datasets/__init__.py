"""The data of the paper's experiments: made with a known truth, or measured."""

from cprime.datasets.made import (
    Sample,
    make_birch_grid,
    make_birch_random,
    make_seven_gaussians,
)
from cprime.datasets.protein import fetch_kdd_protein

__all__ = [
    "Sample",
    "fetch_kdd_protein",
    "make_birch_grid",
    "make_birch_random",
    "make_seven_gaussians",
]
