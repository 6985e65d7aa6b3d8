"""Runs: folders that record one experiment, from which it can be resumed, compared and reported."""

from dragoman.run.cells import (
    CellKey,
    CellResult,
    CellRound,
    SetScores,
    TestSet,
    TextSize,
    cell_folder,
    corpus_folder,
    load_cell,
    load_cells,
    load_plans,
    load_sizes,
    load_test_sets,
    no_gain,
    plan_changes,
    save_plan,
    save_sizes,
    sizes_file,
    start_file,
    translations_file,
)
from dragoman.run.folder import RunFolder
from dragoman.run.held_out_lines import HeldOutLines, Kept
from dragoman.run.updates import Update

__all__ = [
    "CellKey",
    "CellResult",
    "CellRound",
    "HeldOutLines",
    "Kept",
    "RunFolder",
    "SetScores",
    "TestSet",
    "TextSize",
    "Update",
    "cell_folder",
    "corpus_folder",
    "load_cell",
    "load_cells",
    "load_plans",
    "load_sizes",
    "load_test_sets",
    "no_gain",
    "plan_changes",
    "save_plan",
    "save_sizes",
    "sizes_file",
    "start_file",
    "translations_file",
]
