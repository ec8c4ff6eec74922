"""How long do many short fits take, each from seeds of its own?"""

from functools import partial
from typing import Any

from benchmarks import contestants, data, judge, tables
from benchmarks.comparison import Row, compare, each_input, row
from benchmarks.data import Input
from benchmarks.harness import interleave
from benchmarks.settings import Settings

QUESTION = "how long do 100 restarts on small data take?"
CONTESTANTS = ("cprime", "scikit-learn", "intelex")
INPUTS = (Input("BIRCH", 25, 2500),)
N_INIT, QUICK_N_INIT = 100, 5
COLUMNS = (
    *tables.TIMES,
    ("iterations of the best", tables.number("iterations", ".0f")),
    tables.EVALUATIONS,
    *tables.REACHED,
)
NOTES = [
    "Every library seeds with its own k-means++ and runs each restart until nothing "
    "changes (tol=0). cprime alone counts the distances of all restarts and seeding.",
]


def measure(settings: Settings) -> dict[str, Any]:
    """Time the best of many fits."""
    rows, skipped = each_input(INPUTS, _compare, settings)
    return {"rows": rows, "skipped": skipped, "notes": NOTES}


def _compare(given: Input, X: data.Array, settings: Settings) -> list[Row]:
    n_init = QUICK_N_INIT if settings.quick else N_INIT
    names = contestants.installed(CONTESTANTS)
    tasks = {name: partial(_fit, name, X, given.C, n_init) for name in names}
    timed = interleave(tasks, settings)
    rows = []
    for name in names:
        model = timed[name].outcome
        line = row(
            name,
            timed[name],
            iterations=int(model.n_iter_),
            evaluations=getattr(model, "evaluations_", None),
            objective=judge.objective(X, model.cluster_centers_),
        )
        rows.append(line)
    return compare(f"{given.label(X)}, {n_init} restarts", rows)


def _fit(name: str, X: data.Array, C: int, n_init: int) -> Any:
    create = contestants.kmeans_class(name)
    return create(C, n_init=n_init, tol=0, max_iter=300, random_state=0).fit(X)
