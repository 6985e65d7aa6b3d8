"""Where `dragoman tune` gets its candidates from. A further kind is one entry of KINDS and its option."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from dragoman.candidates import MeasuredObjective, Objective, Pool, merge_pools, read_statistics
from dragoman.cli.search_spaces import named_forests
from dragoman.cli.session import Session
from dragoman.cli.tuning.options import TuneOptions, flag
from dragoman.errors import InputError, MismatchError
from dragoman.features import Weights, is_init_opt, read_init_opt, unite_weights
from dragoman.forest import ForestSet
from dragoman.optim import LearningContext, LearnsFrom, method_name, method_named
from dragoman.sources.lists import ListsFolder, StoredLists
from dragoman.system import System
from dragoman.text import read_lines, split_tokens
from dragoman.tuning import (
    CommandDecoder,
    CommandSettings,
    CommandTemplate,
    Decoder,
    StoredForests,
    StoredForestsContext,
    dense_of,
)
from dragoman.types import Int32Array

__all__ = ["KINDS", "LOOP_OPTIONS", "Decoding", "Kind", "Lists", "choose_kind", "read_start"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """Fixed candidates with their metric; `system` is what made them, if it is ours."""

    pool: Pool
    start: Weights
    objective: Objective
    """What measured them."""
    system: System | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """A decoder that makes candidates for any weights, and how they are measured."""

    decoder: Decoder
    objective: Objective
    start: Weights
    context: LearningContext | None = None
    """What a method may learn from besides the lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """`takes` are the options that make sense with it, of those that do not make sense with every kind.

    `inputs` are the options that name files which the result depends on. `open` is None for a system, which one
    function tunes from beginning to end. `offers` is what methods can learn from.
    """

    takes: frozenset[str]
    inputs: tuple[str, ...]
    open: Callable[[Session, TuneOptions], Lists | Decoding] | None = None
    offers: Collection[LearnsFrom] = (LearnsFrom.LISTS,)


_METRIC = frozenset({"reference", "metric", "external", "lower_is_better", "tokenize", "lowercase", "reference_length"})
_LISTS = frozenset({"format_", "dense", "fields", "allow_missing"})
_FILES = frozenset({"weights_format", "template", "run"})
_TRUST = frozenset({"folds", "bootstrap"})
_WORKERS = frozenset({"engine", "workers", "address"})
LOOP_OPTIONS = frozenset({"source", "k", "rounds", "keep", "patience"})
"""Options of every kind that decodes."""


def choose_kind(options: TuneOptions) -> Kind:
    """The kind that the options name. Raises InputError unless it is exactly one and the other options fit to it."""
    given = options.given()
    named = [name for name in KINDS if name in given]
    named = [name for name in named if not any(name in KINDS[other].takes for other in named)]
    everything = ", ".join(flag(name) for name in KINDS)
    if not named:
        raise InputError(f"no candidates; say where they come from with one of {everything}")
    if len(named) > 1:
        raise InputError(f"{' and '.join(map(flag, named))} exclude each other; give one of {everything}")
    kind = KINDS[named[0]]
    special = frozenset().union(*(other.takes for other in KINDS.values()))
    if misfits := sorted(flag(name) for name in (given & special) - kind.takes - {named[0]}):
        why = _REASONS.get(named[0], "")
        raise InputError(f"{', '.join(misfits)} cannot be used with {flag(named[0])}{why}; leave out {misfits[0]}")
    return kind


def read_start(options: TuneOptions) -> Weights:
    """The union of all files of weights. Raises InputError where two contradict each other."""
    return unite_weights(options.weights or [])


def _open_nbest(session: Session, options: TuneOptions) -> Lists:
    start = read_start(options)
    objective = options.objective(session)
    pool = options.read_with_features(session, options.dense, teacher=objective)
    pool = objective.measure(pool, n_threads=session.n_threads)
    return Lists(pool=pool, start=start, objective=MeasuredObjective.of(pool, objective.references))


def _open_stats(session: Session, options: TuneOptions) -> Lists:
    names = options.statistics_files()
    n_pairs = len(names) // 2
    if len(names) % 2:
        raise InputError(f"--stats: {len(names)} files; expected as many of features as of scores, separated by commas")
    session.say(f"reading {n_pairs} pair{'s' if n_pairs > 1 else ''} of statistics files")
    pairs = zip(names[:n_pairs], names[n_pairs:], strict=True)
    parts = [read_statistics(features, scores, n_threads=session.n_threads) for features, scores in pairs]
    pool = merge_pools(parts, n_threads=session.n_threads) if n_pairs > 1 else parts[0]
    paths = options.weights or []
    if len(paths) != 1 or not is_init_opt(paths[0]):
        return Lists(pool=pool, start=read_start(options), objective=MeasuredObjective.of(pool))
    names = pool.dense_names()
    session.say(f"note: {paths[0]} is Moses' init.opt; its start is used, its bounds are not")
    start = dict(zip(names, read_init_opt(paths[0], names).start, strict=True))
    return Lists(pool=pool, start=Weights.from_dict(start, pool.index), objective=MeasuredObjective.of(pool))


