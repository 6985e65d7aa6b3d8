"""Hierarchical rules and their scores by definition (Chiang 2007), over sets; slow and plain."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

from grammar_twin import LexicalWeights, blocks, word_counts

UNIT = 1 << 30


@dataclass(frozen=True)
class Limits:
    max_length: int = 10
    tight: bool = True
    max_nonterminals: int = 2
    max_symbols: int = 5
    adjacent: bool = False
    aligned: bool = True
    min_source_gap: int = 1
    min_target_gap: int = 1
    fractional: bool = True


@dataclass(frozen=True)
class Event:
    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]
    minimal: bool
    fold: int


def initial_phrases(pair, limits):
    found = blocks(pair, limits.max_length)
    if not limits.tight:
        return found
    linked = {s for s, _ in pair.links}, {t for _, t in pair.links}
    return [b for b in found if {b[0], b[1]} <= linked[0] and {b[2], b[3]} <= linked[1]]


def inside(gap, block):
    return block[0] <= gap[0] and gap[1] <= block[1] and block[2] <= gap[2] and gap[3] <= block[3]


def apart(a, b):
    return (a[1] < b[0] or b[1] < a[0]) and (a[3] < b[2] or b[3] < a[2])


def side(first, last, gaps):
    """Symbols from left to right: a position of a word, or the number of a gap (begin, end)."""
    symbols, at = [], first
    while at <= last:
        number = next((i for i, gap in enumerate(gaps) if gap[0] == at), None)
        symbols.append(("word", at) if number is None else ("gap", number))
        at = at + 1 if number is None else gaps[number][1] + 1
    return symbols


def is_rule(pair, block, gaps, limits):
    """Whether what is left of a block is within the limits; gaps by source."""
    source = side(block[0], block[1], [(g[0], g[1]) for g in gaps])
    if len(gaps) > limits.max_nonterminals or len(source) > limits.max_symbols:
        return False
    if len(source) == len(gaps) == 1:
        return False
    if any(g[1] - g[0] + 1 < limits.min_source_gap or g[3] - g[2] + 1 < limits.min_target_gap for g in gaps):
        return False
    if not limits.adjacent and any(a[0] == b[0] == "gap" for a, b in pairwise(source)):
        return False
    linked = {s for s, _ in pair.links}
    return not limits.aligned or any(kind == "word" and at in linked for kind, at in source)


def is_composed(pair, block, gaps, phrases, limits):
    """Whether a part of the source side is an initial phrase and both parts are rules."""
    for part in phrases:
        if part in gaps or not (block[0] <= part[0] and part[1] <= block[1]) or part[:2] == block[:2]:
            continue
        if any(g[0] <= part[0] and part[1] <= g[1] for g in gaps):
            continue
        within = [g for g in gaps if part[0] <= g[0] and g[1] <= part[1]]
        without = [g for g in gaps if g[1] < part[0] or part[1] < g[0]]
        if len(within) + len(without) < len(gaps):
            continue
        if is_rule(pair, part, within, limits) and is_rule(pair, block, sorted([*without, part]), limits):
            return True
    return False


def choices_of(pair, block, phrases, limits):
    """All gaps that make a rule of an initial phrase."""
    candidates = [p for p in phrases if inside(p, block) and p != block]
    return [
        sorted(gaps)
        for n in range(limits.max_nonterminals + 1)
        for gaps in combinations(candidates, n)
        if all(apart(a, b) for a, b in combinations(gaps, 2)) and is_rule(pair, block, sorted(gaps), limits)
    ]


def event_of(pair, block, gaps, minimal):
    """The rule of a block with gaps, by source."""
    s0, s1, t0, t1 = block
    source = side(s0, s1, [(g[0], g[1]) for g in gaps])
    target = side(t0, t1, [(g[2], g[3]) for g in gaps])
    where = {at: i for i, (kind, at) in enumerate(source) if kind == "word"}
    there = {at: i for i, (kind, at) in enumerate(target) if kind == "word"}
    return Event(
        tuple(pair.source[at] if kind == "word" else f"[X,{at + 1}]" for kind, at in source),
        tuple(pair.target[at] if kind == "word" else f"[X,{at + 1}]" for kind, at in target),
        tuple(sorted((where[s], there[t]) for s, t in pair.links if s in where and t in there)),
        minimal,
        pair.fold,
    )


def rules_of(pair, limits):
    """(Event, mass) of every way to make a rule."""
    phrases = initial_phrases(pair, limits)
    for block in phrases:
        choices = choices_of(pair, block, phrases, limits)
        for gaps in choices:
            event = event_of(pair, block, gaps, not is_composed(pair, block, gaps, phrases, limits))
            yield event, share(len(choices) if limits.fractional else 1)


def share(n):
    """The mass of one of n rules that share a mass of one."""
    return (UNIT + n // 2) // n


def pattern(target):
    """A target side whatever the order of its nonterminals."""
    return tuple("[X]" if word.startswith("[X,") else word for word in target)


class Rules(LexicalWeights):
    """Everything a view says of the rules of some training data."""

    def __init__(self, pairs, limits, rules=rules_of):
        self.words = word_counts(pairs)
        self.count, self.mass, self.of_source, self.of_target = Counter(), Counter(), Counter(), Counter()
        self.alignments, self.minimal = defaultdict(Counter), set()
        for pair in pairs:
            for event, mass in rules(pair, limits):
                key = event.source, event.target
                self.count[key] += 1
                self.mass[key] += mass
                self.of_source[event.source] += mass
                self.of_target[pattern(event.target)] += mass
                self.alignments[key][event.links] += mass
                if event.minimal:
                    self.minimal.add(key)

    def is_word(self, symbol):
        return not symbol.startswith("[X,")

    def scores(self, key):
        return (
            math.log(Fraction(self.mass[key], self.of_source[key[0]])),
            math.log(Fraction(self.mass[key], self.of_target[pattern(key[1])])),
            self.lexical(key, True),
            self.lexical(key, False),
            math.log(1 + self.count[key]),
            float(self.count[key] == 1),
        )
