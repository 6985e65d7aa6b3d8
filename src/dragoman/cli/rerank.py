"""`dragoman rerank` and `dragoman oracle`: choose one candidate per sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from dragoman.candidates import Pool, best_by, expected_gains, model_totals, posteriors, read_references
from dragoman.candidates import oracle as find_oracle
from dragoman.candidates import rerank as choose
from dragoman.cli.declared import takes
from dragoman.cli.list_options import FeatureOptions, ListOptions, added_files
from dragoman.cli.list_output import ListFormat, Top, output_format, write_ranked
from dragoman.cli.session import Json, Quiet, Session, Summary, Threads, check_outputs
from dragoman.errors import InputError, MismatchError
from dragoman.features import Weights, describe_fit, unite_weights
from dragoman.metric import Smoothing, Tokenizer, by_name
from dragoman.text import open_output
from dragoman.types import Float64Array

__all__ = ["oracle", "rerank"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankOptions(FeatureOptions):
    """Options of `rerank`."""

    weights: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Weights: our TSV, moses.ini, run.dense, cdec or Joshua; repeat to unite files. Required.",
        ),
    ] = None
    mbr: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Minimum Bayes risk: choose by the expected metric, as in `mbr -m`, under the weights' posterior.",
        ),
    ] = None
    scale: Annotated[
        float | None, typer.Option(min=0, help="Scale of the posterior of --mbr; 0 is uniform, 1 unless given.")
    ] = None
    out: Annotated[str, typer.Option("--out", "-o", help="Where the chosen translations go.")] = "-"
    top: Top = None
    list_format: ListFormat = None
    summary: Summary = None
    threads: Threads = 0
    json: Json = False
    quiet: Quiet = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleOptions(ListOptions):
    """Options of `oracle`."""

    forest: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Stored search spaces instead of lists: a folder, or a file; repeat.",
            rich_help_panel="Candidates",
        ),
    ] = None
    out: Annotated[str | None, typer.Option("--out", "-o", help="Write the oracle translations here.")] = None
    threads: Threads = 0
    json: Json = False
    quiet: Quiet = False


@takes(RerankOptions)
def rerank(options: RerankOptions) -> None:
    """Print the best candidate of each sentence by these weights, one line each, by sentence number.

    A sentence number that the lists skip gets an empty line, so that the output stays aligned with the source. With
    references or --external the choice is scored. With --top lists are written, with new totals and the best first.

    Example: dragoman rerank --nbest test.nbest.gz --weights weights.tsv > test.out
    """
    session = Session(n_threads=options.threads, json=options.json, quiet=options.quiet)
    if options.json and options.out == "-":
        raise InputError("with --json, standard output holds the JSON object; write the translations to a file with -o")
    if not options.weights:
        without = "; minimum Bayes risk without weights is `dragoman mbr`" if options.mbr is not None else ""
        raise InputError(f"no weights; name a file of them with --weights{without}")
    if options.scale is not None and options.mbr is None:
        raise InputError("--scale is of the posterior of --mbr; name a utility with --mbr, or leave it out")
    inputs = [*(options.nbest or []), *options.weights, *(options.reference or []), options.source]
    inputs += [*added_files(options.add), *options.score_files()]
    check_outputs(inputs, out=options.out, summary=options.summary)
    measure = options.measure(session) if options.reference or options.external else None
    given = unite_weights(options.weights)
    pool = options.read_with_features(session, weights=given)
    if measure is not None:
        pool = measure(pool)
    needs_values = options.mbr is not None or options.top is not None
    values = _values(session, options, pool, given) if needs_values else []
    choice = choose(pool, given, n_threads=session.n_threads) if options.mbr is None else best_by(pool, values)
    notes = [note for note in [describe_fit(given, pool.index, pool.dense)] if note]
    result: dict[str, object] = {"n_sentences": pool.n_sentences, "n_candidates": pool.n_candidates}
    if options.top is None:
        result["n_missing"] = n_missing = choice.write(options.out)
        if n_missing:
            notes.append(f"{n_missing} sentence numbers have no candidate; their lines are empty")
    else:
        format_ = output_format(options.nbest or [], options.list_format, pool)
        write_ranked(pool, values, options.out, top=options.top, format_=format_)
    for note in notes:
        session.warn(note)
    result["notes"] = notes
    if pool.metric is not None:
        result |= {"metric": pool.metric.name, "score": pool.metric.points(choice.score())}
        session.say(pool.metric.describe(choice.score()))
    if options.summary is not None:
        session.write_json(options.summary, result)
    session.emit(result)


def _values(session: Session, options: RerankOptions, pool: Pool, weights: Weights) -> list[Float64Array]:
    """What candidates are ranked by: w·f, or their expected gain under the weights' posterior."""
    if options.mbr is None:
        return model_totals(pool, weights)
    utility = by_name(options.mbr, tokenizer=options.tokenize, lowercase=options.lowercase)
    posterior = posteriors(pool, weights, scale=1.0 if options.scale is None else options.scale)
    return expected_gains(pool, utility, posterior, n_threads=session.n_threads)


