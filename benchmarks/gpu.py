"""How fast is the kernel for GPUs, and how many labels are wrong?

    python -m benchmarks.gpu [--rows 1000000] [--fits] [--out benchmarks/results]

Beside flash-kmeans (if it is installed), a compiled search in torch, and the native
kernel on all cores. Times are those of the device, medians of several runs; labels of
all contestants are compared with the nearest of canonical float64 distances.
"""

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from cprime import KMeans
from cprime.kernels import get_kernel
from cprime.kernels.gpu.all_pairs import distances_to_all
from cprime.kernels.gpu.closest import Search
from cprime.kernels.gpu.model import DeviceModel
from cprime.kernels.gpu.residents import Piece
from cprime.kernels.gpu.sweeping import sweep_piece
from cprime.search import Exact
from cprime.theta import Coefficients

SIZES = ((64, 1024), (128, 1024), (128, 16384))
ROUNDS = 5
FITS = 4
# Rows whose labels are checked against all clusters at once.
CHECKED_AT_ONCE = 8192


def milliseconds(run: Callable[[], Any]) -> float:
    """Return the median time of a run on the device, once it is compiled."""
    run()
    torch.cuda.synchronize()
    times = []
    for _ in range(ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def blobs(n_rows: int, D: int, C: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows about C random centres, and as many rows to start from."""
    torch.manual_seed(0)
    centres = 2 * torch.randn(C, D, device="cuda")
    rows = centres[torch.randint(C, (n_rows,), device="cuda")]
    rows += torch.randn(n_rows, D, device="cuda")
    return rows, rows[torch.randperm(n_rows, device="cuda")[:C]].clone()


def truth(rows: torch.Tensor, means: torch.Tensor) -> torch.Tensor:
    """Return the nearest mean of every row by canonical distances to all."""
    model = DeviceModel.of_means(means.double())
    parts = rows.split(CHECKED_AT_ONCE)
    return torch.cat([distances_to_all(part, model).argmin(dim=1) for part in parts])


def flash(rows: torch.Tensor, means: torch.Tensor, dtype: torch.dtype) -> Any:
    """Return flash-kmeans' search, and its iteration, as things to run."""
    from flash_kmeans.assign_euclid_triton import euclid_assign_triton
    from flash_kmeans.kmeans_triton_impl import _euclid_iter

    X, mu = rows.to(dtype)[None].contiguous(), means.to(dtype)[None].contiguous()
    squares = (X.float() ** 2).sum(-1).to(dtype)

    def search() -> torch.Tensor:
        return euclid_assign_triton(X, mu, squares)[0]

    return search, lambda: _euclid_iter(X, squares, mu)


def torch_search(rows: torch.Tensor, means: torch.Tensor) -> Callable[[], Any]:
    """Return a search by a compiled product in float32, chunk by chunk."""

    @torch.compile
    def nearest(part: torch.Tensor) -> torch.Tensor:
        return ((means**2).sum(1) - 2 * part @ means.T).argmin(dim=1)

    return lambda: torch.cat([nearest(part) for part in rows.split(2**16)])


def measured_search(n_rows: int, D: int, C: int) -> list[dict[str, Any]]:
    """Return a line for every contestant: search, iteration and wrong labels."""
    rows, means = blobs(n_rows, D, C)
    right, lines = truth(rows, means), []

    def note(name: str, search: Any, iterate: Any, labels: torch.Tensor) -> None:
        wrong = int((labels.long() != right).sum())
        lines.append(
            {
                "contestant": name,
                "rows": n_rows,
                "features": D,
                "clusters": C,
                "search_ms": milliseconds(search),
                "iteration_ms": None if iterate is None else milliseconds(iterate),
                "wrong_labels": wrong,
            }
        )
        print(lines[-1], flush=True)

    host = means.double().cpu().numpy()
    coefficients = Coefficients(np.zeros(C), host, 1.0)
    model = DeviceModel.of(coefficients)
    piece = Piece(0, rows, torch.ones(n_rows, dtype=torch.float64, device="cuda"))
    piece.halves()

    def ours(C_prime: int) -> Callable[[], Any]:
        return lambda: Search(model, piece.frame).closest(rows, piece.halves, C_prime)

    def sweep(C_prime: int) -> Callable[[], Any]:
        plan = Exact().plan()
        return lambda: sweep_piece(piece, None, model, plan, C_prime).sums.total()

    note("cprime gpu", ours(1), sweep(1), ours(1)().K[:, 0])
    note("cprime gpu, C'=8", ours(8), sweep(8), ours(8)().K[:, 0])
    try:
        for dtype in (torch.float32, torch.bfloat16):
            search, iterate = flash(rows, means, dtype)
            note(f"flash-kmeans {str(dtype)[6:]}", search, iterate, search())
    except ImportError:
        print("flash-kmeans is not installed: left out", flush=True)
    try:
        search = torch_search(rows, means)
        note("torch, compiled", search, None, search())
    except Exception as error:
        print(
            f"torch.compile does not work here: left out ({error!s:.200})", flush=True
        )
    X, native = rows.cpu().numpy(), get_kernel("native")
    begin = time.perf_counter()
    labels = native.nearest(X, coefficients)
    seconds = time.perf_counter() - begin
    wrong = int((torch.as_tensor(labels, device="cuda").long() != right).sum())
    lines.append(
        {
            "contestant": f"cprime native, {os.cpu_count()} cores",
            "rows": n_rows,
            "features": D,
            "clusters": C,
            "search_ms": 1e3 * seconds,
            "iteration_ms": None,
            "wrong_labels": wrong,
        }
    )
    print(lines[-1], flush=True)
    return lines


def measured_fits() -> list[dict[str, Any]]:
    """Return whole default fits on the device and on all cores, seeding included."""
    torch.manual_seed(0)
    rng, lines = np.random.default_rng(0), []
    centres = 2 * rng.standard_normal((1000, 64), dtype=np.float32)
    data = {"blobs 10,000,000 x 64": (1000, None)}
    kdd = Path(os.environ.get("CPRIME_KDD", "kdd.npz"))
    if kdd.exists():
        data = {"KDD 145,751 x 74": (2000, np.load(kdd)["X"]), **data}
    for name, (C, given) in data.items():
        X = given
        if X is None:
            X = centres[rng.integers(1000, size=10**7)]
            X += rng.standard_normal(X.shape, dtype=np.float32)
        found = {}
        for kernel in ("gpu", "native"):
            # The first on a device compiles what it needs.
            spent = []
            for _ in range(FITS if kernel == "gpu" else 1):
                begin = time.perf_counter()
                fitted = KMeans(C, kernel=kernel, random_state=0).fit(X)
                spent.append(time.perf_counter() - begin)
            found[kernel] = fitted
            lines.append(
                {
                    "fit": name,
                    "clusters": C,
                    "kernel": kernel,
                    "seconds": statistics.median(spent[1:] or spent),
                    "first_seconds": spent[0],
                    "iterations": fitted.n_iter_,
                    "evaluations": fitted.evaluations_,
                    "inertia": fitted.inertia_,
                }
            )
            print(lines[-1], flush=True)
        same = np.array_equal(found["gpu"].labels_, found["native"].labels_)
        lines[-1]["same_labels_as_gpu"] = same
        print("same labels:", same, flush=True)
    return lines


def measured_em(n_rows: int) -> dict[str, Any]:
    """Return an iteration of EM, C' = C, on the device."""
    rows, means = blobs(n_rows, 128, 1024)
    model = DeviceModel.of(
        Coefficients(np.zeros(1024), means.double().cpu().numpy(), 1.0)
    )
    piece = Piece(0, rows, torch.ones(n_rows, dtype=torch.float64, device="cuda"))
    plan = Exact().plan()
    spent = milliseconds(
        lambda: sweep_piece(piece, None, model, plan, 1024).sums.total()
    )
    return {"em": f"{n_rows} x 128, C=1024", "iteration_ms": spent}


def main() -> None:
    """Measure and write down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--fits", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    given = parser.parse_args()
    # First, as they would run in a process of their own.
    fits = measured_fits() if given.fits else []
    search = [line for size in SIZES for line in measured_search(given.rows, *size)]
    results = {
        "device": torch.cuda.get_device_name(),
        "versions": {"torch": torch.__version__, "python": platform.python_version()},
        "search": search,
        "em": measured_em(given.rows),
        "fits": fits,
    }
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "gpu.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
