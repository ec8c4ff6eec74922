"""The compiled part: see src/native/module.cpp."""

from typing import Any

from cprime.typing import Array

is_sanitized: bool

class Rows: ...

class Coefficients:
    def __init__(
        self,
        *,
        means: Array,
        penalty: Array | None,
        whitening: Array | None,
        sharpness: float,
        highest_bias: float,
    ) -> None: ...

class HintStore:
    serial: int
    nbytes: int
    def __init__(self, n_rows: int, C: int, /) -> None: ...

class Stop:
    def heed_alone(self) -> None: ...
    def want(self) -> None: ...

def dense(X: Array, scale: float, /) -> Rows: ...
def sparse(
    data: Array, indices: Array, indptr: Array, D: int, scale: float, /
) -> Rows: ...

class Near:
    def __init__(
        self, *, lists: Array, n_explore: int, key: int, first: int
    ) -> None: ...

def near_clusters(coefficients: Coefficients, lists: Array, out: Array) -> int: ...
def sweep(
    *,
    rows: Rows,
    weights: Array,
    coefficients: Coefficients,
    reluctance: float,
    C_prime: int,
    leaf_rows: int,
    before: Array | None,
    after: Array,
    hints: HintStore | None,
    use_hints: bool,
    near: Near | None,
) -> tuple[tuple[Any, ...], ...]: ...
def closest(
    rows: Rows,
    coefficients: Coefficients,
    C_prime: int,
    K: Array,
    distances: Array | None,
    /,
) -> None: ...
def gaps(rows: Rows, coefficients: Coefficients, K: Array, out: Array, /) -> None: ...
def nearer(
    rows: Rows, means: Array, known: Array, nearest: Array, owner: Array, /
) -> None: ...
def distances(rows: Rows, means: Array, out: Array, /) -> None: ...
def draw_many_seeds(
    *,
    rows: Rows,
    line: Array,
    weights: Array,
    firsts: Array,
    points: Array,
    chosen: Array,
    evaluations: Array,
) -> None: ...
def lloyd(
    *,
    rows: Rows,
    weights: Array,
    seeds: Array,
    largest: Array,
    rules: dict[str, Any],
    means: Array,
    centers: Array,
    counts: Array,
    shifts: Array,
    labels: Array,
    found: list[tuple[Any, ...]],
) -> None: ...
def draw_seeds(
    rows: Rows,
    line: Array,
    weights: Array,
    first: int,
    points: Array,
    chosen: Array,
    /,
) -> int: ...
def one_cluster(
    *, rows: Rows, weights: Array, start: int, leaf_rows: int, mean: Array
) -> float: ...
def line_up(
    *, rows: Rows, direction: Array, middle: Array, order: Array, copies: Array
) -> None: ...
def log_sums(table: Array, out: Array, /) -> None: ...
def magnitude(values: Array, /) -> float: ...
def is_brief(n_rows: int, C: int, D: int, /) -> bool: ...
def get_num_threads() -> int: ...
def set_num_threads(n: int, /) -> None: ...
def isa_names() -> list[str]: ...
def isa_name() -> str: ...
def use_isa(name: str, /) -> None: ...
def fma_peak(n_threads: int, /) -> float: ...
