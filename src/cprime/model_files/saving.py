"""How is a fitted estimator kept in a file, and how does it come back?"""

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cprime.checking import tables
from cprime.kernels.tensors import from_gpu
from cprime.model_files import scaling, schema, stream_codec
from cprime.model_files.schema import RULES
from cprime.sources.display import reason
from cprime.storage import container, layout, tree
from cprime.storage.container import Contents

Path = str | os.PathLike[str]
# What a fit of each class must have told for others to use it.
CENTERS = {"cluster_centers_", "_C_prime", "_n_features_out", "n_features_in_"}
NEEDED = {
    "KMeans": {*CENTERS, "variance_", "_n_free"},
    "SoftKMeans": {*CENTERS, "variance_", "_n_free"},
    "FuzzyKMeans": CENTERS,
    "GaussianMixture": {
        *("means_", "covariances_", "weights_", "precisions_", "precisions_cholesky_"),
        *("_C_prime", "_n_free", "n_features_in_"),
    },
}
# Where each has its clusters.
CENTRES = dict.fromkeys(NEEDED, "cluster_centers_") | {"GaussianMixture": "means_"}
# What a parameter may be, besides an array-like, which comes back as an array.
PLAIN = (type(None), bool, int, float, str, np.ndarray, np.random.RandomState)


# The estimators that files are of, by name.
CLASSES: dict[str, Any] = {}


class Savable:
    """`save` and `load` of an estimator."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A subclass of a user's own, be it of the same name, is none of them.
        if cls.__name__ in NEEDED:
            CLASSES.setdefault(cls.__name__, cls)

    def save(self, path: Path) -> None:
        """Write the fitted estimator to a file that anyone may read without risk.

        Nothing in it can be executed. It is written whole or not at all, and holds
        everything but `labels_`, which has an entry for every training row, and
        settings of scikit-learn's `set_output` and metadata requests.

        Parameters
        ----------
        path : path
            By habit it ends in ".cprime". A file of that name is replaced.
        """
        save(self, path)

    @classmethod
    def load(cls, path: Path) -> Any:
        """Return the estimator that was saved to a file.

        Its predictions are the same, to the last bit. A file that is damaged, not ours
        or of another estimator is refused with a reason.

        Parameters
        ----------
        path : path
        """
        with container.open_file(path) as file:
            held = class_name(file)
            if "scaler" in file.header:
                raise ValueError(
                    f"it holds a Pipeline of a StandardScaler and a {held}: use "
                    "cprime.load"
                )
            if held != cls.__name__:
                raise ValueError(
                    f"it holds a {held}, not a {cls.__name__}: use {held}.load, or "
                    "cprime.load"
                )
            return _estimator(file)


def save(estimator: Any, path: Path, *, about: dict[str, Any] | None = None) -> None:
    """Write a fitted estimator to a file, as its own `save` does.

    Parameters
    ----------
    estimator : estimator
        One of cprime's, or a Pipeline of exactly a StandardScaler and one of them.
    path : path
    about : dict, optional
        Whatever else is to be kept, in the values of JSON: `describe` gives it back.
    """
    scaler, steps = None, []
    if scaling.is_pipeline(estimator):
        steps = [step for step, _ in estimator.steps]
        scaler, estimator = scaling.taken_apart(estimator)
    name = type(estimator).__name__
    if type(estimator) is not CLASSES.get(name):
        raise TypeError(
            f"A {name} cannot be saved to a model file, which holds a "
            f"{', a '.join(CLASSES)}, or a Pipeline of a StandardScaler and one of "
            "them."
        )
    check_is_fitted(estimator)
    arrays: dict[str, Any] = {}
    header: dict[str, Any] = {"holds": "model", "class": name, "about": about or {}}
    try:
        params, fitted = _parameters(estimator), _fitted(estimator)
        # What is written can be read: a file is not the place to find out.
        _rebuilt(name, params, fitted)
        header["parameters"] = _packed(params, "parameters", arrays)
        header["fitted"] = _packed(fitted, "fitted", arrays)
        if scaler is not None:
            found = scaling.known_of(scaler, estimator.n_features_in_)
            header["scaler"] = _packed(found, "scaler", arrays)
            header["steps"] = scaling.checked_steps(steps)
    except ValueError as error:
        raise ValueError(f"This {name} cannot be saved: {error}.") from error
    container.write(path, "the model file", header, arrays)


def load(path: Path) -> Any:
    """Return whatever fitted estimator was saved to a file.

    Parameters
    ----------
    path : path
        A file that is damaged, cut off, too new or no model is refused with a reason.

    Returns
    -------
    estimator : KMeans, SoftKMeans, FuzzyKMeans, GaussianMixture or Pipeline
    """
    with container.open_file(path) as file:
        return _estimator(file)


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters in types that a file can hold."""
    found: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=False).items():
        if callable(value):
            raise ValueError(
                f"{name} is a function, which no model file holds. The fit no longer "
                f"needs it: set_params({name}='k-means++') first, for instance"
            )
        if isinstance(value, np.generic):
            value = value.item()
        elif not isinstance(value, PLAIN) or (
            isinstance(value, np.ndarray) and value.dtype.hasobject
        ):
            value = _array(value, name)
        found[name] = value
    return found


