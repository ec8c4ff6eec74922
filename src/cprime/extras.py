"""Which optional packages are missing, and what installs them?"""

from importlib.util import find_spec

# What `pip install 'cprime[extra]'` brings, by the names under which it is imported.
EXTRAS = {
    "plots": ("matplotlib",),
    "files": ("pyarrow",),
    "report": ("jinja2", "matplotlib", "PIL"),
    "cli": ("pyarrow", "rich", "typer"),
    "dask": ("dask", "distributed"),
    "gpu": ("torch", "triton"),
}


class MissingExtraError(ModuleNotFoundError):
    """Something was asked for that takes more packages than a plain install brings."""


def require(extra: str, purpose: str) -> None:
    """Raise, with the command that installs them, if packages of an extra are missing.

    Parameters
    ----------
    extra : str
        Of `EXTRAS`.
    purpose : str
        What the user wanted, as the subject of a sentence.
    """
    missing = [package for package in EXTRAS[extra] if find_spec(package) is None]
    if missing:
        raise MissingExtraError(
            f"{purpose} needs {' and '.join(missing)}, not installed: "
            f"pip install 'cprime[{extra}]'",
            name=missing[0],
        )
