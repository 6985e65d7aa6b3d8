"""The root of the command tree."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from typing import Annotated

import typer

from dragoman.cli.align import align
from dragoman.cli.compare import compare
from dragoman.cli.corpus import app as corpus_app
from dragoman.cli.demo import demo
from dragoman.cli.forest import app as forest_app
from dragoman.cli.lm import app as lm_app
from dragoman.cli.report import report
from dragoman.cli.rerank import oracle, rerank
from dragoman.cli.run import run
from dragoman.cli.score import score
from dragoman.cli.system import app as system_app
from dragoman.cli.train import train
from dragoman.cli.translate import translate
from dragoman.cli.tune import tune

__all__ = ["app"]

app = typer.Typer(
    name="dragoman",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
app.add_typer(corpus_app, name="corpus")
app.command()(align)
app.add_typer(lm_app, name="lm")
app.command()(train)
app.add_typer(system_app, name="system")
app.command()(tune)
app.command()(translate)
app.add_typer(forest_app, name="forest")
app.command()(rerank)
app.command()(oracle)
app.command()(score)
app.command()(run)
app.command()(compare)
app.command()(report)
app.command()(demo)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dragoman {installed_version('dragoman')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn machine-translation systems discriminatively, from parallel text to a tuned and evaluated system.

    Start with `dragoman demo`. Files may be plain, gz, xz or zst; `-` is standard input or output. Exit status: 0 fine,
    1 failed, 2 bad usage or bad input.
    """
