"""`dragoman align`: word alignment of parallel text."""

from __future__ import annotations

from typing import Annotated

import typer

from dragoman.align import AlignConfig, AlignMethod, AlignStep, Direction, Symmetrization, align_files, write_pharaoh
from dragoman.cli.session import Json, Quiet, Seed, Session, Threads, check_inputs, check_outputs
from dragoman.errors import InputError

__all__ = ["align"]


def align(
    source: Annotated[str, typer.Option("--source", "-s", help="Source side, tokenised, a sentence a line.")],
    target: Annotated[str, typer.Option("--target", "-t", help="Target side, line-aligned with the source.")],
    out: Annotated[str, typer.Option("--out", "-o", help="Where the alignment goes: Pharaoh format, '0-0 1-2 …'.")],
    method: Annotated[
        AlignMethod, typer.Option(help="fast is built in; the others need the extra: pip install 'dragoman[align]'.")
    ] = AlignMethod.FAST,
    symmetrize: Annotated[
        Symmetrization, typer.Option(help="How the two directions are combined.")
    ] = Symmetrization.GROW_DIAG_FINAL_AND,
    max_words: Annotated[int, typer.Option(min=1, help="Longer pairs keep their line and get no links.")] = 200,
    forward: Annotated[str | None, typer.Option(help="Write the links that target words chose here too.")] = None,
    reverse: Annotated[str | None, typer.Option(help="Write the links that source words chose here too.")] = None,
    threads: Threads = 0,
    seed: Seed = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Align the words of parallel text in both directions and combine them.

    Example: dragoman align -s train.de -t train.en -o train.align
    """
    session = Session(n_threads=threads, seed=seed, json=json, quiet=quiet)
    if json and "-" in (out, forward, reverse):
        raise InputError("with --json, standard output holds the JSON object; write alignments to files")
    check_outputs([source, target], out=out, forward=forward, reverse=reverse)
    check_inputs(source, target)
    config = AlignConfig(method=method, symmetrization=symmetrize, max_length=max_words, seed=seed)
    done = dict.fromkeys(Direction, 0.0)
    with session.progress(f"aligning ({method})", 100) as bar:

        def progress(step: AlignStep) -> None:
            done[step.direction] = step.iteration / step.n_iterations
            session.say(f"{step.direction}: iteration {step.iteration} of {step.n_iterations}")
            bar(round(100 * sum(done.values()) / len(done)))

        result = align_files(source, target, config, n_threads=session.n_threads, progress=progress)
    for path, alignment in ((out, result.alignment), (forward, result.forward), (reverse, result.reverse)):
        if path is not None:
            write_pharaoh(path, alignment)
    summary = {
        "alignment": out,
        "method": method.value,
        "symmetrization": symmetrize.value,
        "n_pairs": result.n_pairs,
        "n_empty": result.n_empty,
        "n_too_long": result.n_too_long,
        "n_links": result.alignment.n_links,
        "agreement": result.agreement.f1,
        "agreement_jaccard": result.agreement.jaccard,
        "agreement_of_other_pairs": None if result.pairing is None else result.pairing.other,
        "warnings": [result.doubt] if result.doubt else [],
    }
    session.say(
        f"{result.n_pairs:,} pairs, {result.alignment.n_links:,} links; the directions agree on "
        f"{100 * result.agreement.f1:.1f} % (F1)"
    )
    if result.n_empty or result.n_too_long:
        session.say(f"without links: {result.n_empty:,} pairs empty on a side, {result.n_too_long:,} too long")
    if result.doubt:
        session.warn(result.doubt)
    session.emit(summary)
