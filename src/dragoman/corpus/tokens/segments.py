"""Words of scripts without spaces: a unigram segmentation, learned from text.

Words are found by hard EM: segment all text by the best path of a unigram model, count, drop what is rare, again. A
unigram model alone takes phrases for words (Goldwater, Griffiths and Johnson 2009), so that long words pay for their
length.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from dragoman.corpus.tokens.scripts import CLUSTER

__all__ = ["Segmenter", "learn_segments"]

_LONGEST = 8
"""Letters of a word, at most."""
_MIN_COUNT = 4
_PASSES = 6
_LENGTH = 1.5
"""What a word of n letters pays: this times (n - 1) squared."""
_MOST_RUNS = 400_000


class Segmenter:
    """Cuts runs of letters by the words of a unigram model; letters it does not know are words of their own."""

    def __init__(self, words: Mapping[str, int]) -> None:
        self.words = dict(words)
        self._scores, self._unknown = _scores(self.words)

    def __call__(self, run: str) -> list[str]:
        letters = _letters(run)
        return letters if len(letters) == 1 else _best_path(letters, self._scores, self._unknown)


def learn_segments(runs: Iterable[str]) -> Segmenter:
    """The words of a text, given as its runs of letters."""
    found: Counter[str] = Counter()
    for run in runs:
        found[run] += 1
        if len(found) >= _MOST_RUNS:
            break
    texts = [(_letters(run), count) for run, count in found.items()]
    single: Counter[str] = Counter()
    for letters, count in texts:
        for letter in letters:
            single[letter] += count
    counts = _candidates(texts, single)
    for _ in range(_PASSES):
        scores, unknown = _scores(counts)
        counts = Counter()
        for letters, count in texts:
            for word in _best_path(letters, scores, unknown):
                counts[word] += count
        counts = Counter({word: n for word, n in counts.items() if n >= _MIN_COUNT or len(_letters(word)) == 1})
        for letter in single:
            counts[letter] += 0
    return Segmenter({word: max(1, n) for word, n in sorted(counts.items())})


def _letters(run: str) -> list[str]:
    return CLUSTER.findall(run)


def _candidates(texts: list[tuple[list[str], int]], single: Counter[str]) -> Counter[str]:
    """Sequences that recur, and whose letters are found together more often than chance would have them."""
    total = sum(single.values()) or 1
    counts: Counter[str] = Counter(single)
    shorter = set(single)
    for length in range(2, _LONGEST + 1):
        found: Counter[str] = Counter()
        for letters, count in texts:
            for begin in range(len(letters) - length + 1):
                head = "".join(letters[begin : begin + length - 1])
                if head in shorter and (word := head + letters[begin + length - 1]) not in single:
                    found[word] += count
        kept = {word: n for word, n in found.items() if n >= _MIN_COUNT}
        if not kept:
            break
        shorter = set(kept)
        counts.update(kept)
    for word in [word for word in counts if word not in single]:
        parts = _letters(word)
        # The likelier of its two-part splits, as if its parts were independent.
        chance = max(counts["".join(parts[:i])] * counts["".join(parts[i:])] / total for i in range(1, len(parts)))
        if counts[word] < 4 * chance:
            del counts[word]
    return counts


def _scores(counts: Mapping[str, int]) -> tuple[dict[str, float], float]:
    """Scores of words, and of a letter that is none of them."""
    total = sum(counts.values()) + 1.0
    scores = {}
    for word, count in counts.items():
        longer = len(word) - 1 if len(word) < 2 else len(_letters(word)) - 1
        scores[word] = math.log(max(count, 0.5) / total) - _LENGTH * longer**2
    return scores, math.log(0.1 / total)


def _best_path(letters: list[str], scores: Mapping[str, float], unknown: float) -> list[str]:
    n = len(letters)
    best = [0.0] + [-math.inf] * n
    back = [0] * (n + 1)
    for begin in range(n):
        word, here = "", best[begin]
        for end in range(begin + 1, min(n, begin + _LONGEST) + 1):
            word += letters[end - 1]
            score = scores.get(word)
            if score is None:
                if end > begin + 1:
                    continue
                score = unknown
            if here + score > best[end]:
                best[end], back[end] = here + score, begin
    words = []
    while n:
        words.append("".join(letters[back[n] : n]))
        n = back[n]
    return words[::-1]