@takes(OracleOptions)
def oracle(options: OracleOptions) -> None:
    """The best score that any choice from the lists reaches (for BLEU a lower bound, by hill climbing).

    Of search spaces it is that of the derivations with the best sentence BLEU among all.

    Examples: dragoman oracle --nbest dev.nbest.gz -r dev.ref

    dragoman oracle --forest forests -r dev.ref
    """
    session = Session(n_threads=options.threads, json=options.json, quiet=options.quiet)
    if options.json and options.out == "-":
        raise InputError("with --json, standard output holds the JSON object; write the translations to a file")
    inputs = [*(options.nbest or []), *(options.forest or []), *(options.reference or []), *options.score_files()]
    check_outputs(inputs, out=options.out)
    if options.forest is not None:
        _forest_oracle(session, options)
        return
    measure = options.measure(session)
    pool = measure(options.read_lists(session))
    assert pool.metric is not None
    choice = find_oracle(pool)
    if options.out is not None:
        choice.write(options.out)
    session.show(pool.metric.describe(choice.score()))
    session.emit(
        {
            "score": pool.metric.points(choice.score()),
            "metric": pool.metric.name,
            "n_sentences": pool.n_sentences,
            "n_candidates": pool.n_candidates,
        }
    )


def _forest_oracle(session: Session, options: OracleOptions) -> None:
    """The derivations of search spaces that are closest to the references by BLEU+1, measured."""
    from dragoman.forest import oracles, read_forests

    assert options.forest is not None
    for name in ("nbest", "external", "format_", "per_sentence", "fields", "scores"):
        if getattr(options, name) is not None:
            raise InputError(f"--{name.strip('_').replace('_', '-')} is for lists; leave it out, or --forest")
    if not options.reference:
        raise InputError("no references; give at least one with -r")
    if options.tokenize is not Tokenizer.NONE or options.lowercase:
        raise InputError("oracles of search spaces compare their tokens; leave out --tokenize and --lowercase")
    metric = by_name(options.metric, smoothing=Smoothing.NONE, reference_length=options.reference_length)
    references = read_references(options.reference)
    spaces = read_forests(options.forest)
    if spaces.n_sentences > len(references):
        raise MismatchError(
            f"there is a search space of sentence {spaces.ids[-1]}, from 0, but the references have "
            f"{len(references)} lines"
        )
    found = oracles(spaces.forests, [references[i] for i in spaces.ids], n_threads=session.n_threads)
    texts = {
        number: forest.text(forest.core.tokens(best.edges))
        for number, forest, best in zip(spaces.ids, spaces.forests, found, strict=True)
        if len(best.edges)
    }
    missing = len(references) - len(texts)
    if not texts or (missing and not options.allow_missing):
        raise MismatchError(
            f"{missing} of {len(references)} references have no search space with a derivation; --allow-missing "
            "leaves them out"
        )
    stats = metric.text_statistics(list(texts.values()), [references[i] for i in texts], n_threads=session.n_threads)
    score = float(metric.score_of(stats.sum(axis=0)))
    if options.out is not None:
        with open_output(options.out) as output:
            for number in range(len(references)):
                output.write(texts.get(number, ""))
    session.show(metric.describe(score))
    session.emit(
        {
            "score": metric.points(score),
            "metric": metric.name,
            "n_sentences": len(texts),
            "n_edges": spaces.n_edges,
        }
    )
