"""`dragoman gradient`: the gradient of losses over the training text."""

from __future__ import annotations

import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dragoman.cli.declared import takes
from dragoman.cli.groups import LeadingCommand, leading_group
from dragoman.cli.session import Json, Quiet, Session, check_outputs
from dragoman.cli.training_options import TrainingOptions
from dragoman.cost import cpu_seconds
from dragoman.errors import InputError
from dragoman.gradients import Gradient, GradientPass, PassSettings, sum_parts
from dragoman.optim import LOSSES
from dragoman.settings import parse_settings
from dragoman.system import System
from dragoman.work.engine import Part

__all__ = ["app"]

app = leading_group("Sum the gradient of losses over a system's training text; candidate lists are not stored.")
_DEFAULTS = PassSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options(TrainingOptions):
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="VECTOR", help="File for the gradient; with --shard, a folder.")
    ]
    loss: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help=f"Loss of a method: {', '.join(LOSSES)}; repeat for several in one pass."),
    ] = None
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="LOSS.NAME=VALUE", help="Setting of a loss, such as softramp.cost_scale=10."),
    ] = None
    scale: Annotated[
        float, typer.Option(help="Multiplies the weights in the losses; weights of search have no scale of their own.")
    ] = _DEFAULTS.scale
    k: Annotated[int, typer.Option("--k", metavar="N", help="Candidates of a line at most.")] = _DEFAULTS.k
    shard: Annotated[
        Part | None,
        typer.Option(
            parser=Part.parse, metavar="I/N", help="Part I of N only, in a folder of its own, for `gradient sum`."
        ),
    ] = None
    run: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Keep the sums so far here [default: VECTOR.run, removed at the end]."),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on after a stop, to the same bits.")] = False


@app.command(cls=LeadingCommand)
@takes(_Options)
def make(options: _Options) -> None:
    """Sum the gradient of losses over a system's training text; candidate lists are not stored.

    Each line is decoded by tables that have not seen it. The result is a binary table: for each feature the gradient
    of every loss, and the number of lists in which a candidate has it.

    Examples: dragoman gradient system -o gradient

    dragoman gradient system -o gradient --loss softramp --loss xbleu --set softramp.cost_scale=10 --features rule_id

    dragoman gradient system -o part-2 --shard 2/8

    dragoman gradient sum part-1 part-2 part-3 -o gradient
    """
    session, out, shard, run = options.session(), options.out, options.shard, options.run
    if shard is not None and run is not None:
        raise InputError("with --shard, -o is the folder of the sums; leave out --run")
    if run is not None and run.resolve() == out.resolve():
        raise InputError(f"--run and --out are both {out}; name two different places")
    if shard is None:
        _check_file(out, options.weights)
    with session.progress("verifying the system (MB)") as progress:
        System.verify(options.folder, n_threads=session.n_threads, progress=progress)
    system = System.load(options.folder)
    settings = PassSettings(
        losses=_losses(options.loss, options.set_), scale=options.scale, k=options.k, **options.settings(system)
    )
    work = GradientPass.of(system, settings, options.search_weights(system))
    part = shard or Part()
    place = out if shard else run or out.with_name(out.name + ".run")
    cpu, wall = cpu_seconds(), time.monotonic()
    with (
        work.opened(place, part=part, resume=options.resume) as (tree, checkpoint),
        options.open_engine(session) as engine,
        session.progress("gradient", work.n_lines(part)) as progress,
    ):
        n_lines = work.run(engine, tree, part=part, checkpoint=checkpoint, progress=progress)
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
    _check_file(out)
    found = sum_parts(parts)
    found.save(out)
    _report(session, found, out, {})


def _check_file(out: Path, inputs: list[str] | None = None) -> None:
    if str(out) == "-":
        raise InputError("a gradient is a binary table, not text; name a file with -o")
    check_outputs(inputs or [], out=out)


def _losses(names: list[str] | None, items: list[str] | None) -> dict[str, dict[str, Any]]:
    """The settings of each loss. Raises InputError for those of a loss that is not asked for."""
    chosen = names or list(_DEFAULTS.losses)
    if len(set(chosen)) < len(chosen):
        raise InputError("a loss is named twice; one pass can take it once")
    values = parse_settings(items or [])
    for name, settings in values.items():
        if name not in chosen and name in LOSSES:
            raise InputError(f"--set {name}: that loss is not asked for; add --loss {name}, or leave out its settings")
        if name not in chosen:
            raise InputError(f"--set {name}: expected the setting of a loss, such as {chosen[0]}.NAME=VALUE")
        if not isinstance(settings, dict):
            raise InputError(f"--set {name}={settings}: expected {name}.NAME=VALUE")
    return {name: values.get(name, {}) for name in chosen}


def _report(session: Session, found: Gradient, out: Path, cost: dict[str, float]) -> None:
    metric, sums = found.metric(), found.sums
    best, oracle = (float(metric.score_of(np.array(total))) for total in (sums.best, sums.oracle))
    for name, value in sums.losses.items():
        session.show(f"{name}: {value / max(1, sums.n_lists):.6g} a list")
    how = "in fold" if found.settings["all_data"] else "out of fold"
    session.show(f"{metric.describe(best)} {how}, oracle {metric.shown(oracle)}, {sums.n_candidates:,} candidates")
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
