"""Messages of the library name settings; the command line shows them as its options."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import typer.main

import dragoman
from dragoman.cli import main
from dragoman.cli.app import app
from dragoman.cli.as_options import _OPTIONS, as_options
from dragoman.errors import InputError

PACKAGE = Path(dragoman.__file__).parent
OPTION = re.compile(r"(?:^|[\s(`;,])--[a-z]{1,}")
COMMAND = re.compile(r"`?\b(dragoman|tune|pool convert|gradient|corpus clean|ray start)\b[^`]*--[a-z]|--set ")
"""What names a command together with its option, or parses the items of --set."""
PAGES = ("cli", "synth", "debian", "demo", "view")
"""Who speaks to users of commands alone."""


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("name some, such as `features=hols_sparse`", "name some, such as --features hols_sparse"),
        ("train it with `n_folds`", "train it with --folds"),
        ("go on with `resume=True`", "go on with --resume"),
        ("train it with `classes=(20, 50, 80)`, or", "train it with --classes 20 --classes 50 --classes 80, or"),
        ("say `raw=True` or `raw=False`", "say --raw or --tokenized"),
        ("`sparse=True` tunes them too", "--set sparse=true tunes them too"),
        ("`memory=1.5 GiB`: too little", "--memory 1.5 GiB: too little"),
        ("`dragoman lists` and `nothing` stay, and `a` b`", "`dragoman lists` and `nothing` stay, and `a` b`"),
    ],
)
def test_settings_are_shown_as_options(said, shown):
    assert as_options(said) == shown


def options_of(command):
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from options_of(command.get_command(None, name))


def test_every_option_exists():
    known = set(options_of(typer.main.get_command(app)))
    assert {option.split()[0] for option in _OPTIONS.values()} <= known


def texts(path):
    """The strings of a module that are no documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    pages = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in pages:
            yield node.lineno, node.value


def test_no_message_of_the_library_names_an_option():
    named = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0].removesuffix(".py") not in PAGES
        for line, text in texts(path)
        if OPTION.search(text) and not COMMAND.search(text)
    ]
    assert named == []


def test_a_command_shows_options_and_python_settings(tmp_path, monkeypatch, capsys):
    lists = tmp_path / "lists.jsonl"
    lists.write_text('{"id": 0, "text": "a", "scores": {"q": 1}}\n{"id": 0, "text": "b", "scores": {"q": null}}\n')
    monkeypatch.setattr("sys.argv", ["dragoman", "oracle", "--nbest", str(lists), "--external", "q"])
    with pytest.raises(SystemExit):
        main()
    assert "unless missing ones are allowed (--allow-missing), which count as" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"unless missing ones are allowed \(`fill_missing=True`\), which count as"):
        dragoman.with_external(dragoman.read_pool(lists), "q")
