"""Which commands are there, and what becomes of what they raise?"""

import inspect
import io
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import cprime
from cprime.cli import (
    bench,
    choose,
    compare,
    doctor,
    errors,
    example,
    fit,
    info,
    predict,
    report,
    reproduce,
    sample,
)

WORK, LOOK, CHECK = "Find and use clusters", "Look closer", "Try and check cprime"

EPILOG = """[bold]Six commands to start with[/]

  cprime example wine.csv
  cprime choose wine.csv --standardize
  cprime fit wine.csv -k 3 --standardize
  cprime predict wine.cprime wine.csv -o labels.csv
  cprime report wine.cprime wine.csv -o wine.html
  cprime compare wine.csv -k 3 --standardize

[bold]More[/]        cprime COMMAND --help
[bold]Exit codes[/]  0 success; 1 error; 2 wrong usage;
            130 interrupted; 143 terminated
[bold]Debugging[/]   CPRIME_DEBUG=1 shows where an error comes from"""


def _unwrap(text: str | None) -> str:
    """Return paragraphs without line breaks of their own: help has any width."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _flow(epilog: str | None) -> str | None:
    """Return an epilog whose prose has any width; what is indented stays as it is."""
    paragraphs = (epilog or "").split("\n\n")
    flowing = (p if "\n " in p else " ".join(p.split("\n")) for p in paragraphs)
    text = "\n\n".join(flowing)
    # From the second line on, typer removes the indentation that all lines share.
    return f"\n{text}" if text else None


def _hide_types(params: list[Any]) -> list[Any]:
    """Let help say "--json" and "DATA", not "--json <bool>" and "DATA <path>"."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
        if param.param_type_name == "argument":
            usage = param.metavar if param.required else f"[{param.metavar}]"
            pieces = [usage + ("..." if param.nargs != 1 else "")]
            param.display_type_rich = lambda ctx: None
            param.get_usage_pieces = lambda ctx, pieces=pieces: pieces
    return params


class Command(TyperCommand):
    """A command whose help is short."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _hide_types(super().get_params(ctx))


class Commands(TyperGroup):
    """Commands whose errors are one helpful line, and whose exit codes mean something.

    Whatever runs them, the installed script or a test, goes through here.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run what was typed; return the exit code, or exit with it."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # A terminal that cannot show a tick shows something in its place.
                stream.reconfigure(errors="replace")
        typed = sys.argv[1:] if args is None else list(args)
        try:
            # What was typed goes along: a model remembers the command it was made by.
            code = super().main(
                typed, prog_name, complete_var, False, obj=typed, **extra
            )
        except errors.UsageError as error:
            errors.print_line(errors.usage_line(error))
            code = errors.USAGE
        if standalone_mode:
            sys.exit(code or errors.DONE)
        return code or errors.DONE

    def get_params(self, ctx: Any) -> list[Any]:
        return _hide_types(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run a command, and put its errors into words."""
        try:
            return super().invoke(ctx)
        except (errors.UsageError, typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt:
            errors.print_line(errors.StoppedError.opening)
            raise typer.Exit(errors.INTERRUPTED) from None
        except errors.StoppedError as stop:
            errors.print_line(f"{stop.opening} {errors.line_of(stop)}".rstrip())
            raise typer.Exit(stop.code) from None
        except Exception as error:
            errors.print_line(f"cprime: {errors.line_of(error)}")
            raise typer.Exit(errors.CANNOT) from None


app = typer.Typer(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog=EPILOG,
    invoke_without_command=True,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"cprime {cprime.__version__}")
        raise typer.Exit


def _cprime(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Show the version.",
        ),
    ] = False,
) -> None:
    """Find clusters in a file, and measure how ambiguous their labels are.

    One dial, C', goes from k-means (1) to Gaussian mixtures (all). Data are rows of
    numbers in .parquet, .arrow, .csv, .tsv or .npy files, of any size.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.callback(help=_unwrap(_cprime.__doc__))(_cprime)

for panel, modules in {
    WORK: (choose, fit, predict),
    LOOK: (info, report, compare, sample),
    CHECK: (example, doctor, bench, reproduce),
}.items():
    for module in modules:
        name = module.__name__.rpartition(".")[2]
        epilog = _flow(getattr(module, "EPILOG", None))
        function = getattr(module, name)
        app.command(
            name,
            cls=Command,
            rich_help_panel=panel,
            epilog=epilog,
            help=_unwrap(function.__doc__),
        )(function)
