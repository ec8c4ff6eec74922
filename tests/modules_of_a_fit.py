"""Prints which modules of cprime a fit in memory goes through, and how many."""

import sys

import numpy as np

from cprime import KMeans

X = np.random.default_rng(0).normal(size=(5000, 8))
seen = set()


def note(frame, event, argument):
    module = frame.f_globals.get("__name__", "")
    if event == "call" and module.startswith("cprime."):
        seen.add(module)


kmeans = KMeans(5, random_state=0)
sys.setprofile(note)
kmeans.fit(X)
sys.setprofile(None)
print(*sorted(seen), sep="\n")
print(len(seen), "modules")
