"""What `lists` and `gradient` share: which lines of the training text, decoded how, measured by what, by whom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from dragoman.cli.engine_options import Address, EngineOption, Workers, engine_of
from dragoman.cli.search_weights import read_search_weights
from dragoman.cli.session import Json, Quiet, Session, Threads
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.settings import Record
from dragoman.system import Preset, System
from dragoman.system.training import SHARD_LINES
from dragoman.work.engine import Engine, EngineName

__all__ = ["TrainingOptions"]

_lines = partial(typer.Option, rich_help_panel="Lines")
_search = partial(typer.Option, rich_help_panel="Candidates")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions(Record):
    """Options of commands that decode the training text; a command's own options are fields of a subclass."""

    folder: Annotated[Path, typer.Argument(metavar="SYSTEM", help="Folder of a system trained with --folds.")]
    where: Annotated[
        str | None,
        _lines(metavar="DOMAIN", help="Lines of this domain only (train --domains); '!DOMAIN': of all others."),
    ] = None
    limit: Annotated[int | None, _lines(metavar="N", help="The first N lines only.")] = None
    lines_per_shard: Annotated[
        int, _lines(metavar="N", help="Lines that are done together, or done again after a stop.")
    ] = SHARD_LINES
    all_data: Annotated[
        bool,
        _search(
            "--all-data/--folds",
            help="Decode by the tables of all data, which have seen the line, or (default) by those without its fold.",
        ),
    ] = False
    distinct: Annotated[bool, _search("--distinct", help="Candidates with different words only.")] = False
    features: Annotated[
        list[str] | None,
        _search(
            metavar="NAME",
            help="Sparse features, a set such as extended or a template; repeat. Those of the system unless given.",
        ),
    ] = None
    weights: Annotated[
        list[str] | None,
        _search(metavar="FILE", help="Other weights of the search than the system's; repeat to unite files."),
    ] = None
    fast: Annotated[bool, _search("--fast", help="Less search.")] = False
    accurate: Annotated[bool, _search("--accurate", help="More search.")] = False
    metric: Annotated[
        str, _search("--metric", "-m", metavar="NAME", help="What is measured: bleu, chrf, ter, (ter-bleu)/2, …")
    ] = "bleu"
    engine: EngineOption = EngineName.LOCAL
    workers: Workers = None
    address: Address = None
    threads: Threads = 0
    json: Json = False
    quiet: Quiet = False

    def session(self) -> Session:
        return Session(n_threads=self.threads, json=self.json, quiet=self.quiet)

    def open_engine(self, session: Session) -> Engine:
        return engine_of(session, self.engine, self.workers, self.address, threads=self.threads)

    def search_weights(self, system: System) -> Weights | None:
        """Other weights than the system's, if the user names some."""
        return read_search_weights(self.weights, system) if self.weights else None

    def settings(self, system: System) -> dict[str, Any]:
        """Fields of ListsSettings."""
        if self.fast and self.accurate:
            raise InputError("choose one of --fast and --accurate")
        return {
            "distinct": self.distinct,
            "all_data": self.all_data,
            "features": system.settings.features if self.features is None else tuple(self.features),
            "where": self.where,
            "limit": self.limit,
            "preset": Preset.FAST if self.fast else Preset.ACCURATE if self.accurate else Preset.DEFAULT,
            "metric": self.metric,
            "lines_per_shard": self.lines_per_shard,
        }
