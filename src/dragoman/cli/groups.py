"""Groups of commands whose help shows whole summaries, and commands whose whole numbers have an end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from dragoman.errors import InputError

__all__ = [
    "Command",
    "Group",
    "LeadingCommand",
    "LeadingGroup",
    "OneDashCommand",
    "command_group",
    "leading_group",
    "limit_numbers",
    "summary",
]

# Everything else must fit into what the native core counts with.
_GREATEST = {"seed": 2**63 - 1, "threads": 4096, "bootstrap": 1_000_000, "trials": 1_000_000}


class Command(TyperCommand):
    """A command whose help shows options by the panel they are declared with."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options without a panel, then panel by panel in the order of their first options."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            shown = parameter.get_help_record(ctx)
            panel = getattr(parameter, "rich_help_panel", None)
            kind = "Arguments" if parameter.param_type_name == "argument" else panel or "Options"
            if shown is not None:
                sections.setdefault(kind, []).append(shown)
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class OneDashCommand(Command):
    """A command whose long options may have one dash, as Perl's Getopt::Long has them: `-nbest 100`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give long options their second dash, but not what is the value of an option."""
        takes_value = {
            name: not getattr(parameter, "is_flag", False)
            for parameter in self.get_params(ctx)
            if parameter.param_type_name == "option"
            for name in parameter.opts
        }
        told = []
        is_value = False
        for word in args:
            name, equals, _ = word.partition("=")
            if not is_value and f"-{name}" in takes_value and name.startswith("-") and not name.startswith("--"):
                word, name = f"-{word}", f"-{name}"
            is_value = not is_value and takes_value.get(name, False) and not equals
            told.append(word)
        return super().parse_args(ctx, told)


class Group(TyperGroup):
    """A group whose help shows the first paragraph of each command's help."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands; lines are folded, not cut off."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(command)) for name, command in self.commands.items()])


class _LeadingContext(typer.Context):
    """Of a command without a name of its own."""

    @property
    def command_path(self) -> str:
        return super().command_path.strip()


class LeadingCommand(Command):
    """The first command of a LeadingGroup; its help names the others."""

    context_class = _LeadingContext

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, then the other commands."""
        super().format_options(ctx, formatter)
        others = {name: command for name, command in ctx.parent.command.commands.items() if command is not self}
        with formatter.section(f"Commands ({ctx.command_path} COMMAND --help)"):
            formatter.write_dl([(name, summary(command)) for name, command in others.items()])


class LeadingGroup(Group):
    """A group whose first command is meant where none is named: `lists SYSTEM` beside `lists info LISTS`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the first command where the first word is no command."""
        if args and args[0] not in self.commands:
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of the first word; the first command goes by the group's name alone."""
        name, command, rest = super().resolve_command(ctx, args)
        return (None if isinstance(command, LeadingCommand) else name), command, rest


def command_group(text: str) -> typer.Typer:
    """A command that has commands of its own."""
    return typer.Typer(cls=Group, no_args_is_help=True, add_completion=False, help=text, rich_markup_mode=None)


def leading_group(text: str) -> typer.Typer:
    """A command that has commands of its own beside what it does itself, its first one (a LeadingCommand)."""
    return typer.Typer(cls=LeadingGroup, no_args_is_help=True, add_completion=False, help=text, rich_markup_mode=None)


def summary(command: Any) -> str:
    """The first paragraph of a command's help."""
    return " ".join((command.help or "").split("\n\n")[0].split())


def limit_numbers(command: Any) -> None:
    """Give the whole numbers among the options of a command, or of a group's commands, an upper limit."""
    from dragoman.types import MAX_INT32

    for parameter in command.params:
        parameter.callback = _checked(parameter.callback, _GREATEST.get(parameter.name, MAX_INT32))
    for part in getattr(command, "commands", {}).values():
        limit_numbers(part)


def _checked(callback: Callable[..., Any] | None, greatest: int) -> Callable[..., Any]:
    def check(context: Any, parameter: Any, value: Any) -> Any:
        for number in value if isinstance(value, list | tuple) else [value]:
            if isinstance(number, int) and abs(number) > greatest:
                end = f"large; the maximum is {greatest}" if number > 0 else f"small; the minimum is {-greatest}"
                raise InputError(f"{parameter.opts[0]} {number} is too {end}")
        return value if callback is None else callback(context, parameter, value)

    return check
