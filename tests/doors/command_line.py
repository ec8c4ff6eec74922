"""What tests of the command line share: small files, and a way to run it."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from typer.testing import CliRunner

from cprime.cli.app import app

N_ROWS, N_CLUSTERS = 1500, 5
# Whoever runs the tests may ignore interrupts, as jobs in the background do.
INTERRUPTIBLE = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from cprime.cli import main; raise SystemExit(main())"
)


def run(*arguments):
    """Run a command as if it were typed; standard output and error are kept apart."""
    typed = [str(argument) for argument in arguments]
    return CliRunner().invoke(app, typed, prog_name="cprime")


def done(*arguments):
    """Run a command that must succeed, and return what it says."""
    result = run(*arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def flows(seed=0):
    """Columns f0 to f3 of very different scales, and two that are no features."""
    rng = np.random.default_rng(seed)
    centers = 6.0 * np.random.default_rng(9).standard_normal((N_CLUSTERS, 4))
    X = centers[rng.integers(N_CLUSTERS, size=N_ROWS)]
    X = (X + rng.standard_normal(X.shape)) * [1.0, 100.0, 0.01, 1.0]
    columns = {f"f{i}": X[:, i] for i in range(4)}
    columns["id"] = np.arange(N_ROWS)
    columns["name"] = [f"row {i}" for i in range(N_ROWS)]
    return pa.table(columns)


def write(folder):
    """Write the same rows as .parquet, .csv and .npy; return the folder."""
    table = flows()
    pa.parquet.write_table(table, folder / "flows.parquet")
    pa.csv.write_csv(table, folder / "flows.csv")
    np.save(folder / "flows.npy", features(table))
    return folder


def features(table):
    """Return columns f0 to f3 as rows of an array."""
    return np.stack([table.column(f"f{i}").to_numpy() for i in range(4)], axis=1)
