"""The root of the command tree. A command's module is imported when the command is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from dragoman.cli.groups import Command, Group, limit_numbers
from dragoman.errors import DragomanError

__all__ = ["app"]

# The first paragraph of each command's help; the command itself is in the module of its name.
_SUMMARIES = {
    "corpus": "Make and look after corpora.",
    "align": "Align the words of parallel text in both directions and combine them.",
    "lm": "Estimate, query and export n-gram language models.",
    "train": "Train a translation system on parallel text, one sentence a line, raw or tokenised.",
    "system": "Look at, check and export systems.",
    "lists": "Make k-best lists of a system's training text, each line decoded by tables that have not seen it.",
    "gradient": "Sum the gradient of losses over a system's training text; candidate lists are not stored.",
    "tune": "Find weights that maximise a metric on candidates of any decoder: lists that exist, or a decoder at work.",
    "mert-moses": "Tune Moses as mert-moses.pl does, with the same options: decode, learn, decode again.",
    "weights": "Show weights, or convert a weight file into another format.",
    "translate": "Translate text line by line; an empty line stays empty.",
    "lookup": "Show the translations of a phrase with counts and probabilities, and sentences that they come from.",
    "forest": "Look at stored search spaces.",
    "pool": "Look at, unite, cut and convert candidate lists.",
    "features": "Add features to the candidates of a list: language and translation models, agreement, your numbers.",
    "rerank": "Print the best candidate of each sentence by these weights, one line each, by sentence number.",
    "oracle": "The best score that any choice from the lists reaches (for BLEU a lower bound, by hill climbing).",
    "ablate": "Learn which features help to choose from candidate lists, and by how much.",
    "mbr": "Choose the candidate with the highest expected utility: minimum-Bayes-risk decoding of lists or samples.",
    "score": "Score translations as sacrebleu does; with several systems, test each against the first.",
    "reference": "Show how a system derives given translations, and what competes with each rule or phrase.",
    "curve": "Draw the score of a system as a function of single weights, exactly, with all others fixed.",
    "run": "Run an experiment; stopped at any moment, it continues with --resume to the same result.",
    "compare": "Compare the methods of one or more runs on each test set: mean and deviation over seeds, significance.",
    "serve": "Open a page in the browser where systems translate while one types, and show why they translate so.",
    "report": "Write one self-contained page on one or more runs: results, learning curves, weights, costs, sentences.",
    "demo": "Train a system on the embedded corpus, tune it with few features and with many, report.",
}
_ELSEWHERE = {"oracle": "rerank"}


class _Root(Group):
    """Knows the names and summaries of commands, and the commands themselves when they are wanted."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors then name its options instead of settings."""
        try:
            return super().invoke(ctx)
        except DragomanError as error:
            from dragoman.cli.as_options import as_options

            error.reword(as_options)
            raise

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            return None
        name = cmd_name.replace("-", "_")
        module = import_module(f"dragoman.cli.{_ELSEWHERE.get(name, name)}")
        if hasattr(module, "app"):
            commands = module.app
        else:
            commands = typer.Typer(add_completion=False, rich_markup_mode=None)
            commands.command(cmd_name, cls=getattr(module, "COMMAND", Command))(getattr(module, name))
        command = typer.main.get_command(commands)
        limit_numbers(command)
        return command


app = typer.Typer(
    name="dragoman",
    cls=_Root,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _placeholder() -> None: ...


for _name, _summary in _SUMMARIES.items():
    app.command(_name, help=_summary)(_placeholder)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"dragoman {version('dragoman')}")
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
