"""WER and RIBES of a sentence, by their definitions."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import exp


def edits(words, reference):
    @cache
    def least(i, j):
        if not i or not j:
            return i + j
        return min(least(i - 1, j - 1) + (words[i - 1] != reference[j - 1]), least(i - 1, j) + 1, least(i, j - 1) + 1)

    return least(len(words), len(reference))


def wer(words, references):
    return min(edits(words, each) for each in references), sum(map(len, references)) / len(references)


def ribes(words, references, alpha=0.25, beta=0.10):
    return max(_ribes(words, each, alpha, beta) for each in references)


def _ribes(words, reference, alpha, beta):
    if not words or not reference:
        return float(words == reference)
    places = [place for place in (_place(words, reference, i) for i in range(len(words))) if place is not None]
    if len(places) == 1 and len(reference) == 1:
        order = 1.0
    elif len(places) < 2:
        return 0.0
    else:
        pairs = list(combinations(places, 2))
        order = sum(a < b for a, b in pairs) / len(pairs)
    brevity = min(1.0, exp(1 - len(reference) / len(words)))
    return order * (len(places) / len(words)) ** alpha * brevity**beta


def _place(words, reference, i):
    """Of the shortest n-gram that ends, else begins, at word i, and occurs once in both: the place of the word."""
    for n in range(1, len(words) + 1):
        for begin, shift in ((i - n + 1, n - 1), (i, 0)):
            gram = words[begin : begin + n] if begin >= 0 else []
            if len(gram) == n and _places(gram, words) == [begin] and len(found := _places(gram, reference)) == 1:
                return found[0] + shift
    return None


def _places(gram, words):
    return [k for k in range(len(words) - len(gram) + 1) if words[k : k + len(gram)] == gram]
