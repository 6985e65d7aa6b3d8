"""Forced decoding: references, lists of candidates, and 200 words on both sides, beside decoding of the sources."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from bench.harness import DATA, Case, Workload
from bench.stored_lists import TEXTS, system
from dragoman.search import Forced, ForcedConfig
from dragoman.text import read_lines
from dragoman.types import Int64Array

N_PAIRS = 200
N_LISTS = 20
K = 50
N_WORDS = 200
TESTS = {"multi30k": "test2016_flickr", "enja": "test"}


@cache
def _test(kind: str) -> list[tuple[str, str]]:
    corpus, source = TEXTS[kind]
    sides = [read_lines(DATA / corpus / f"{TESTS[corpus]}.{side}.xz") for side in (source, "en")]
    return list(zip(*sides, strict=True))


def _note(kind: str, sources: list[str], targets: list[str], sentences: Int64Array, config: ForcedConfig) -> str:
    found = _force(kind, sources, targets, sentences, config)
    edits = sum(np.diff(rows) for rows, _ in (found.deleted, found.inserted, found.copied))
    return f"{np.mean(edits == 0):.0%} derived, {np.mean(found.is_complete):.0%} without pruning"


def _force(kind: str, sources: list[str], targets: list[str], sentences: Int64Array, config: ForcedConfig) -> Forced:
    made = system(kind)
    return made.translator.force(sources, targets, made.weights, sentences=sentences, config=config, grow=False)


def _workload(kind: str, sources: list[str], targets: list[str], sentences: Int64Array, width: int) -> Workload:
    made = system(kind)
    config = ForcedConfig(width=width)
    return Workload(
        n_items=len(targets),
        ours=lambda: _force(kind, sources, targets, sentences, config),
        peer=lambda: made.translator.kbest(sources, made.weights, 1, grow=False),
        repeats=3,
        note=lambda: _note(kind, sources, targets, sentences, config),
    )


def _references(scale: float, *, kind: str) -> Workload:
    pairs = _test(kind)[: round(N_PAIRS * scale)]
    sources, targets = ([pair[side] for pair in pairs] for side in (0, 1))
    return _workload(kind, sources, targets, np.arange(len(pairs)), 500)


def _lists(scale: float, *, kind: str) -> Workload:
    sources = [source for source, _ in _test(kind)[: round(N_LISTS * scale)]]
    made = system(kind)
    pool = made.kbest(sources, K, distinct=True)
    targets = [pool.text(shard, c) for shard in pool.shards for c in range(shard.n_candidates)]
    sentences = np.concatenate([shard.sentence_of_each() for shard in pool.shards]).astype(np.int64)
    return _workload(kind, sources, targets, sentences, 100)


def _long(scale: float, *, kind: str) -> Workload:
    pairs = _test(kind)
    n = round(N_WORDS * scale)
    joined = [" ".join(" ".join(pair[side] for pair in pairs).split(" ")[:n]) for side in (0, 1)]
    return _workload(kind, joined[:1], joined[1:], np.zeros(1, np.int64), 500)


def _cases(kind: str, called: str) -> list[Case]:
    corpus = TEXTS[kind][0]
    named = [
        (_references, f"references, {corpus} {called}", "pairs"),
        (_lists, f"50-best lists, width 100, {corpus} {called}", "candidates"),
        (_long, f"200 words on both sides, {corpus} {called}", "sentences"),
    ]
    return [
        Case(
            name=name,
            area="forced decoding",
            unit=unit,
            prepare=partial(prepare, kind=kind),
            peer_name="decoding the sources",
            needs_data=True,
        )
        for prepare, name, unit in named
    ]


CASES = [*_cases("phrase", "phrases"), *_cases("hiero", "rules")]
