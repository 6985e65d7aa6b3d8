"""What commands import: help and version come at once, and no command pays for another."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import typer.main

import dragoman
from dragoman.cli.app import app
from dragoman.cli.groups import summary

HEAVY = {"numpy", "rich", "jinja2", "markupsafe", "sacrebleu", "sacremoses", "zstandard", "multiprocessing"}
IMPORTED = """
import json, sys
sys.argv = ["dragoman", *sys.argv[1:]]
from dragoman.cli import main
try:
    main()
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)))
"""
CAPS = {
    "align": 46,
    "corpus stats": 48,
    "compare": 106,
    "curve": 303,
    "demo": 340,
    "features": 114,
    "forest best": 74,
    "gradient sum": 249,
    "lists info": 206,
    "lm query": 39,
    "lookup": 191,
    "mbr": 98,
    "mert-moses": 329,
    "oracle": 98,
    "pool info": 98,
    "reference": 194,
    "report": 105,
    "rerank": 98,
    "run": 338,
    "score": 70,
    "serve": 202,
    "system info": 191,
    "train": 190,
    "translate": 192,
    "tune": 329,
    "weights": 35,
}
"""Modules of ours that the help of a command may import. Raise a number only for what the command needs."""


def imported(*arguments):
    run = subprocess.run([sys.executable, "-c", IMPORTED, *arguments], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout.splitlines()[-1]))


@pytest.mark.parametrize("arguments", [["--help"], ["nonsense"], []], ids=["help", "unknown", "none"])
def test_the_root_imports_no_command(arguments):
    modules = imported(*arguments)
    assert not modules & HEAVY
    assert {name for name in modules if name.startswith("dragoman")} <= {
        "dragoman",
        "dragoman.cli",
        "dragoman.cli.app",
        "dragoman.cli.groups",
        "dragoman.errors",
    }


def test_the_version_imports_no_command():
    assert not imported("--version") & HEAVY


@pytest.mark.parametrize("command", CAPS)
def test_a_command_imports_what_it_needs(command):
    modules = imported(*command.split(), "--help")
    assert len([name for name in modules if name.startswith("dragoman")]) <= CAPS[command]
    assert not modules & {"jinja2", "sacrebleu", "sacremoses", "rich.progress", "dragoman_synth"}
    assert "dragoman.experiments" not in modules or command in {"run", "demo"}
    assert "dragoman.system" not in modules or CAPS[command] > 100


def test_summaries_are_those_of_the_commands():
    root = typer.main.get_command(app)
    assert len(root.commands) == 27
    for name, placeholder in root.commands.items():
        assert summary(placeholder) == summary(root.get_command(None, name)), name


def test_importing_the_package_is_cheap_and_complete():
    code = (
        "import sys, dragoman; assert 'numpy' not in sys.modules;"
        "assert set(dragoman.__all__) <= set(dir(dragoman));"
        "[getattr(dragoman, name) for name in dragoman.__all__];"
        "import dragoman.tuning; assert dragoman.tune is dragoman.tuning.tune_system;"
        "from dragoman.tuning import TuneConfig; assert dragoman.TuneConfig is TuneConfig"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not hasattr(dragoman, "nothing")
