"""Features for candidates, written again word by word."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import pairwise

from mbr_twin import PEERS

FLOOR = 1e-7
EMPTY = None


def grams(words, order):
    return [tuple(words[i : i + order]) for i in range(len(words) - order + 1)]


def length(source, texts, c):
    ratio = math.log((len(texts[c].split()) + 1) / (len(source.split()) + 1))
    return [len(texts[c].split()), ratio, ratio * ratio]


def copies(source, texts, c):
    mine, words = texts[c].split(), source.split()
    numbers = {w for w in words if any(map(str.isdigit, w))}
    return [
        len([w for w in mine if w in words and any(map(str.isalnum, w))]),
        len([w for w in mine if any(map(str.isdigit, w)) and w not in numbers]),
        len([n for n in numbers if n not in mine]),
    ]


def repeats(source, texts, c):
    words = texts[c].split()
    doubled = len([1 for a, b in pairwise(words) if a == b])
    return [doubled, *(sum(n - 1 for n in Counter(grams(words, order)).values()) for order in (2, 3, 4))]


def agreement(source, texts, c, mass=None):
    mass = mass or [1 / len(texts)] * len(texts)
    words = texts[c].split()
    matches = [
        sum(
            p * sum((Counter(grams(words, order)) & Counter(grams(other.split(), order))).values())
            for p, other in zip(mass, texts, strict=True)
        )
        for order in (1, 2, 3, 4)
    ]
    gains = [
        sum(
            p * PEERS[name][1].sentence_score(texts[c], [other]).score / 100
            for p, other in zip(mass, texts, strict=True)
        )
        for name in ("bleu", "chrf")
    ]
    return [*matches, *gains]


class Translations:
    """Relative frequencies of links, from text and alignment."""

    def __init__(self, sources, targets, alignments):
        self.counts = Counter()
        for source, target, links in zip(sources, targets, alignments, strict=True):
            f, e = source.split(), target.split()
            pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
            self.counts.update((f[i], e[j]) for i, j in pairs)
            self.counts.update((f[i], EMPTY) for i in range(len(f)) if i not in {i for i, _ in pairs})
            self.counts.update((EMPTY, e[j]) for j in range(len(e)) if j not in {j for _, j in pairs})
        self.of_f, self.of_e = defaultdict(int), defaultdict(int)
        for (f, e), n in self.counts.items():
            self.of_f[f] += n
            self.of_e[e] += n

    def e_given(self, e, f):
        return self.counts[f, e] / self.of_f[f] if self.of_f[f] else 0.0

    def f_given(self, f, e):
        return self.counts[f, e] / self.of_e[e] if self.of_e[e] else 0.0

    def __call__(self, source, texts, c):
        f, e = source.split(), texts[c].split()
        forward, backward = [], []
        for word in e:
            each = [self.e_given(word, other) for other in (EMPTY, *f)]
            forward.append((sum(each) / len(each), max(each), max(each[1:], default=0) <= each[0]))
        for word in f:
            each = [self.f_given(word, other) for other in (EMPTY, *e)]
            backward.append((sum(each) / len(each), max(each), max(each[1:], default=0) <= each[0]))

        def log(rows, column):
            return sum(math.log(max(row[column], FLOOR)) for row in rows)

        return [
            log(forward, 0),
            log(forward, 1),
            log(backward, 0),
            log(backward, 1),
            sum(row[2] for row in forward),
            sum(row[2] for row in backward),
        ]

    def most_linked(self, n):
        """The words of each side with most links."""
        sides = Counter(), Counter()
        for pair, count in self.counts.items():
            for side, word in zip(sides, pair, strict=True):
                side[word] += count if None not in pair else 0
        return [
            {word for word, count in sorted(side.items(), key=lambda item: (-item[1], item[0] or ""))[:n] if count}
            for side in ({w: c for w, c in each.items() if w is not EMPTY and c} for each in sides)
        ]

    def links(self, f, e):
        """For each word of e the place of the word of f that makes it most likely, or None."""
        found = []
        for j, word in enumerate(e):
            best = max([self.e_given(word, other) for other in f], default=0.0)
            if best <= self.e_given(word, EMPTY):
                found.append(None)
                continue
            same = [i for i, other in enumerate(f) if self.e_given(word, other) == best]
            found.append(min(same, key=lambda i: (abs((i + 0.5) / len(f) - (j + 0.5) / len(e)), i)))
        return found


def word_pairs(f, e, table, known):
    links = table.links(f, e)
    shown = [w if w in known[0] else "<other>" for w in f], [w if w in known[1] else "<other>" for w in e]
    pairs = [("<unaligned>" if i is None else shown[0][i], w) for i, w in zip(links, shown[1], strict=True)]
    pairs += [(shown[0][i], "<unaligned>") for i in range(len(f)) if i not in links]
    return Counter(f"linked:{a},{b}" for a, b in pairs)


def contexts(f, e, table, known):
    found = Counter()
    shown = ["<s>", *(w if w in known[0] else "<other>" for w in f), "</s>"]
    for i, word in zip(table.links(f, e), e, strict=True):
        if i is not None and f[i] in known[0] and word in known[1]:
            found[f"linked_context_before:{f[i]},{word},{shown[i]}"] += 1
            found[f"linked_context_after:{f[i]},{word},{shown[i + 2]}"] += 1
    return found
