"""Every number the paper prints, and where.

Lücke & Forster, *k-means as a variational EM approximation of Gaussian mixture models*,
Pattern Recognition Letters 125 (2019). What is only drawn is given as the ends of axes.
"""

GRID, RANDOM = "grid", "random"
KINDS = (GRID, RANDOM)
K_MEANS, K_MEANS_C, LAZY, DBSCAN = "k-means", "k-means-C'", "lazy-k-means", "DBSCAN"
MEASURES = ("L", "phi", "purity", "nmi")

# Table S1: mean and best of 100 runs. "Best" is the highest L and the lowest phi of any
# run; purity and NMI are those of the run with the highest sum of both.
TABLE_S1 = {
    GRID: {
        K_MEANS: {
            "L": (-6.127, -6.016),
            "phi": (5503.0, 4836.0),
            "purity": (0.971, 0.992),
            "nmi": (0.977, 0.987),
        },
        K_MEANS_C: {
            "L": (-6.117, -6.016),
            "phi": (5476.0, 4837.0),
            "purity": (0.973, 0.992),
            "nmi": (0.978, 0.986),
        },
        LAZY: {
            "L": (-6.117, -6.016),
            "phi": (5452.0, 4837.0),
            "purity": (0.974, 0.992),
            "nmi": (0.978, 0.987),
        },
        DBSCAN: {"purity": (0.989, 0.989), "nmi": (0.982, 0.982)},
    },
    RANDOM: {
        K_MEANS: {
            "L": (-5.842, -5.789),
            "phi": (4535.0, 4291.0),
            "purity": (0.819, 0.856),
            "nmi": (0.879, 0.875),
        },
        K_MEANS_C: {
            "L": (-5.828, -5.771),
            "phi": (4637.0, 4331.0),
            "purity": (0.811, 0.864),
            "nmi": (0.880, 0.880),
        },
        LAZY: {
            "L": (-5.850, -5.803),
            "phi": (4592.0, 4351.0),
            "purity": (0.809, 0.846),
            "nmi": (0.876, 0.880),
        },
        DBSCAN: {"purity": (0.502, 0.502), "nmi": (0.800, 0.800)},
    },
}

# Figs. 1 and S2: lines of the true parameters, and the mean L at the start.
TRUTH = {
    GRID: {"L": -6.03787, "phi": 4876.98, "purity": 0.9928, "nmi": 0.987646436635},
    RANDOM: {"L": -5.77838, "phi": 4379.49, "purity": 0.8648, "nmi": 0.87913094305},
}
L_INIT = {GRID: -6.6934, RANDOM: -6.3284}

# Fig. 1A: where F and L of k-means on the grid end, by the number of clusters missed;
# None is the mean of 100 runs.
FINAL_OF_FIGURE_1A = {
    0: (-6.0364, -6.0293),
    1: (-6.2716, -6.2426),
    2: (-6.4613, -6.4073),
    None: (-6.1411, -6.1250),
}

LAST_ITERATION = 25
# Ends of the vertical axes, by kind of data.
AXES = {
    "k-means": {GRID: (-6.8, -5.9), RANDOM: (-6.4, -5.7)},
    "L": {GRID: (-6.4, -5.95), RANDOM: (-6.0, -5.75)},
    "phi": {GRID: (4750.0, 6000.0), RANDOM: (4250.0, 5000.0)},
    "purity": {GRID: (0.93, 1.0), RANDOM: (0.725, 0.875)},
    "nmi": {GRID: (0.95, 1.0), RANDOM: (0.865, 0.885)},
}

# Figs. 1G, 1H and S3D: the protein data, C=200, ten runs of 200 iterations each.
KDD_C, KDD_RUNS, KDD_ITERATIONS, KDD_C_PRIMES = 200, 10, 200, (1, 2, 10, 200)
KDD_L, KDD_L_ENLARGED, KDD_PHI = (-462.5, -459.5), (-463.5, -459.5), (1.37e11, 1.405e11)

# Fig. S4: ten iterations from the truth.
SEVEN_ITERATIONS = 10
SEVEN_K_MEANS_F, SEVEN_K_MEANS_L = (-2.8, -2.55), (-2.4, -2.25)
SEVEN_EM = (-2.26105, -2.26100)
