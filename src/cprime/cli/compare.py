"""`cprime compare`: how many clusters should a row keep, on your data?"""

import time
from typing import Any

import typer

from cprime.advice import wording
from cprime.cli.column_warnings import column_warnings
from cprime.cli.compare_table import table_of, unconverged
from cprime.cli.console import Voice, literal
from cprime.cli.data_options import (
    Columns,
    DataFile,
    Drop,
    Header,
    MissingValues,
    Standardize,
    Weights,
)
from cprime.cli.errors import StoppedError
from cprime.cli.fit_job import refuse_too_few_rows
from cprime.cli.interrupts import stop_on_interrupt
from cprime.cli.model_spec import Missing, Model, ModelSpec, refuse_standardized_gaps
from cprime.cli.options import (
    Clusters,
    CovarianceType,
    InitName,
    Json,
    MaxIter,
    Memory,
    ModelName,
    Quiet,
    Restarts,
    Scratch,
    Seed,
    Threads,
    Tol,
    use_threads,
)
from cprime.cli.progress import follow_progress
from cprime.cli.source import Source, naming_lines
from cprime.cli.summary import (
    describe_shape,
    finding_line,
    fit_values,
    judge_number,
    sentences,
)

# Every one of these, and all clusters.
TRIED = (1, 2, 3, 5, 10)
SHOWN = ("c_prime", "free_energy", "log_likelihood", "gap", "iterations", "seconds")

EPILOG = """[bold]How to read it[/]

  L    log-likelihood of the rows, mean per row
  F    lower bound on L, which the fit maximises
  gap  L - F: what is lost by keeping only C' clusters
       per row; negligible below 0.01

[bold]Examples[/]

  cprime compare flows.parquet -k 200 --standardize
  cprime compare flows.parquet -k 50 --model mixture"""


def compare(
    data: DataFile,
    k: Clusters,
    columns: Columns = None,
    drop: Drop = None,
    header: Header = None,
    missing: MissingValues = Missing.error,
    weights: Weights = None,
    standardize: Standardize = False,
    model: ModelName = Model.kmeans,
    covariance: CovarianceType = None,
    init: InitName = None,
    restarts: Restarts = None,
    max_iter: MaxIter = None,
    tol: Tol = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
    memory: Memory = None,
    scratch: Scratch = None,
    threads: Threads = None,
) -> None:
    """Fit with C' = 1, 2, 3, 5, 10 and all, and say which to use.

    It weighs what each C' loses against how long each fit takes. All fits start from
    the same seeds. No file is written.
    """
    if model == Model.fuzzy:
        raise typer.BadParameter(
            "fuzzy k-means has no likelihood to compare by", param_hint="--model"
        )
    spec = ModelSpec(
        model=model,
        k=k,
        c_prime=None,
        covariance=covariance,
        init=init,
        restarts=restarts,
        max_iter=max_iter,
        tol=tol,
        seed=seed,
        missing=missing,
    )
    refuse_standardized_gaps(missing, standardize)
    source = Source(data, columns, header, memory, scratch, drop, missing, weights)
    voice = Voice(json, quiet)
    use_threads(threads)
    found: list[dict[str, Any]] = []
    likeliest: Any = None
    tried = [*(c for c in TRIED if c < k), k]
    with voice.show_warnings(), stop_on_interrupt():
        try:
            with follow_progress(voice) as follow:
                follow.stage(f"reading {data.name}")
                rows, weight_of = source.training(standardize)
                refuse_too_few_rows(rows, k)
                for line in column_warnings(rows, spec.are_round):
                    voice.warn(line)
                for place, c_prime in enumerate(tried, start=1):
                    follow.stage(f"fit {place} of {len(tried)}, C' = {c_prime}")
                    fitted = spec.with_c_prime(c_prime).estimator()
                    started = time.perf_counter()
                    with naming_lines(rows):
                        fitted.fit(rows, sample_weight=weight_of, progress=follow)
                    seconds = time.perf_counter() - started
                    found.append({**fit_values(fitted), "seconds": seconds})
                    if likeliest is None or (
                        fitted.log_likelihood_ > likeliest.log_likelihood_
                    ):
                        likeliest = fitted
                follow.stage("trying fewer clusters")
                number = judge_number(likeliest, rows, weight_of)
        except KeyboardInterrupt:
            if found:
                _show(voice, rows, found, tried, None)
            raise StoppedError(
                f"{len(found)} of {len(tried)} fits were complete."
            ) from None
        _show(voice, rows, found, tried, number)


def _show(
    voice: Voice,
    data: Any,
    found: list[dict[str, Any]],
    tried: list[int],
    number: Any,
) -> None:
    from cprime.advice.of_comparison import Compared, best_of

    C = tried[-1]
    fits = [Compared(*(of[name] for name in Compared._fields)) for of in found]
    best, advised = best_of(fits, C)
    scaled = data.scale is not None
    voice.result(
        {
            "data": data.origin,
            "rows": data.n_rows,
            "columns": data.n_features,
            "clusters": C,
            "model": found[0]["model"],
            "standardized": scaled,
            "units": "nats per row" + (" of standardized columns" if scaled else ""),
            "fits": [{name: of[name] for name in SHOWN} for of in found],
            "number_of_clusters": number and sentences(number),
            "recommended": best,
            "advice": sentences(advised),
        }
    )
    title = f"{describe_shape(data)}, {wording.count(C, 'cluster')}"
    voice.say(f"[bold]{literal(title)}[/]")
    voice.say(table_of(found, best, voice.out))
    units = ", with columns standardized" if scaled else ""
    voice.say(
        f"F, L and gap in nats per row{units}. All fits start from the same seeds."
    )
    if stopped := unconverged(found):
        voice.say(stopped)
    if number is not None and number.level != "good":
        voice.say(finding_line(number))
    voice.say(finding_line(advised))
