"""What one sees of an experiment at work."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from dragoman.cli.board import Board
from dragoman.cli.run import cell_json
from dragoman.cli.session import Session
from dragoman.experiments import read_recipe
from dragoman.metric import by_name
from dragoman.run import CellResult, CellRound
from dragoman.tuning import RoundRecord

TWO_SYSTEMS = Path(__file__).parents[1] / "kit" / "two_systems.toml"


def round_record(number, score):
    return RoundRecord(round=number, score=score, gain=score, n_new=1, n_candidates=1, n_features=1)


def finished(key, dev, bleu, metric="bleu"):
    entry = CellRound(
        round=1, dev=dev, test=None, n_candidates=1, n_features=1, n_active=1,
        decode_wall_s=0, decode_cpu_s=0, learn_wall_s=0, learn_cpu_s=0,
    )  # fmt: skip
    return CellResult(key=key, metric=metric, rounds=(entry,), best_round=1, scores={"bleu": bleu})


def board_of(session, recipe, cells):
    """A board as `dragoman run` makes it."""
    configs = {key: recipe.optimisers[key.optimiser].config for key in cells}
    metrics = {key: by_name(config.metric).name for key, config in configs.items()}
    return Board(session, cells, metrics, {key: config.loop.max_rounds + 1 for key, config in configs.items()})


@pytest.fixture
def recipe():
    return read_recipe(TWO_SYSTEMS)


def drive(board, cells):
    board.begin_cell(cells[0])
    with board.progress("aligning words", 100) as progress:
        progress(40)
        halfway = board.render()
    board.step(cells[0], 1, "decoding")
    board.end_round(cells[0], round_record(1, 0.25))
    board.end_cell(finished(cells[0], 0.25, 0.2), before=False)
    board.begin_cell(cells[1])
    board.end_cell(CellResult(key=cells[1], error="[bold]no[/bold] \x1b[31mweights"), before=False)
    board.end_cell(finished(cells[2], 0.5, 0.4), before=True)
    return halfway


def shown(what):
    console = Console(file=io.StringIO(), width=140)
    console.print(what)
    return console.file.getvalue()


def test_lines_where_there_is_no_terminal(recipe, capsys):
    with board_of(Session(), recipe, recipe.cells) as board:
        drive(board, recipe.cells)
    lines = capsys.readouterr().err.splitlines()
    assert lines[1] == "synth/phrase/dense/mert/1: round 1: dev 25.00, less than a minute left"
    assert lines[2] == "synth/phrase/dense/mert/1: done, test BLEU 20.00"
    assert lines[4].startswith("synth/phrase/dense/mert/2: failed: [bold]no[/bold]")
    assert "\x1b" not in lines[4]
    assert lines[5].endswith("was done, test BLEU 40.00")


def test_another_metric_is_named(capsys):
    recipe = read_recipe(TWO_SYSTEMS, ["optimisers.mert.metric='(TER - bleu) / 2'"])
    with board_of(Session(), recipe, recipe.cells) as board:
        board.begin_cell(recipe.cells[0])
        board.end_round(recipe.cells[0], round_record(1, 0.25))
    assert ": round 1: dev 25.00 (TER-BLEU)/2, less than" in capsys.readouterr().err
    with board_of(Session(quiet=True), recipe, recipe.cells) as board:
        board.end_cell(finished(recipe.cells[0], 0.5, 0.4, metric="ter"), before=False)
    assert "50.00 TER" in shown(board.render())
    assert cell_json(finished(recipe.cells[0], 0.5, 0.4, metric="ter"))["metric"] == "ter"


def test_a_table_in_a_terminal(recipe, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with board_of(Session(), recipe, recipe.cells) as board:
        board.say("a word")
        halfway = shown(drive(board, recipe.cells))
    assert "aligning words 40 of 100" in halfway
    assert "0 of 12 cells" in halfway
    text = shown(board.render())
    assert "failed: [bold]no[/bold]" in text
    assert "3 of 12 cells" in text
    assert "25.00" in text
    assert "waits" in text
    assert "a word" in capsys.readouterr().err


def test_a_large_grid_is_shown_around_the_cell_at_work(recipe, monkeypatch):
    monkeypatch.setenv("LINES", "12")
    many = read_recipe(TWO_SYSTEMS, [f"grid.seeds={list(range(50))}"]).cells
    with board_of(Session(quiet=True), recipe, many) as board:
        board.begin_cell(many[200])
        text = shown(board.render())
    assert many[200].name in text
    assert many[0].name not in text
    assert text.count("synth/") == 6


def test_quiet_is_quiet(recipe, capsys):
    with board_of(Session(quiet=True), recipe, recipe.cells) as board:
        drive(board, recipe.cells)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("quiet", [False, True])
def test_warnings_of_cells_are_heard(recipe, capsys, quiet):
    cells = recipe.cells
    odd = replace(finished(cells[0], 0.25, 0.2), notes=("seen", "odd"), warnings=("odd",))
    with board_of(Session(quiet=quiet), recipe, cells) as board:
        board.end_cell(odd, before=False)
        board.warn("training is odd")
    said = capsys.readouterr().err
    assert f"warning: {cells[0].name}: odd\nwarning: training is odd\n" in said
    assert "seen" not in said
    with board_of(Session(quiet=quiet), recipe, cells) as board:
        board.end_cell(odd, before=True)  # which an earlier run has said
    assert "warning" not in capsys.readouterr().err