def _array(value: Any, name: str) -> Any:
    """Return an array-like as an array of a type that a file can hold."""
    array = np.asarray(tables.dense(value, name))
    kept = array.dtype.newbyteorder("<").str in layout.DTYPES
    return array if kept else tables.numbers(array, name)


def _fitted(estimator: Any) -> dict[str, Any]:
    fitted = {name: from_gpu(v) for name, v in vars(estimator).items() if name in RULES}
    if "_stream_" in fitted:
        fitted["_stream_"] = stream_codec.told(fitted["_stream_"])
    return fitted


def _packed(values: dict[str, Any], name: str, arrays: dict[str, Any]) -> Any:
    return {key: tree.packed(v, f"{name}.{key}", arrays) for key, v in values.items()}


def _estimator(file: Contents) -> Any:
    """Return the estimator a file holds, after everything about it was checked."""
    name, arrays = class_name(file), dict(file.arrays)
    fitted = {
        key: tree.unpacked(of, arrays)
        for key, of in _named(file.header, "fitted").items()
        # Others are those of a newer cprime.
        if key in RULES
    }
    estimator = _rebuilt(name, _unpacked(file.header, "parameters", arrays), fitted)
    if "scaler" not in file.header:
        return estimator
    scaler = _unpacked(file.header, "scaler", arrays)
    return scaling.put_together(scaler, estimator, file.header.get("steps"))


def class_name(file: Contents) -> str:
    """Return the class of the estimator that a file holds."""
    if file.header.get("holds") != "model":
        raise ValueError("it holds no model")
    name = file.header.get("class")
    if not (isinstance(name, str) and name in NEEDED):
        raise ValueError(f"its model is of an unknown class: {name!r:.60}")
    return name


def _named(header: dict[str, Any], name: str) -> dict[str, Any]:
    values = header.get(name)
    if not isinstance(values, dict):
        raise ValueError(f"its header has no {name}")
    return values


def _unpacked(header: dict[str, Any], name: str, arrays: Any) -> dict[str, Any]:
    values = _named(header, name)
    return {key: tree.unpacked(of, arrays) for key, of in values.items()}


def _rebuilt(name: str, params: dict[str, Any], fitted: dict[str, Any]) -> Any:
    """Return an estimator of these parameters and this fit, or say why it cannot be."""
    estimator = CLASSES[name]()
    unknown = sorted(params.keys() - estimator.get_params(deep=False).keys())
    if unknown:
        raise ValueError(
            f"this version has no parameter {unknown[0]!r:.60}: upgrade cprime"
        )
    for key, value in params.items():
        if not isinstance(value, PLAIN):
            raise ValueError(f"its parameter {key} is of the wrong type")
    estimator.set_params(**params)
    try:
        estimator._validate_params()
    except ValueError as error:
        # scikit-learn shows a value whole, however much of it a file holds.
        wanted, _, got = str(error).rpartition(" Got ")
        raise ValueError(f"{reason(wanted)}; it is {reason(got)}") from None
    schema.refuse_impossible(fitted, _needed(name, params))
    names = fitted.get("feature_names_in_")
    if "_stream_" in fitted:
        fitted = {**fitted, "_stream_": stream_codec.rebuilt(fitted["_stream_"])}
    vars(estimator).update({k: v for k, v in fitted.items() if v is not names})
    # One row has to be possible, and would be without names.
    estimator.predict(getattr(estimator, CENTRES[name])[:1])
    if names is not None:
        estimator.feature_names_in_ = names
    return estimator


def _needed(name: str, params: dict[str, Any]) -> set[str]:
    if name != "FuzzyKMeans":
        return NEEDED[name]
    of_rule = {"entropy": {"variance_"}, "quadratic": {"_spread", "lam_"}}
    return NEEDED[name] | of_rule.get(str(params.get("regularization")), {"_spread"})
