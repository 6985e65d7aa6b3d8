"""Phrase extraction, orientations and scores by definition, over sets; slow and plain."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    source: tuple[str, ...]
    target: tuple[str, ...]
    links: frozenset[tuple[int, int]]
    fold: int


def blocks(pair, max_length=None):
    """All (s0, s1, t0, t1), ends included, with a link inside and none that crosses the border."""
    found = []
    for s0 in range(len(pair.source)):
        for s1 in range(s0, len(pair.source)):
            for t0 in range(len(pair.target)):
                for t1 in range(t0, len(pair.target)):
                    if max_length and (s1 - s0 >= max_length or t1 - t0 >= max_length):
                        continue
                    touched = [(s0 <= s <= s1, t0 <= t <= t1) for s, t in pair.links]
                    if (True, True) in touched and (True, False) not in touched and (False, True) not in touched:
                        found.append((s0, s1, t0, t1))
    return found


def mirrored(pair, block):
    """The sentence pair read from its end: what follows a block there precedes it here."""
    n, m = len(pair.source), len(pair.target)
    s0, s1, t0, t1 = block
    links = frozenset((n - 1 - s, m - 1 - t) for s, t in pair.links)
    return Pair(pair.source[::-1], pair.target[::-1], links, pair.fold), (
        n - 1 - s1,
        n - 1 - s0,
        m - 1 - t1,
        m - 1 - t0,
    )


def side(pair, block):
    s0, _, t0, _ = block
    for t in range(t0 - 1, -1, -1):
        linked = [s for s, u in pair.links if u == t]
        if linked:
            return "right" if min(linked) < s0 else "left"
    return "right"


def by_word(pair, block):
    s0, s1, t0, _ = block
    links = pair.links | {(-1, -1)}
    before, after = (s0 - 1, t0 - 1) in links, (s1 + 1, t0 - 1) in links
    if before != after:
        return "mono" if before else "swap"
    return side(pair, block)


def by_block(pair, block, neighbours):
    s0, s1, t0, _ = block
    if s0 == t0 == 0:
        return "mono"
    if any(b[1] == s0 - 1 and b[3] == t0 - 1 for b in neighbours):
        return "mono"
    if any(b[0] == s1 + 1 and b[3] == t0 - 1 for b in neighbours):
        return "swap"
    return side(pair, block)


def by_any_block(pair, block, neighbours):
    found = by_block(pair, block, neighbours)
    s0, _, t0, _ = block
    whole = (s0 == t0 == 0) or (0, s0 - 1, 0, t0 - 1) in neighbours
    return "global" if found == "mono" and whole else found


def orientations(pair, block, max_length):
    """Of the word-based, phrase-based and hierarchical models: backward and forward."""
    result = []
    for of in ((pair, block), mirrored(pair, block)):
        phrases, everything = blocks(of[0], max_length), blocks(of[0])
        result.append((by_word(*of), by_block(*of, phrases), by_any_block(*of, everything)))
    return tuple(zip(*result, strict=True))


@dataclass(frozen=True)
class Event:
    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]
    fold: int
    orientation: tuple[tuple[str, str], ...]


def extract(pairs, max_length):
    events = Counter()
    for pair in pairs:
        for block in blocks(pair, max_length):
            s0, s1, t0, t1 = block
            inner = tuple(sorted((s - s0, t - t0) for s, t in pair.links if s0 <= s <= s1))
            kind = orientations(pair, block, max_length)
            events[Event(pair.source[s0 : s1 + 1], pair.target[t0 : t1 + 1], inner, pair.fold, kind)] += 1
    return events


def word_counts(pairs):
    counts = Counter()
    for pair in pairs:
        counts.update((pair.source[s], pair.target[t]) for s, t in pair.links)
        counts.update((w, None) for s, w in enumerate(pair.source) if s not in {link[0] for link in pair.links})
        counts.update((None, w) for t, w in enumerate(pair.target) if t not in {link[1] for link in pair.links})
    return counts


def partners(links, n, of_target):
    return [sorted(s if of_target else t for s, t in links if (t if of_target else s) == i) for i in range(n)]


class LexicalWeights:
    """Lexical weights from `words` (counts of linked words) and `alignments` (counts of a pair's alignments)."""

    def is_word(self, symbol):
        return True

    def best_alignment(self, key, of_target):
        n = len(key[1] if of_target else key[0])
        ranked = [(count, partners(links, n, of_target), links) for links, count in self.alignments[key].items()]
        return max(ranked)[2]

    def lexical(self, key, of_target):
        words, others = (key[1], key[0]) if of_target else key

        def prob(word, other):
            cell = (other, word) if of_target else (word, other)
            given = sum(n for (s, t), n in self.words.items() if (s if of_target else t) == other)
            return self.words[cell] / given

        product = 1.0
        linked = partners(self.best_alignment(key, of_target), len(words), of_target)
        for word, row in zip(words, linked, strict=True):
            if self.is_word(word):
                product *= sum(prob(word, others[i]) for i in row) / len(row) if row else prob(word, None)
        return math.log(product)


class Scores(LexicalWeights):
    """Everything a view says of the pairs of some training data."""

    def __init__(self, pairs, max_length):
        self.events = extract(pairs, max_length)
        self.words = word_counts(pairs)
        self.count, self.of_source, self.of_target = Counter(), Counter(), Counter()
        self.alignments = defaultdict(Counter)
        for event, n in self.events.items():
            self.count[event.source, event.target] += n
            self.of_source[event.source] += n
            self.of_target[event.target] += n
            self.alignments[event.source, event.target][event.links] += n

    def scores(self, key):
        n = self.count[key]
        return (
            math.log(n / self.of_source[key[0]]),
            math.log(n / self.of_target[key[1]]),
            self.lexical(key, True),
            self.lexical(key, False),
        )

    def reordering(self, key, model, classes, smoothing):
        """`classes`: tuples of orientations that count as one."""
        result = []
        for direction in (0, 1):
            counts = Counter()
            for event, n in self.events.items():
                if (event.source, event.target) == key:
                    counts[event.orientation[model][direction]] += n
            total = sum(counts.values()) + smoothing * len(classes)
            result += [math.log((sum(counts[o] for o in c) + smoothing) / total) for c in classes]
        return result

    def kneser_ney(self, key):
        n = Counter(min(c, 5) for c in self.count.values())
        discount = {1: 0.0, 2: 0.0, 3: 0.0}
        if n[1] and n[2]:
            y = n[1] / (n[1] + 2 * n[2])
            discount = {i: min(max(i - (i + 1) * y * n[i + 1] / n[i], 0), i) if n[i] else 0.0 for i in (1, 2, 3)}

        def smoothed(given, other, total):
            own = {k: c for k, c in self.count.items() if k[given] == key[given]}
            freed = sum(discount[min(c, 3)] for c in own.values())
            lower = sum(k[other] == key[other] for k in self.count) / len(self.count)
            return math.log((self.count[key] - discount[min(self.count[key], 3)] + freed * lower) / total)

        return smoothed(0, 1, self.of_source[key[0]]), smoothed(1, 0, self.of_target[key[1]])
