"""What an installed wheel must be able to do: run compiled code, and be right.

A script, not a test: it runs where nothing but the wheel and its requirements are.
"""

import sys
import tempfile

import numpy as np

from cprime import KMeans
from cprime.kernels import native


def main():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 5)) + 10.0 * rng.integers(0, 3, (3000, 1))
    for path in native.isa_names():
        native.use_isa(path)
        kmeans = KMeans(3, c_prime=2, random_state=0).fit(X)
        reference = KMeans(3, c_prime=2, random_state=0, kernel="reference").fit(X)
        if not np.array_equal(kmeans.labels_, reference.labels_):
            sys.exit(f"labels of {path} differ from the reference's")
        print(f"{path}: F = {kmeans.free_energy_:.6f}, as the reference's")
    with tempfile.TemporaryDirectory() as folder:
        page = kmeans.report(f"{folder}/report.html", X)
        print(f"report: {page.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
