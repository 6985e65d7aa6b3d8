"""`dragoman gradient`: the gradient of losses over the training text."""

from __future__ import annotations

import shutil
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dragoman.cli.engine_options import Address, EngineOption, Workers, engine_of
from dragoman.cli.groups import LeadingCommand, leading_group
from dragoman.cli.session import Json, Quiet, Session, Threads, check_outputs
from dragoman.cost import cpu_seconds
from dragoman.engine import EngineName, Part
from dragoman.errors import InputError
from dragoman.features import unite_weights
from dragoman.optim import LOSSES
from dragoman.passes import Gradient, GradientPass, PassSettings, sum_parts
from dragoman.settings import parse_settings
from dragoman.system import Preset, System

__all__ = ["app"]

app = leading_group("Sum the gradient of losses over a system's training text; candidate lists are not stored.")
_DEFAULTS = PassSettings()


@app.command(cls=LeadingCommand)
def make(
    folder: Annotated[Path, typer.Argument(metavar="SYSTEM", help="Folder of a system trained with --folds.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="VECTOR", help="File for the gradient; with --shard, a folder.")
    ],
    loss: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"Loss of a method: {', '.join(LOSSES)}; repeat for several in one pass."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="LOSS.NAME=VALUE", help="Setting of a loss, such as softramp.cost_scale=10."),
    ] = None,
    scale: Annotated[
        float, typer.Option(help="Multiplies the weights in the losses; weights of search have no scale of their own.")
    ] = _DEFAULTS.scale,
    weights: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Other weights than the system's; repeat to unite them.")
    ] = None,
    all_data: Annotated[
        bool,
        typer.Option(
            "--all-data/--folds",
            help="Decode by the tables of all data, which have seen the line, or (default) by those without its fold.",
        ),
    ] = False,
    k: Annotated[int, typer.Option("--k", metavar="N", help="Candidates of a line at most.")] = _DEFAULTS.k,
    distinct: Annotated[bool, typer.Option("--distinct", help="Candidates with different words only.")] = False,
    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Sparse features, a set such as extended or a template; repeat. Those of the system unless given.",
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", help="The first N lines only.")] = None,
    where: Annotated[
        str | None,
        typer.Option(metavar="DOMAIN", help="Lines of this domain only (train --domains); '!DOMAIN': of all others."),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Less search.")] = False,
    accurate: Annotated[bool, typer.Option("--accurate", help="More search.")] = False,
    metric: Annotated[
        str,
        typer.Option("--metric", "-m", metavar="NAME", help="Gain of candidates: bleu, chrf, ter, (ter-bleu)/2, …"),
    ] = _DEFAULTS.metric,
    lines_per_shard: Annotated[
        int, typer.Option(metavar="N", help="Lines that are summed before they meet others; part of the result.")
    ] = _DEFAULTS.lines_per_shard,
    shard: Annotated[
        Part | None,
        typer.Option(
            parser=Part.parse, metavar="I/N", help="Part I of N only, in a folder of its own, for `gradient sum`."
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep the sums so far here [default: VECTOR.run, removed at the end]."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on after a stop, to the same bits.")] = False,
    engine: EngineOption = EngineName.LOCAL,
    workers: Workers = None,
    address: Address = None,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Sum the gradient of losses over a system's training text; candidate lists are not stored.

    Each line is decoded by tables that have not seen it. The result is a binary table: for each feature the gradient
    of every loss, and the number of lists in which a candidate has it.

    Examples: dragoman gradient system -o gradient

    dragoman gradient system -o gradient --loss softramp --loss xbleu --set softramp.cost_scale=10 --features rule_id

    dragoman gradient system -o part-2 --shard 2/8

    dragoman gradient sum part-1 part-2 part-3 -o gradient
    """
    session = Session(n_threads=threads, json=json, quiet=quiet)
    if fast and accurate:
        raise InputError("choose one of --fast and --accurate")
    if shard is not None and run is not None:
        raise InputError("with --shard, -o is the folder of the sums; leave out --run")
    if shard is None:
        check_outputs(weights or [], out=out)
    system = System.load(folder)
    settings = PassSettings(
        losses=_losses(loss, set_),
        scale=scale,
        k=k,
        distinct=distinct,
        all_data=all_data,
        features=system.settings.features if features is None else tuple(features),
        where=where,
        limit=limit,
        preset=Preset.FAST if fast else Preset.ACCURATE if accurate else Preset.DEFAULT,
        metric=metric,
        lines_per_shard=lines_per_shard,
    )
    work = GradientPass.of(system, settings, unite_weights(weights) if weights else None)
    part = shard or Part()
    place = out if shard else run or out.with_name(out.name + ".run")
    cpu, wall, n_lines = cpu_seconds(), time.monotonic(), work.n_lines(part)
    with (
        work.opened(place, part=part, resume=resume) as (tree, checkpoint),
        engine_of(engine, workers, address, threads=threads) as chosen,
        session.progress("gradient", n_lines) as progress,
    ):
        work.run(chosen, tree, part=part, checkpoint=checkpoint, progress=progress)
        if shard is None:
            found = work.total(tree)
            found.save(out)
    elapsed = time.monotonic() - wall
    session.say(f"{n_lines:,} lines, {1000 * elapsed / max(1, n_lines):.1f} ms each")
    cost = {"wall_s": elapsed, "cpu_s": cpu_seconds() - cpu}
    if shard is not None:
        session.emit({"output": str(out), "part": str(shard), "n_lines": n_lines, **cost})
        return
    if run is None:
        shutil.rmtree(place, ignore_errors=True)
    _report(session, found, out, cost)


@app.command("sum")
def sum_(
    parts: Annotated[list[Path], typer.Argument(metavar="PART...", help="Folders that `gradient --shard I/N` wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="VECTOR", help="File for the gradient.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Sum the parts of a gradient pass; the result has the bits of a single run.

    Example: dragoman gradient sum part-1 part-2 part-3 -o gradient
    """
    session = Session(json=json, quiet=quiet)
    check_outputs(out=out)
    found = sum_parts(parts)
    found.save(out)
    _report(session, found, out, {})


def _losses(names: list[str] | None, items: list[str] | None) -> dict[str, dict[str, Any]]:
    """The settings of each loss. Raises InputError for those of a loss that is not asked for."""
    chosen = names or list(_DEFAULTS.losses)
    if len(set(chosen)) < len(chosen):
        raise InputError("a loss is named twice; one pass can take it once")
    values = parse_settings(items or [])
    for name, settings in values.items():
        if name not in chosen:
            raise InputError(f"--set {name}: expected the setting of a loss, such as {chosen[0]}.NAME=VALUE")
        if not isinstance(settings, dict):
            raise InputError(f"--set {name}={settings}: expected {name}.NAME=VALUE")
    return {name: values.get(name, {}) for name in chosen}


def _report(session: Session, found: Gradient, out: Path, cost: dict[str, float]) -> None:
    metric, sums = found.metric(), found.sums
    best, oracle = (float(metric.score(np.array(total))) for total in (sums.best, sums.oracle))
    for name, value in sums.losses.items():
        session.show(f"{name}: {value / max(1, sums.n_lists):.6g} a list")
    session.show(f"{metric.describe(best)}, oracle {metric.points(oracle):.2f}, {sums.n_candidates:,} candidates")
    session.show(f"{len(found.table):,} features of {sums.n_lists:,} lists -> {out}")
    session.emit(
        {
            "output": str(out),
            "n_features": len(found.table),
            **asdict(sums),
            "score": metric.points(best),
            "oracle_score": metric.points(oracle),
            "settings": found.settings,
            **cost,
        }
    )
