"""`dragoman lm`: estimate, query and export n-gram language models."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.groups import command_group
from dragoman.cli.session import Json, Quiet, Session, Threads, check_outputs, table
from dragoman.errors import InputError, naming
from dragoman.lm import (
    DEFAULT_FALLBACK,
    EstimateConfig,
    LanguageModel,
    Perplexity,
    SentenceScores,
    TrainingText,
    estimate,
    estimate_work,
)
from dragoman.text import open_output

__all__ = ["app"]

app = command_group("Estimate, query and export n-gram language models.")


@app.command()
def train(
    texts: Annotated[list[str], typer.Option("--in", "-i", help="Text, a sentence a line; repeat for several files.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the binary model goes.")],
    order: Annotated[int, typer.Option(min=1, help="Longest n-grams.")] = 5,
    prune: Annotated[
        list[int] | None,
        typer.Option(min=0, help="Prune n-grams with at most this count; repeat for orders 1, 2, …"),
    ] = None,
    fallback: Annotated[
        bool, typer.Option(help="For orders with too few counts take discounts 0.5, 1, 1.5 instead of stopping.")
    ] = True,
    arpa: Annotated[Path | None, typer.Option(help="Write the model as ARPA text here too (.gz: compressed).")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate an interpolated modified Kneser-Ney model and store it as a memory-mapped file.

    Example: dragoman lm train -i train.en -o en.lm --order 5 --prune 0 --prune 0 --prune 1
    """
    session = Session(json=json, quiet=quiet)
    if str(out) == "-":
        raise InputError("a binary model cannot go to standard output; name a file")
    if json and str(arpa) == "-":
        raise InputError("with --json, standard output holds the JSON object; write the ARPA text to a file")
    check_outputs(texts, out=out, arpa=arpa)
    config = EstimateConfig(order=order, prune=tuple(prune or (0,)), fallback=DEFAULT_FALLBACK if fallback else None)
    text = TrainingText()
    with session.progress("reading") as progress:
        for path in texts:
            text.add_file(path, progress)
    with session.progress("estimating", estimate_work(text, config)) as progress:
        result = estimate(text, config, progress=progress)
    model = result.model
    model.save(out)
    if arpa is not None:
        model.export_arpa(arpa)
    rows = table("order", "n-grams", "D1", "D2", "D3+")
    for n, (count, discounts) in enumerate(zip(model.n_ngrams, result.discounts, strict=True), start=1):
        mark = " (fallback)" if n in result.fallback_orders else ""
        rows.add_row(f"{n}{mark}", f"{count:,}", *(f"{value:.3f}" for value in discounts))
    session.show(rows)
    session.emit(
        {
            "model": str(out),
            "order": model.order,
            "n_ngrams": model.n_ngrams,
            "discounts": result.discounts,
            "fallback_orders": result.fallback_orders,
            "n_sentences": result.n_sentences,
            "n_tokens": result.n_tokens,
        }
    )


@app.command()
def query(
    model: Annotated[str, typer.Argument(help="A binary or ARPA model.")],
    in_file: Annotated[str, typer.Option("--in", "-i", help="Text to score, one sentence per line.")] = "-",
    per_sentence: Annotated[
        Path | None, typer.Option(help="Write log10 probability, tokens and OOV words of each sentence here.")
    ] = None,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Perplexity of a text, with and without out-of-vocabulary words; the end of each sentence counts as a token.

    Example: dragoman lm query en.lm < test.en
    """
    session = Session(n_threads=threads, json=json, quiet=quiet)
    if json and str(per_sentence) == "-":
        raise InputError("with --json, standard output holds the JSON object; write the sentences' scores to a file")
    check_outputs([model, in_file], per_sentence=per_sentence)
    loaded = _load(session, model)
    scores = list(session.track(loaded.score_file(in_file, n_threads=session.n_threads), "scoring"))
    if per_sentence is not None:
        with open_output(per_sentence) as writer:
            for line in _sentence_lines(scores):
                writer.write(line)
    with naming(in_file):
        result = Perplexity.of(scores)
    rows = table("perplexity", "without unknown", "log10 total", "tokens", "unknown", "sentences", numeric_from=0)
    without = "" if result.perplexity_without_oov is None else f"{result.perplexity_without_oov:.3f}"
    counts = (f"{n:,}" for n in (result.tokens, result.oov, result.sentences))
    rows.add_row(f"{result.perplexity:.3f}", without, f"{result.log10_total:.3f}", *counts)
    session.show(rows)
    session.emit(result)


def _sentence_lines(scores: list[SentenceScores]) -> Iterator[str]:
    for block in scores:
        for logprob, n_tokens, n_unknown in zip(
            block.logprob / math.log(10), block.n_tokens, block.n_unknown, strict=True
        ):
            yield f"{logprob:.6f}\t{n_tokens}\t{n_unknown}"


@app.command()
def export(
    model: Annotated[str, typer.Argument(help="A binary or ARPA model.")],
    out: Annotated[str, typer.Option("--out", "-o", help="Where the ARPA text goes (.gz, .xz, .zst: compressed).")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a model as ARPA text, which every language-model toolkit reads.

    Example: dragoman lm export en.lm -o en.arpa.gz
    """
    session = Session(json=json, quiet=quiet)
    check_outputs([model], out=out)
    loaded = _load(session, model)
    session.say("writing ARPA")
    loaded.export_arpa(out)
    session.emit({"arpa": out, "order": loaded.order, "n_ngrams": loaded.n_ngrams})


def _load(session: Session, path: str) -> LanguageModel:
    with session.progress("loading") as progress:
        return LanguageModel.load(path, progress=progress)
