"""A group of commands that does something itself where no command is named."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from dragoman.cli.groups import LeadingCommand, leading_group

Folder = Annotated[str, typer.Argument(metavar="FOLDER")]


@pytest.fixture
def run():
    app = leading_group("Make things.")

    @app.command(cls=LeadingCommand)
    def make(folder: Folder, out: str = typer.Option("here", "--out", "-o")) -> None:
        """Make things.

        Example: things folder
        """
        typer.echo(f"made {folder} {out}")

    @app.command()
    def info(folder: Folder) -> None:
        """About things."""
        typer.echo(f"about {folder}")

    return lambda *words: CliRunner().invoke(app, words, prog_name="things")


def test_the_first_command_needs_no_name(run):
    assert run("folder").output == "made folder here\n"
    assert run("-o", "there", "folder").output == "made folder there\n"
    assert run("info", "folder").output == "about folder\n"
    assert run("./info").output == "made ./info here\n"


def test_help_is_that_of_the_first_command_and_names_the_others(run):
    text = run("--help").output
    assert "Usage: things [OPTIONS]" in text
    assert "--out" in text
    assert "About things." in text
    assert "Usage: things info [OPTIONS]" in run("info", "--help").output


def test_usage_errors_have_status_2(run):
    assert run("a", "b", "c").exit_code == 2
    assert run("info").exit_code == 2


def test_errors_name_the_command_as_the_user_does(run):
    assert "Try 'things --help'" in run("a", "b").output
