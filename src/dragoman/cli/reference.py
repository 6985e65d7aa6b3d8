"""`dragoman reference`: how a system derives given translations, as FastForest sees them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from dragoman.align import Alignment
from dragoman.cli.declared import takes
from dragoman.cli.search_weights import read_search_weights
from dragoman.cli.session import Json, Quiet, Session, check_inputs
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.search import ReferenceConfig
from dragoman.system import System
from dragoman.system.aligned_pairs import AlignedPairs
from dragoman.system.reference_view import ReferenceView, ShownRule, view_references
from dragoman.text import printable

__all__ = ["reference"]

_REACHED = {
    "yes": "the rules derive the reference",
    "added": "the reference is derived with rules of its minimal tree, marked +, that a decoder would not use",
    "holes": "the reference is derived with supplied rules, marked *, that the tables lack",
    "no": "there is no derivation of the reference",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    folder: Annotated[Path, typer.Argument(metavar="SYSTEM", help="Folder of a system.")]
    line: Annotated[
        list[int] | None,
        typer.Option(min=1, metavar="N", help="A line of the system's training text (train --folds), from 1; repeat."),
    ] = None
    source: Annotated[str | None, typer.Option("--source", "-s", metavar="FILE", help="Source sentences.")] = None
    target: Annotated[str | None, typer.Option("--target", "-t", metavar="FILE", help="Their translations.")] = None
    align: Annotated[str | None, typer.Option(metavar="FILE", help="Word links of each pair, as 0-0 1-2.")] = None
    all_data: Annotated[
        bool, typer.Option("--all-data", help="With --line: by tables that have seen the line, not by the others.")
    ] = False
    features: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Sparse features; those of the system unless given.")
    ] = None
    weights: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Other weights than the system's; repeat to unite files.")
    ] = None
    scale: Annotated[
        float, typer.Option(metavar="X", help="Multiplies the weights: MERT's have no scale, probabilities need one.")
    ] = 1.0
    instead: Annotated[int, typer.Option(min=0, metavar="N", help="Competitors of a rule to show.")] = 3
    wide: Annotated[bool, typer.Option("--wide", help="Competitors with other source sides too.")] = False
    json: Json = False
    quiet: Quiet = False

    def check(self) -> None:
        files = [self.source, self.target, self.align]
        if bool(self.line) == any(files):
            raise InputError("name lines of the training text with --line, or files with -s, -t and --align")
        if any(files) and not all(files):
            raise InputError("a pair needs its source, its translation and its links: -s, -t and --align")
        if self.all_data and not self.line:
            raise InputError("--all-data belongs to --line; other text is derived by tables of all data anyway")
        if not (0 < self.scale < float("inf")):
            raise InputError(f"--scale must be positive, not {self.scale}")


@takes(_Options)
def reference(options: _Options) -> None:
    """Show how a system derives given translations, and what competes with each rule or phrase.

    The tree of the most probable derivation of each reference (of phrase-based systems, its phrases), every rule with
    the probability that a derivation of its forest has it, and below it the rules that could stand in its place: this
    is what `tune --method fastforest` learns from.
    """
    options.check()
    session = Session(json=options.json, quiet=options.quiet)
    check_inputs(options.source, options.target, options.align)
    system = System.load(options.folder)
    if options.features is not None:
        system = system.with_templates(options.features)
    weights = system.weights if not options.weights else read_search_weights(options.weights, system)
    scaled = Weights(weights.index, weights.values * options.scale)
    config = ReferenceConfig(wide=options.wide)
    views = _of_lines(system, options, scaled, config) if options.line else _of_files(system, options, scaled, config)
    if options.json:
        session.emit({"pairs": [view.to_json() for view in views]})
        return
    for view in views:
        for line in _shown(view):
            typer.echo(line)


def _of_lines(system: System, options: _Options, weights: Weights, config: ReferenceConfig) -> list[ReferenceView]:
    training = system.training
    found = []
    for number in options.line or ():
        if number > len(training):
            raise InputError(f"--line {number}: the training text has {len(training):,} lines", path=system.folder)
        line = np.array([number - 1], np.int64)
        fold = None if options.all_data else int(training.folds[number - 1])
        target = training.target_ids.take(line)
        found += view_references(
            system.view(fold),
            training.encoded(line, fold),
            [(training.source(number - 1), training.target(number - 1))],
            [target.ids.tolist()],
            Alignment.of([training.links[number - 1]]),
            weights,
            config,
            n_instead=options.instead,
        )
    return found


def _of_files(system: System, options: _Options, weights: Weights, config: ReferenceConfig) -> list[ReferenceView]:
    assert options.source is not None
    assert options.target is not None
    assert options.align is not None
    pairs = AlignedPairs.read(system, options.source, options.target, options.align)
    return view_references(
        system,
        pairs.sources,
        list(zip(pairs.sources, pairs.targets, strict=True)),
        [pairs.target_ids[i].tolist() for i in range(len(pairs))],
        pairs.links,
        weights,
        config,
        n_instead=options.instead,
    )


def _shown(view: ReferenceView) -> list[str]:
    lines = [f"source     {view.source}", f"reference  {view.target}"]
    lines.append(f"{_REACHED[view.reached]}; its probability in the forest: {view.probability:.3f}")
    if not view.rules and view.reached != "no":
        lines.append("no rule of it has an alternative: there is nothing to learn from it")
    for rule in view.rules:
        mark = {"hole": "*", "added": "+"}.get(rule.kind, " ")
        lines.append(f"{rule.probability:6.3f} {mark}{'  ' * rule.depth}{_side(rule)}")
        lines += [f"{other.probability:6.3f}  {'  ' * rule.depth}  or {_side(other)}" for other in rule.instead]
    return [printable(line) for line in [*lines, ""]]


def _side(rule: ShownRule) -> str:
    return f"{rule.source} -> {rule.target}  [{rule.span[0]}, {rule.span[1]})"
