"""Minimal trees and the rules of them that are beyond the limits, by brute force over all tight phrase pairs."""

from __future__ import annotations

import math
from fractions import Fraction

from grammar_twin import blocks
from rule_twin import Rules, choices_of, event_of, initial_phrases, inside, is_rule, pattern, share


def tight_blocks(pair):
    """All phrase pairs (s0, s1, t0, t1), ends included, whose four ends have links."""
    linked = {s for s, _ in pair.links}, {t for _, t in pair.links}
    return [b for b in blocks(pair) if {b[0], b[1]} <= linked[0] and {b[2], b[3]} <= linked[1]]


def cross(a, b):
    return a[0] < b[0] <= a[1] < b[1] or b[0] < a[0] <= b[1] < a[1]


def hull(parts):
    return min(p[0] for p in parts), max(p[1] for p in parts), min(p[2] for p in parts), max(p[3] for p in parts)


def minimal_tree(pair):
    """(block, children from left to right) of every node: rows are binarised from the left, the top is the whole."""
    whole = (0, len(pair.source) - 1, 0, len(pair.target) - 1)
    tight = tight_blocks(pair)
    if not tight:
        return [(whole, [])]
    strong = [b for b in tight if not any(cross(b, other) for other in tight)]
    top = hull(strong)
    nodes = []
    for block in strong:
        below = [b for b in strong if b != block and inside(b, block)]
        children = sorted(b for b in below if not any(b != other and inside(b, other) for other in below))
        while len(children) > 2 and hull(children[:2]) in tight:
            nodes.append((hull(children[:2]), children[:2]))
            children = [hull(children[:2]), *children[2:]]
        nodes.append((whole if block == top else block, children))
    return nodes


def beyond(pair, limits):
    """(block, children) of the nodes whose rules the limits do not allow."""
    phrases = initial_phrases(pair, limits)
    return [
        (block, gaps)
        for block, gaps in minimal_tree(pair)
        if not {block, *gaps} <= {*phrases} or not is_rule(pair, block, gaps, limits)
    ]


def added_rules(pair, limits):
    """(Event, mass) of them."""
    phrases = initial_phrases(pair, limits)
    for block, gaps in beyond(pair, limits):
        n = len(choices_of(pair, block, phrases, limits)) if limits.fractional and block in phrases else 0
        yield event_of(pair, block, gaps, True), share(n + 1)


def added_share(pair, limits):
    """The share of source words in rules beyond the limits."""
    events = [event_of(pair, block, gaps, True) for block, gaps in beyond(pair, limits)]
    return Fraction(sum(not w.startswith("[X,") for e in events for w in e.source), len(pair.source))


class AllRules:
    """What views show: extracted rules, and added ones where a rule is not extracted, or not often enough."""

    def __init__(self, pairs, limits, min_count=1, composed=False):
        self.extracted, self.added = Rules(pairs, limits), Rules(pairs, limits, added_rules)
        self.kept = {
            key
            for key, n in self.extracted.count.items()
            if n >= min_count or (key in self.extracted.minimal if composed else not has_gaps(key[0]))
        }
        self.only_added = self.added.count.keys() - self.kept

    def scores(self, key):
        if key in self.kept:
            return self.extracted.scores(key)
        source, target = key[0], pattern(key[1])
        given = (
            self.added.of_source[source] + self.extracted.of_source[source],
            self.added.of_target[target] + self.extracted.of_target[target],
        )
        probabilities = [math.log(Fraction(self.added.mass[key], total)) for total in given]
        return (*probabilities, *self.added.scores(key)[2:])


def has_gaps(source):
    return any(word.startswith("[X,") for word in source)
