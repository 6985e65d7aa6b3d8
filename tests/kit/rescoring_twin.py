"""Features for candidates, written again word by word."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import pairwise

from tests.kit.mbr_twin import PEERS

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


class Forced:
    """The best derivation of a text by a phrase-based system, or that with the fewest edits, from its options."""

    def __init__(self, system):
        self.system = system
        self.weights = dict(system.weights.items())
        self.limit = system.settings.model.distortion_limit

    def __call__(self, source, texts, c):
        words, target = source.split(), texts[c].split()
        spelt, options = self.options(source)
        alone = {begin for begin, end, *_ in options if end == begin + 1}
        plain = {"words": 1.0, "unknown": 1.0}
        options += [(p, p + 1, [words[p]], plain, None, None) for p in range(len(words)) if p not in alone]
        options += [(p, p + 1, [words[p]], plain, None, "copied") for p in alone if words[p] in target]
        options += [(p, p + 1, [], {}, None, "deleted") for p in range(len(words))]
        assert spelt == words
        start = (frozenset(), 0, 0, 0, None)
        layers = {0: {start: ((0, 0.0), {}, Counter())}}
        n, m = len(words), len(target)
        for done in range(n + m):
            for state, (_, features, edits) in layers.get(done, {}).items():
                for to, more, edit in self.steps(state, options, target, n):
                    total = Counter(features)
                    total.update(more)
                    counts = edits + Counter([edit] if edit else [])
                    key = (-sum(counts.values()), sum(self.weights.get(k, 0.0) * v for k, v in total.items()))
                    layer = layers.setdefault(len(to[0]) + to[1], {})
                    if to not in layer or layer[to][0] < key:
                        layer[to] = key, total, counts
        key, features, edits = max(layers[n + m].values(), key=lambda found: found[0])
        lm = self.system.lm().score(texts[c])
        features["lm"] = lm
        score = key[1] + self.weights["lm"] * lm
        kinds = [edits["deleted"], edits["inserted"], edits["copied"]]
        return [*(features.get(name, 0.0) for name in self.system.translator.dense()), score, *kinds, -key[0] > 0]

    def options(self, source):
        """Spans with target words, features and orientation scores."""
        batch = self.system.translator._builder.build([source])
        vocab = self.system.translator.vocab
        found = []
        for i, (begin, end) in enumerate(zip(batch.begin.tolist(), batch.end.tolist(), strict=True)):
            row = batch.targets[batch.target_offsets[i] : batch.target_offsets[i + 1]]
            target = vocab.decode(row).split(" ")
            names = ("p_e_f", "p_f_e", "lex_e_f", "lex_f_e")
            features = dict(zip(names, batch.scores[i].tolist(), strict=True))
            features |= {"words": float(len(target)), "phrases": 1.0}
            found.append((begin, end, target, features, tuple(batch.orientations[i].tolist()), None))
        return source.split(), found

    def steps(self, state, options, target, n):
        covered, position, last_begin, last_end, carried = state
        if position < len(target):
            yield (covered, position + 1, last_begin, last_end, carried), {"words": 1.0}, "inserted"
        gap = min(set(range(n)) - covered, default=n)
        for begin, end, words, features, orientations, edit in options:
            span = frozenset(range(begin, end))
            if span & covered or target[position : position + len(words)] != words:
                continue
            if abs(begin - last_end) > self.limit or (begin != gap and end - gap > self.limit):
                continue
            if edit == "deleted" and begin not in {last_end, gap}:
                continue
            place = 0 if begin == last_end else 1 if end == last_begin else 2
            more = Counter(features)
            more["distortion"] -= abs(begin - last_end)
            if orientations is not None:
                more[f"reorder_bwd_{'msd'[place]}"] += orientations[place]
            if carried is not None:
                more[f"reorder_fwd_{'msd'[place]}"] += carried[place]
            forth = None if orientations is None else orientations[3:]
            yield (covered | span, position + len(words), begin, end, forth), more, edit
