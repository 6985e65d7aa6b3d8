"""`dragoman lists`: k-best lists of the training text, stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from dragoman.cli.declared import takes
from dragoman.cli.groups import LeadingCommand, leading_group
from dragoman.cli.session import Json, Quiet, Session, Threads, table
from dragoman.cli.training_options import TrainingOptions
from dragoman.sources.lists import (
    ListsFolder,
    ListShard,
    ListsSettings,
    StoredLists,
    count_features,
    join_lists,
    list_scores,
    make_lists,
    map_shard,
)
from dragoman.system import System
from dragoman.text import printable
from dragoman.types import Progress
from dragoman.work.engine import Part

__all__ = ["app"]

app = leading_group("Make k-best lists of a system's training text, each line decoded by tables that have not seen it.")
Out = Annotated[Path, typer.Option("--out", "-o", metavar="LISTS", help="Folder for the lists.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options(TrainingOptions):
    out: Out
    k: Annotated[int, typer.Option("--k", metavar="N", help="Candidates of a line at most.")] = 100
    shard: Annotated[
        Part | None,
        typer.Option(
            parser=Part.parse, metavar="I/N", help="Part I of N only, in a folder of its own, for `lists join`."
        ),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on after a stop; damaged files are made again.")] = False


@app.command(cls=LeadingCommand)
@takes(_Options)
def make(options: _Options) -> None:
    """Make k-best lists of a system's training text, each line decoded by tables that have not seen it.

    Candidates are stored as derivations with dense features and the statistics of a metric; `tune --lists` learns from
    them with any sparse features. Stopped at any moment, it goes on with --resume to the same bytes.

    Examples: dragoman lists system -o lists

    dragoman lists system -o lists --k 500 --distinct --where news --workers 8

    dragoman lists system -o part-2 --shard 2/8

    dragoman lists join part-1 part-2 part-3 -o lists

    dragoman lists info lists --features extended
    """
    session = options.session()
    with session.progress("verifying the system (MB)") as progress:
        System.verify(options.folder, n_threads=session.n_threads, progress=progress)
    system = System.load(options.folder)
    settings = ListsSettings(k=options.k, **options.settings(system))
    part = options.shard or Part()
    n_lines = len(system.training.select(where=settings.where, limit=settings.limit))
    shards = part.shards(-(-n_lines // settings.lines_per_shard))
    n_lines = min(n_lines, shards.stop * settings.lines_per_shard) - shards.start * settings.lines_per_shard
    with options.open_engine(session) as engine, session.progress("lists", n_lines) as progress:
        made = make_lists(
            system,
            options.out,
            settings,
            weights=options.search_weights(system),
            part=part,
            engine=engine,
            resume=options.resume,
            n_threads=session.n_threads,
            progress=progress,
            say=session.say,
        )
    _report(session, made)


@app.command()
def info(
    folder: Annotated[Path, typer.Argument(metavar="LISTS", help="Folder of lists.")],
    features: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Count these sparse features instead of those of the lists; repeat."),
    ] = None,
    system: Annotated[
        Path | None, typer.Option(metavar="SYSTEM", help="Where the system of the lists is now, if it was moved.")
    ] = None,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Tell what lists hold: candidates, features by template, scores of first and best candidates by fold.

    The oracle is a lower bound, by hill climbing in blocks of lists.

    Example: dragoman lists info lists
    """
    session = Session(n_threads=threads, json=json, quiet=quiet)
    lists = ListsFolder.load(folder)
    metric = lists.settings.measure()
    paths = lists.paths()
    opened = lists.open_system(system, features=features)
    with session.progress("names of features", len(paths)) as progress:
        pool = StoredLists(opened, paths, n_threads=session.n_threads, progress=progress).pool(metric)
    with session.progress("scores", len(paths)) as progress:
        scores = list_scores(_mapped(paths, progress), metric)
    with session.progress("features", len(paths)) as progress:
        counts = count_features(pool, progress)
    in_fold = lists.settings.all_data
    session.show(_what(lists))
    rows = table("in fold" if in_fold else "out of fold", "lists", "candidates", metric.name, "oracle", "length ratio")
    for row in scores:
        name = "all" if row.fold is None else f"fold {row.fold}"
        ratio = "" if row.length_ratio is None else f"{row.length_ratio:.3f}"
        shown = (metric.shown(value) for value in (row.score, row.oracle))
        rows.add_row(name, f"{row.n_lists:,}", f"{row.n_candidates:,}", *shown, ratio)
    session.show(rows)
    templates = table("features", "different", "a candidate")
    for name, count in counts.items():
        templates.add_row(Text(printable(name)), f"{count.n_features:,}", f"{count.per_candidate:.1f}")
    session.show(templates)
    points = [{"score": metric.points(row.score), "oracle": metric.points(row.oracle)} for row in scores]
    session.emit(
        {
            **_summary(lists),
            "metric": metric.name,
            "in_fold": in_fold,
            "features": counts,
            "scores": [{**asdict(row), **shown} for row, shown in zip(scores, points, strict=True)],
        }
    )


@app.command()
def join(
    parts: Annotated[list[Path], typer.Argument(metavar="PART...", help="Folders made with --shard.")],
    out: Out,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Join the parts that --shard made, in any order, into lists that equal those of one run, byte by byte.

    Example: dragoman lists join part-1 part-2 part-3 -o lists
    """
    session = Session(n_threads=threads, json=json, quiet=quiet)
    _report(session, join_lists(parts, out, n_threads=session.n_threads))


def _mapped(paths: list[Path], progress: Progress) -> Iterator[ListShard]:
    for number, path in enumerate(paths, start=1):
        yield map_shard(path)
        progress(number)


def _report(session: Session, lists: ListsFolder) -> None:
    session.show(_what(lists))
    session.emit(_summary(lists))


def _what(lists: ListsFolder) -> str:
    n_shards = len(lists.shards)
    shards = f"{n_shards}" if n_shards == lists.n_shards else f"{n_shards} of {lists.n_shards}"
    shards += " shard" if lists.n_shards == 1 else " shards"
    size = f"{lists.n_bytes / max(1, lists.n_candidates):.0f} bytes a candidate"
    return f"{lists.base}: {lists.n_candidates:,} candidates in {lists.n_lists:,} lists, {shards}, {size}"


def _summary(lists: ListsFolder) -> dict[str, object]:
    return {
        "lists": str(lists.base),
        "settings": lists.settings.to_json(),
        "n_lists": lists.n_lists,
        "n_candidates": lists.n_candidates,
        "shards": [lists.shards.start, lists.shards.stop],
        "n_shards": lists.n_shards,
        "bytes": lists.n_bytes,
        "bytes_per_candidate": lists.n_bytes / max(1, lists.n_candidates),
    }
