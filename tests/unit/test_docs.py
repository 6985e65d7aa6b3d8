"""Pages: lines that fit a screen, and commands whose names and options exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from dragoman.cli.app import app
from dragoman.cli.groups import LeadingGroup

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "examples").rglob("*.md"),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
]
pages = pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: str(page.relative_to(ROOT)))
MAX_LENGTH = 140


@pages
def test_lines_are_short(page):
    """But for rows of tables, and for what cannot be broken."""
    long = [
        f"line {number}: {len(line)}"
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > MAX_LENGTH and not line.startswith("|") and " " in line.strip()[2:MAX_LENGTH]
    ]
    assert long == []


def commands_of(page):
    """What stands in backticks or begins a line of a block of commands, without comments and continued lines."""
    text = page.read_text(encoding="utf-8")
    block = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    for language, code in block.findall(text):
        if language == "sh":
            for line in code.replace("\\\n", " ").splitlines():
                if line.startswith("dragoman "):
                    yield re.split(r" [#|>&]|;", line)[0]
    yield from (" ".join(found.split()) for found in re.findall(r"`(dragoman [^`]+)`", block.sub("", text)))


def options_of(words):
    """The options that a command takes, and those of its alternatives for `lm train|query`."""
    command = typer.main.get_command(app)
    for word in words:
        if not hasattr(command, "get_command") or not re.fullmatch(r"[a-z]+(-[a-z]+)*(\|[a-z]+)*", word):
            break
        if isinstance(command, LeadingGroup) and word not in command.commands:
            break
        found = [command.get_command(command.context_class(command), name) for name in word.split("|")]
        assert None not in found, f"{word} is no command"
        command = found[0]
    if isinstance(command, LeadingGroup):
        command = next(iter(command.commands.values()))
    parameters = command.get_params(command.context_class(command, help_option_names=["-h", "--help"]))
    return {option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)}


@pages
def test_commands_and_options_exist(page):
    for line in commands_of(page):
        words = line.replace("[", "").replace("]", "").split()[1:]
        if words[0] == "COMMAND":
            continue
        known = options_of(words)
        given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert given - known == set(), line


def test_options_that_messages_name_exist():
    """`corpus clean --max-words` and the like, named in an error or a help text."""
    top = typer.main.get_command(app)
    names = {
        f"{name} {inner}"
        for name in top.list_commands(top.context_class(top))
        for command in [top.get_command(top.context_class(top), name)]
        if hasattr(command, "list_commands")
        for inner in command.list_commands(command.context_class(command))
    }
    found = set()
    for path in (ROOT / "src").rglob("*.py"):
        text = re.sub(r'"\s*\n\s*f?"', "", path.read_text(encoding="utf-8"))
        found |= set(re.findall(r"\b([a-z]+ [a-z]+) (--[a-z-]+[a-z])", text))
    checked = [(command, option) for command, option in found if command in names]
    assert len(checked) > 3
    for command, option in checked:
        assert option in options_of(command.split()), f"{command} {option}"
