"""Metric statistics from id arrays beside sacrebleu, one thread."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER

from bench.harness import ANCHORS, DATA, Case, Workload
from dragoman.metric import Bleu, Chrf, Lexicon, Metric, Ter
from dragoman.text import read_lines

Text = tuple[list[str], list[int], list[list[str]]]  # candidates, the sentence of each, references by sentence


@cache
def _enja() -> Text:
    """The 100-best lists of Moses on the 500 development sentences."""
    candidates, sentence = [], []
    for line in read_lines(ANCHORS / "moses-enja" / "round1.nbest.gz"):
        fields = line.split(" ||| ")
        sentence.append(int(fields[0]))
        candidates.append(fields[1].strip())
    return candidates, sentence, [[line] for line in read_lines(DATA / "enja" / "dev.en.xz")]


@cache
def _bible() -> Text:
    """Long verses: one English version with words moved, dropped and doubled, against the other three."""
    versions = [list(read_lines(DATA / "bible-mref" / f"dev.en.{r}.xz")) for r in range(4)]
    rng = random.Random(1)
    candidates = []
    for line in versions[0]:
        words = line.split()
        for _ in range(len(words) // 6):
            a, b = rng.randrange(len(words)), rng.randrange(len(words))
            words.insert(a, words.pop(b))
        candidates.append(" ".join(words))
    return candidates, list(range(len(candidates))), [list(refs) for refs in zip(*versions[1:], strict=True)]


def _prepare(
    text: Callable[[], Text], ours: Metric, peer: BLEU | CHRF | TER, peer_share: float
) -> Callable[[float], Workload]:
    def prepare(scale: float) -> Workload:
        candidates, sentence, references = text()
        n_sentences = int(len(references) * scale)
        n = next((i for i, s in enumerate(sentence) if s >= n_sentences), len(candidates))
        candidates, sentence, references = candidates[:n], sentence[:n], references[:n_sentences]
        lexicon = Lexicon()
        hyps = lexicon.segments([ours.tokenise([line])[0] for line in candidates])
        refs = lexicon.references([ours.tokenise(lines) for lines in references])
        spelling = lexicon.spelling()
        which = np.array(sentence, dtype=np.int32)
        # The peer is so slow that it gets every n-th candidate; its time is scaled to all of them.
        chosen = range(0, n, round(1 / peer_share))
        width = max(len(refs) for refs in references)
        streams = [[references[sentence[i]][r] for i in chosen] for r in range(width)]
        lines = [candidates[i] for i in chosen]

        def run() -> None:
            ours.statistics(hyps, refs, sentence=which, spelling=spelling, n_threads=1)

        def run_peer() -> None:
            peer.corpus_score(lines, streams)

        return Workload(n_items=n, ours=run, peer=run_peer, peer_share=len(lines) / n)

    return prepare


def _case(
    name: str, target: str, text: Callable[[], Text], ours: Metric, peer: BLEU | CHRF | TER, share: float
) -> Case:
    prepare = _prepare(text, ours, peer, share)
    return Case(
        name=name,
        area="metric",
        unit="candidates",
        prepare=prepare,
        peer_name="sacrebleu",
        target=target,
        needs_data=True,
    )


_BLEU = BLEU(tokenize="none", force=True)
CASES = [
    _case("BLEU, enja 100-best", "50×", _enja, Bleu(), _BLEU, 0.5),
    _case("BLEU, bible-mref", "", _bible, Bleu(), _BLEU, 1.0),
    _case("chrF, enja 100-best", "20×", _enja, Chrf(), CHRF(), 0.25),
    _case("chrF, bible-mref", "", _bible, Chrf(), CHRF(), 1.0),
    _case("TER, enja 100-best", "20×", _enja, Ter(), TER(), 0.1),
    _case("TER, bible-mref", "20×", _bible, Ter(), TER(), 0.2),
]
