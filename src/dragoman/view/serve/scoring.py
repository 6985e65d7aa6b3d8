"""Sentence-level metrics of candidates against one reference."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.metric import Bleu, Chrf, SentenceBleu, Ter

__all__ = ["sentence_scores"]


def sentence_scores(hypotheses: Sequence[str], reference: str) -> list[dict[str, float]]:
    """BLEU+1, chrF and TER of each hypothesis, all tokens with spaces between, in points."""
    references = [[reference]] * len(hypotheses)
    bleu = SentenceBleu().score(Bleu().text_statistics(hypotheses, references))
    chrf = Chrf().score_of(Chrf().text_statistics(hypotheses, references))
    ter = Ter().score_of(Ter().text_statistics(hypotheses, references))
    return [
        {"bleu": 100 * float(b), "chrf": 100 * float(c), "ter": 100 * float(t)}
        for b, c, t in zip(bleu, chrf, ter, strict=True)
    ]
