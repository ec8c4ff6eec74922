"""The mixture of equal, isotropic Gaussians in plain sums, to fifty digits.

Written from the paper's definitions, one row and one cluster at a time, sharing no code
with the library. Every number that comes out is an `mpf`.
"""

from mpmath import exp, fsum, log, mp, mpf, pi

# The gap is taken as L - F, by subtraction: of this many digits, fifty are left even
# where it is as small as 1e-300.
mp.dps = 360


class Mixture:
    """What rows and parameters, all exactly the given floats, imply.

    Parameters
    ----------
    rows, means : array-like of shape (N, D) and (C, D)
    variance : float
    weights : array-like of shape (N,)
    C_prime : int
        Every row keeps this many closest clusters, the lowest index first among equals.
    """

    def __init__(self, rows, means, variance, weights, C_prime):
        self.rows, self.means = numbers(rows), numbers(means)
        self.weights = [mpf(float(weight)) for weight in weights]
        self.W, self.C, self.D = fsum(self.weights), len(means), len(means[0])
        self.variance, self.C_prime = mpf(float(variance)), C_prime
        self.squares = [
            [fsum((y - m) ** 2 for y, m in zip(row, mean)) for mean in self.means]
            for row in self.rows
        ]
        self.order = [
            sorted(range(self.C), key=of_row.__getitem__) for of_row in self.squares
        ]
        self.labels = [order[0] for order in self.order]
        self.kept = [order[:C_prime] for order in self.order]

    def joint(self, n, c):
        """Return p(c, y_n) (Eq. 2)."""
        normaliser = self.C * (2 * pi * self.variance) ** (mpf(self.D) / 2)
        return exp(-self.squares[n][c] / (2 * self.variance)) / normaliser

    def log_densities(self):
        """Return log p(y_n) of every row (Eq. 3)."""
        return [self._log_sum(n, range(self.C)) for n in range(len(self.rows))]

    def free_energies(self):
        """Return log sum_{c in K_n} p(c, y_n) of every row (Eq. 7)."""
        return [self._log_sum(n, kept) for n, kept in enumerate(self.kept)]

    def gaps(self):
        return [L - F for L, F in zip(self.log_densities(), self.free_energies())]

    def posteriors(self):
        """Return q over all clusters, zero outside K, of every row (Eq. 5)."""
        rows = []
        for n, kept in enumerate(self.kept):
            total = fsum(self.joint(n, c) for c in kept)
            clusters = range(self.C)
            rows.append([self.joint(n, c) / total * (c in kept) for c in clusters])
        return rows

    def mean(self, of_rows, cluster=None):
        """Return the weighted mean, over all rows or those closest to a cluster."""
        counted = [
            weight if cluster in (None, label) else mpf(0)
            for weight, label in zip(self.weights, self.labels)
        ]
        weight = fsum(counted)
        return fsum(w * v for w, v in zip(counted, of_rows)) / (weight or 1)

    def quantization_error(self):
        """Return J, the sum of squared distances to the closest mean (Eq. 1)."""
        closest = [square[label] for square, label in zip(self.squares, self.labels)]
        return self.W * self.mean(closest)

    def criterion(self, of_rows, price):
        """Return -2 W mean + p price: BIC with price log W, AIC with price 2."""
        n_parameters = self.C * self.D + 1
        return -2 * self.W * self.mean(of_rows) + n_parameters * price

    def m_step(self):
        """Return the means and the variance of highest free energy (Eq. 6)."""
        shares = [
            [weight * q for q in posterior]
            for weight, posterior in zip(self.weights, self.posteriors())
        ]
        means = []
        for c in range(self.C):
            total = fsum(share[c] for share in shares)
            columns = zip(*self.rows)
            means.append(
                [
                    fsum(share[c] * y for share, y in zip(shares, column)) / total
                    for column in columns
                ]
            )
        scatter = fsum(
            share[c] * (y - m) ** 2
            for share, row in zip(shares, self.rows)
            for c, mean in enumerate(means)
            for y, m in zip(row, mean)
        )
        return means, scatter / (self.D * self.W)

    def _log_sum(self, n, clusters):
        return log(fsum(self.joint(n, c) for c in clusters))


def numbers(table):
    return [[mpf(float(value)) for value in row] for row in table]
