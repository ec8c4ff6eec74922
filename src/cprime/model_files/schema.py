"""What does a model file hold of a fit, and what must be true of it to be used?"""

from typing import Any

import numpy as np

from cprime.model_files import rules

# What `partial_fit` goes on from: see `stream_codec`.
_STREAM = rules.record(
    memory=rules.record(
        theta=rules.record(
            means=rules.EVERY_FEATURE,
            covariance=rules.kept_covariances,
            proportions=rules.either(rules.nothing, rules.proportions),
        ),
        stats=rules.either(
            rules.nothing,
            rules.record(
                counts=rules.floats(lambda sizes: (sizes.C,), least=0.0),
                shifts=rules.EVERY_FEATURE,
                scatter=rules.of_kept_shape,
                quantization_error=rules.number(0.0),
                entropy=rules.number(),
                free_energy=rules.number(),
                weight=rules.number(0.0, above=True),
                evaluations=rules.whole(0),
                changed=rules.whole(0),
            ),
        ),
        n_batches=rules.whole(0),
        weight=rules.number(0.0),
    ),
    overall=rules.record(
        means=rules.either(
            rules.floats(lambda sizes: (1, sizes.D)), rules.EVERY_FEATURE
        ),
        covariance=rules.either(
            rules.number(0.0), rules.floats(lambda sizes: (1, sizes.D), least=0.0)
        ),
        proportions=rules.nothing,
    ),
    units=rules.record(
        scale=rules.power_of_two, weight_scale=rules.power_of_two, extreme=rules.text
    ),
    n_rows=rules.whole(0),
)

# Attributes of fits, of any estimator: what is not named here is not kept.
RULES: dict[str, rules.Rule] = {
    "cluster_centers_": rules.EVERY_FEATURE,
    "means_": rules.EVERY_FEATURE,
    "weights_": rules.proportions,
    "covariances_": rules.covariances,
    "precisions_": rules.of_covariances,
    "precisions_cholesky_": rules.of_covariances,
    "variance_": rules.number(0.0, above=True),
    "stiffness_": rules.number(0.0, above=True),
    "stiffness_path_": rules.path,
    "lam_": rules.number(0.0, above=True),
    "_spread": rules.number(0.0, above=True),
    "inertia_": rules.number(0.0),
    "objective_": rules.number(),
    "free_energy_": rules.number(),
    "lower_bound_": rules.number(),
    "log_likelihood_": rules.number(),
    "gap_": rules.number(0.0),
    "gap_standard_error_": rules.number(0.0),
    "n_iter_": rules.whole(0),
    "evaluations_": rules.whole(0),
    "n_relocations_": rules.whole(0),
    "n_missed_": rules.whole(0),
    "converged_": rules.truth,
    "seeding_": rules.text,
    "n_steps_": rules.whole(0),
    "n_samples_seen_": rules.whole(0),
    "_stream_": _STREAM,
    "trace_": rules.history,
    "restarts_": rules.history,
    "lower_bounds_": rules.line,
    "_relocated": rules.clusters,
    "_floored": rules.clusters,
    "_empty": rules.clusters,
    "_covariance_type": rules.covariance_type,
    "_weight": rules.number(0.0, above=True),
    "_n_rows": rules.whole(0),
    "_expected": rules.number(),
    "_C_prime": rules.whole(1, lambda sizes: sizes.C),
    "_n_free": rules.whole(0),
    "_n_features_out": rules.exactly(lambda sizes: sizes.C),
    "n_features_in_": rules.exactly(lambda sizes: sizes.D),
    "feature_names_in_": rules.names,
}


def sizes_of(fitted: dict[str, Any]) -> rules.Sizes:
    """Return the sizes of a fit, or say what of it tells none."""
    name = "means_" if "means_" in fitted else "cluster_centers_"
    centers = fitted.get(name)
    if not (isinstance(centers, np.ndarray) and centers.ndim == 2 and centers.size):
        raise ValueError(f"{name} is missing, or not clusters by features")
    covariance_type = fitted.get("_covariance_type", "isotropic")
    if not rules.covariance_type(covariance_type, rules.Sizes(0, 0)):
        raise ValueError(f"_covariance_type is unknown: {covariance_type!r:.60}")
    C, D = centers.shape
    return rules.Sizes(C, D, covariance_type)


def refuse_impossible(fitted: dict[str, Any], needed: set[str]) -> None:
    """Raise if attributes do not fit together, or if one that is needed is missing."""
    for name in sorted(needed - fitted.keys()):
        raise ValueError(f"{name} is missing, which predictions need")
    sizes = sizes_of(fitted)
    for name, value in fitted.items():
        if not RULES[name](value, sizes):
            raise ValueError(
                f"{name} cannot be that of {sizes.C} clusters of {sizes.D} features: "
                + " ".join(f"{value!r:.60}".split())
            )
