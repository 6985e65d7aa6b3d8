"""`dragoman tune`: weights that maximise a metric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.lists import External, Format, LowerIsBetter, MetricName, Nbest, References, measured, read_lists
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads, table
from dragoman.cli.tune_system import run_system
from dragoman.errors import InputError
from dragoman.features import WeightFormat, Weights, read_init_opt, read_weights, write_weights
from dragoman.optim import OPTIMISERS
from dragoman.pool import Pool, read_statistics
from dragoman.system import Preset
from dragoman.tune import LoopSettings, TuneConfig, TuneRecord, build_optimiser, describe_settings, tune_pool

__all__ = ["tune"]


def tune(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the tuned weights go; with --system, a folder.")
    ] = None,
    method: Annotated[str, typer.Option(help=f"One of: {', '.join(OPTIMISERS)}.")] = "mert",
    system: Annotated[Path | None, typer.Option(help="A system to tune: decode, learn, again.")] = None,
    source: Annotated[str | None, typer.Option(help="Source side of the development set, for --system.")] = None,
    k: Annotated[int, typer.Option("--candidates", "-k", min=2, help="Candidates a sentence and round.")] = 100,
    distinct: Annotated[bool, typer.Option("--distinct", help="Candidates with different words only.")] = False,
    rounds: Annotated[int, typer.Option(min=1, help="At most so many rounds.")] = 10,
    features: Annotated[
        list[str] | None,
        typer.Option(help="Sparse features of the system: a set such as extended, or a template; repeat."),
    ] = None,
    fold: Annotated[int | None, typer.Option(min=0, help="Decode as if this fold had not been trained on.")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Decode with less search.")] = False,
    accurate: Annotated[bool, typer.Option("--accurate", help="Decode with more search.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a tuning of a system that was stopped.")] = False,
    nbest: Nbest = None,
    stats: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="FEATURES SCORES", help="Moses statistics files, text or binary, instead of lists."),
    ] = None,
    reference: References = None,
    weights: Annotated[
        str | None,
        typer.Option(help="Start: our TSV, moses.ini, run.dense, cdec or Joshua weights; init.opt with --stats."),
    ] = None,
    metric: MetricName = "bleu",
    external: External = None,
    lower_is_better: LowerIsBetter = False,
    format_: Format = None,
    dense: Annotated[
        list[str] | None, typer.Option(help="Dense feature of the lists; repeat. Found out unless given.")
    ] = None,
    freeze: Annotated[list[str] | None, typer.Option(help="Keep the weight of this feature; repeat.")] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method; --set help lists them."),
    ] = None,
    weights_format: Annotated[WeightFormat, typer.Option(help="Format of the result.")] = WeightFormat.TSV,
    template: Annotated[Path | None, typer.Option(help="A moses.ini whose other sections the result keeps.")] = None,
    threads: Threads = 0,
    seed: Seed = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find weights that maximise a metric, for a system of ours or on candidate lists of any decoder.

    Examples: dragoman tune --system system --source dev.de -r dev.en -o tuned

    dragoman tune --system system --source dev.de -r dev.en --method pro --features extended -o tuned

    dragoman tune --nbest run1.nbest.gz --nbest run2.nbest.gz -r dev.ref --weights run2.dense -o weights.tsv

    dragoman tune --nbest candidates.jsonl --external comet --method pro -o weights.tsv

    dragoman tune --stats features.dat scores.dat --weights init.opt -o weights.tsv
    """
    session = Session(threads=threads, seed=seed, json=json, quiet=quiet)
    if setting == ["help"]:
        _show_settings(session, method)
        return
    if out is None:
        raise InputError("say where the weights go with -o")
    if system is not None:
        if nbest or stats or external:
            raise InputError("a system makes its own candidates: leave out --nbest, --stats and --external")
        if fast and accurate:
            raise InputError("choose one of --fast and --accurate")
        config = TuneConfig(
            method=method,
            settings=_pairs(setting or []),
            metric=metric,
            k=k,
            distinct=distinct,
            loop=LoopSettings(max_rounds=rounds),
            features=None if features is None else tuple(features),
            frozen=tuple(freeze or ()),
            preset=Preset.FAST if fast else Preset.ACCURATE if accurate else Preset.DEFAULT,
            fold=fold,
        )
        run_system(session, system, source, reference, out, config=config, weights=weights, resume=resume)
        return
    if source or features or resume or fold is not None:
        raise InputError("--source, --features, --fold and --resume belong to --system")
    optimiser = build_optimiser(method, _pairs(setting or []))
    start: Weights | None = None
    if stats is not None:
        if nbest or reference or external:
            raise InputError("statistics files come with their scores; leave out --nbest, -r and --external")
        pool = read_statistics(stats[0], stats[1], threads=session.threads)
    else:
        pool = read_lists(session, nbest, format_, dense)
        pool = measured(session, pool, reference, metric, external, lower_is_better)
    start = _start(pool, weights, stats is not None)
    session.say(f"tuning with {method}")
    record = tune_pool(pool, optimiser, start, seed=seed, frozen=freeze or (), threads=session.threads)
    _write(record, pool, out, weights_format, template)
    _report(session, record, out)


def _pairs(settings: list[str]) -> dict[str, str]:
    pairs = {}
    for item in settings:
        key, equals, value = item.partition("=")
        if not (key and equals):
            raise InputError(f"--set {item}: expected NAME=VALUE")
        pairs[key] = value
    return pairs


def _show_settings(session: Session, method: str) -> None:
    build_optimiser(method, {})
    rows = table("setting", "default", numeric_from=2)
    for name, default in describe_settings(method).items():
        rows.add_row(name, default)
    session.show(rows)
    session.emit({"method": method, "settings": describe_settings(method)})


def _start(pool: Pool, path: str | None, from_stats: bool) -> Weights:
    if path is None:
        return Weights.from_dict({}, pool.index)
    if from_stats and Path(path).name.endswith("init.opt"):
        return Weights.from_dict(
            dict(zip(pool.dense_names(), read_init_opt(path, pool.dense_names()).start, strict=True)), pool.index
        )
    return read_weights(path)


def _write(record: TuneRecord, pool: Pool, out: Path, format_: WeightFormat, template: Path | None) -> None:
    if template is not None and format_ is not WeightFormat.MOSES_INI:
        raise InputError("a template belongs to the format of moses.ini")
    moses = format_ in {WeightFormat.MOSES_INI, WeightFormat.MOSES_DENSE}
    headers = {"metric": record.metric, "score": f"{100 * record.score_after:.4f}"}
    write_weights(
        record.weights,
        out,
        format_=format_,
        headers=headers if format_ is WeightFormat.TSV else None,
        dense=pool.dense_names() if moses else None,
        template=template,
    )


def _report(session: Session, record: TuneRecord, out: Path) -> None:
    for note in record.notes:
        session.say(f"note: {note}")
    before, after = 100 * record.score_before, 100 * record.score_after
    session.show(f"{record.metric}: {before:.2f} -> {after:.2f} ({record.cpu_s:.1f} CPU seconds); weights in {out}")
    session.emit(
        {
            "metric": record.metric,
            "score_before": before,
            "score_after": after,
            "rounds": [{**entry.as_dict(), "score": 100 * entry.score} for entry in record.rounds],
            "n_sentences": record.n_sentences,
            "n_candidates": record.n_candidates,
            "n_features": record.n_features,
            "cpu_s": record.cpu_s,
            "weights": str(out),
            "notes": record.notes,
        }
    )
