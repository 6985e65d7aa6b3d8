"""Minimum-Bayes-risk choice: the utility of every pair of candidates, beside the same loop over sacrebleu, one thread.

Samples are made from the neural 50-best lists of multi30k: words of a candidate are replaced, dropped and moved, until
there are 1,024 a sentence. fastchrf is the kernel that other tools for minimum-Bayes-risk decoding use for chrF.
mbrs scores the pairs in a pool of processes, here one, so that time beside it is wall-clock time.
"""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER

from bench.harness import ANCHORS, Case, Workload
from dragoman.metric import Bleu, Chrf, Lexicon, Ter
from dragoman.metric.base import WordMetric

N_SAMPLES = 1024
Lists = list[list[str]]
Pairs = Callable[[Sequence[Sequence[str]]], object]


@cache
def _lists() -> Lists:
    lists: dict[int, list[str]] = {}
    with lzma.open(ANCHORS / "neural" / "multi30k" / "dev.nbest.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            candidate = json.loads(line)
            lists.setdefault(candidate["id"], []).append(candidate["text"])
    return list(lists.values())


@cache
def _samples(n_sentences: int) -> Lists:
    rng = random.Random(1)
    result = []
    for candidates in _lists()[:n_sentences]:
        words = " ".join(candidates).split()
        samples = list(candidates)
        while len(samples) < N_SAMPLES:
            changed = rng.choice(candidates).split()
            for _ in range(rng.randrange(1, 5)):
                place = rng.randrange(len(changed))
                match rng.randrange(3):
                    case 0:
                        changed[place] = rng.choice(words)
                    case 1 if len(changed) > 1:
                        changed.pop(place)
                    case _:
                        changed.insert(rng.randrange(len(changed)), changed.pop(place))
            samples.append(" ".join(changed))
        result.append(samples)
    return result


def _sacrebleu(metric: BLEU | CHRF | TER) -> Pairs:
    def run(lists: Sequence[Sequence[str]]) -> object:
        return [[metric.sentence_score(h, [r]).score for r in few] for few in lists for h in few]

    return run


def _fastchrf(lists: Sequence[Sequence[str]]) -> object:
    from fastchrf import pairwise_chrf

    return pairwise_chrf([list(few) for few in lists], [list(few) for few in lists])


def _mbrs(metric: str, **settings: object) -> Pairs:
    def run(lists: Sequence[Sequence[str]]) -> object:
        from mbrs.metrics import get_metric

        kind = get_metric(metric)
        scores = kind(kind.Config(num_workers=1, **settings))
        return [scores.pairwise_scores(list(few), list(few)).mean(dim=1) for few in lists]

    return run


def _case(
    name: str,
    make: Callable[[float], Lists],
    metric: WordMetric,
    peer_name: str,
    peer: Pairs,
    few: int | None,
    *,
    wall: bool = False,
) -> Case:
    """The peer gets the pairs of `few` samples of each list (None: all); its time is scaled to all pairs."""

    def prepare(scale: float) -> Workload:
        if peer_name == "mbrs":
            import_module("mbrs.metrics")  # seconds, which are not the work's
        lists = make(scale)
        lexicon = Lexicon()
        hyps = lexicon.segments(metric.tokenise(text for texts in lists for text in texts))
        spelling = lexicon.spelling()
        offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        mass = np.concatenate([np.full(len(texts), 1 / len(texts)) for texts in lists])
        some = (
            lists
            if few is None
            else [texts[:: max(1, len(texts) // few)] for texts in lists[: max(1, len(lists) // 8)]]
        )
        n_pairs = sum(len(texts) ** 2 for texts in lists)

        return Workload(
            n_items=n_pairs,
            ours=lambda: metric.expected_gains(hyps, offsets, mass, spelling=spelling, n_threads=1),
            peer=lambda: peer(some),
            repeats=3,
            peer_share=sum(len(texts) ** 2 for texts in some) / n_pairs,
        )

    return Case(
        name=name,
        area="mbr",
        unit="pairs",
        prepare=prepare,
        peer_name=peer_name,
        target="100×" if peer_name == "sacrebleu" else "1×",
        needs_data=True,
        wall=wall,
    )


def _fifty(scale: float) -> Lists:
    lists = _lists()
    return lists[: int(len(lists) * scale)]


def _thousand(scale: float) -> Lists:
    return _samples(int(16 * scale))


def _few(scale: float) -> Lists:
    return _samples(int(4 * scale))


CASES = [
    _case(
        "BLEU, 50-best lists", _fifty, Bleu(), "sacrebleu", _sacrebleu(BLEU(tokenize="none", effective_order=True)), 4
    ),
    _case("chrF, 50-best lists", _fifty, Chrf(), "sacrebleu", _sacrebleu(CHRF()), 4),
    _case("TER, 50-best lists", _fifty, Ter(), "sacrebleu", _sacrebleu(TER()), 4),
    _case(
        "BLEU, 1,024 samples",
        _thousand,
        Bleu(),
        "sacrebleu",
        _sacrebleu(BLEU(tokenize="none", effective_order=True)),
        40,
    ),
    _case("chrF, 1,024 samples", _thousand, Chrf(), "sacrebleu", _sacrebleu(CHRF()), 40),
    _case("TER, 1,024 samples", _few, Ter(), "sacrebleu", _sacrebleu(TER()), 32),
]
if find_spec("fastchrf"):
    CASES.append(_case("chrF beside fastchrf, 1,024 samples", _few, Chrf(), "fastchrf", _fastchrf, None))
if find_spec("mbrs"):
    for label, metric, peer in (
        ("BLEU", Bleu(), _mbrs("bleu", tokenize="none")),
        ("chrF", Chrf(), _mbrs("chrf", fastchrf=True)),
        ("TER", Ter(), _mbrs("ter")),
    ):
        name = f"{label} beside mbrs, 1,024 samples (wall)"
        CASES.append(_case(name, _few, metric, "mbrs", peer, None if label == "chrF" else 128, wall=True))
if not (ANCHORS / "neural").is_dir():
    CASES = []