def _open_lists(session: Session, options: TuneOptions) -> Lists:
    assert options.lists is not None
    lists = ListsFolder.load(options.lists)
    system = lists.open_system(options.system, features=options.features)
    session.say(f"{lists.n_candidates:,} candidates of {lists.n_lists:,} lines")
    if len(lists.shards) < lists.n_shards:
        session.say(f"a part of the lists only: {len(lists.shards)} of {lists.n_shards} shards (`lists join`)")
    start = read_start(options) if options.weights else lists.weights()
    with session.progress("features", len(lists.shards)) as progress:
        stored = StoredLists(system, lists.paths(), n_threads=session.n_threads, progress=progress)
    pool = stored.pool(lists.settings.measure())
    return Lists(pool=pool, start=start, objective=MeasuredObjective.of(pool), system=system)


def _open_decoder(session: Session, options: TuneOptions) -> Decoding:
    assert options.decoder is not None
    limit = {} if options.timeout is None else {"timeout_s": options.timeout}
    template = CommandTemplate(template=options.decoder, **limit)
    if options.source is None or options.source == "-":
        raise InputError("a decoder needs a file of source sentences; name it with --source")
    settings = CommandSettings(
        k=CommandSettings().k if options.k is None else options.k,
        weights_format=options.weights_format,
        weights_template=options.template,
        nbest_format=options.format_,
        dense=None if options.dense is None else tuple(options.dense),
        fields=options.field_order(),
        allow_missing=options.allow_missing,
    )
    objective = options.objective(session)
    if not options.weights:
        session.say("no start weights: in the first round the decoder gets a file without any; see --weights")
    start = read_start(options)
    decoder = CommandDecoder(template, options.source, settings)
    n_references = len(objective.references) or decoder.n_sentences
    if n_references != decoder.n_sentences:
        raise MismatchError(f"{options.source} has {decoder.n_sentences} lines but the references have {n_references}")
    return Decoding(decoder=decoder, objective=objective, start=start)


def _open_forest(session: Session, options: TuneOptions) -> Decoding:
    assert options.forest is not None
    if not options.reference:
        raise InputError("no references; give at least one with -r")
    objective = options.objective(session)
    start = read_start(options)
    if not options.weights:
        session.say("no start weights: in the first round all derivations are alike; see --weights")
    session.say("reading search spaces")
    forests = named_forests(options.forest, options.weights or [])
    empty = sum(not forest.has_derivation for forest in forests.forests)
    without = f", {empty:,} of them without a derivation" if empty else ""
    session.say(f"{len(forests):,} search spaces{without}; {forests.n_edges:,} edges, {len(forests.index):,} features")
    method = method_named(method_name(options.method_name, online=options.online))
    learns_online = method.learns_from is LearnsFrom.DECODING
    k = method.k if options.k is None else options.k
    distinct = method.distinct if options.distinct is None else options.distinct
    dense = dense_of(forests) if options.dense is None else options.dense
    lengths = _lengths(options, forests)
    texts = objective.references
    return Decoding(
        decoder=StoredForests(
            forests,
            k=1 if learns_online else k,
            dense=dense,
            lengths=lengths,
            distinct=distinct,
            n_threads=session.n_threads,
        ),
        objective=objective,
        start=start,
        context=StoredForestsContext(forests, texts, k=k, distinct=distinct, dense=dense, lengths=lengths),
    )


def _lengths(options: TuneOptions, forests: ForestSet) -> Int32Array | None:
    """Words of the source of each search space, if it is given."""
    if options.source is None:
        return None
    lengths = [len(split_tokens(line)) for line in read_lines(options.source)]
    if forests.n_sentences > len(lengths):
        raise MismatchError(
            f"has {len(lengths)} lines, but there is a search space of sentence {forests.n_sentences - 1}, from 0",
            path=options.source,
        )
    return np.array([lengths[number] for number in forests.ids], np.int32)


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "nbest": Kind(
            takes=_METRIC | _LISTS | _FILES | _TRUST | {"per_sentence", "add", "source", "scores"},
            inputs=("nbest", "reference", "source", "scores"),
            open=_open_nbest,
        ),
        "stats": Kind(takes=_FILES | _TRUST, inputs=("stats",), open=_open_stats),
        "forest": Kind(
            takes=(_METRIC - {"external", "lower_is_better"})
            | _FILES
            | LOOP_OPTIONS
            | {"dense", "allow_missing", "online", "distinct"},
            inputs=("forest", "reference", "source"),
            open=_open_forest,
            offers=StoredForestsContext.offers,
        ),
        "lists": Kind(
            takes=_WORKERS | {"system", "features", "weights_format", "run", "system_out", "folds"},
            inputs=("lists",),
            open=_open_lists,
        ),
        "decoder": Kind(
            takes=_METRIC | _LISTS | _FILES | LOOP_OPTIONS | {"timeout"},
            inputs=("source", "reference"),
            open=_open_decoder,
        ),
        "system": Kind(
            takes=LOOP_OPTIONS
            | _WORKERS
            | {
                "reference",
                "metric",
                "tokenize",
                "lowercase",
                "features",
                "online",
                "learn_from",
                "train",
                "theta",
                "where",
                "all_data",
                "text_source",
                "text_target",
                "text_align",
                "phi",
                "blocks",
                "last",
                "limit",
                "judge_lines",
                "distinct",
                "without_fold",
                "raw",
                "languages",
                "test",
                "test_reference",
                "fast",
                "accurate",
            },
            inputs=("source", "reference", "system"),
        ),
    }
)
"""By the option, also the field of TuneOptions, that names them."""

_REASONS = MappingProxyType(
    {
        "nbest": ": the lists are fixed and nothing is decoded",
        "lists": ": the lists are fixed, with their metric",
        "stats": ": statistics files come with their scores",
        "system": ": it makes its own candidates, and its result and record are the folder -o",
    }
)
