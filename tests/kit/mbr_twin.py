"""Expected utilities as a loop over sacrebleu's sentence scores."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER

from dragoman.metric import Bleu, Chrf, Ter

PEERS = {
    "bleu": (Bleu(), BLEU(tokenize="none", effective_order=True)),
    "bleu lowercased, order 2": (
        Bleu(max_order=2, lowercase=True),
        BLEU(tokenize="none", effective_order=True, max_ngram_order=2, lowercase=True),
    ),
    "chrf": (Chrf(), CHRF()),
    "chrf++": (Chrf(word_order=2), CHRF(word_order=2)),
    "ter": (Ter(), TER()),
}


def expected_by_hand(peer, texts, lists, mass):
    """The sum over the candidates r of a list of mass[r] times the gain against r."""
    expected = np.zeros(len(texts))
    for begin, end in pairwise(lists):
        for h in range(begin, end):
            for r in range(begin, end):
                score = peer.sentence_score(texts[h], [texts[r]]).score / 100
                expected[h] += mass[r] * (1 - score if isinstance(peer, TER) else score)
    return expected
