"""Slow twins of forests around references: bi-parsing by trying everything, and sums over listed derivations."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from functools import cache
from itertools import product

import numpy as np

from dragoman.search import EdgeKind

GLUE, PASS = "glue", "pass"


class ReferenceTwin:
    """All edges of derivations of a reference, over the rules of a batch (one label).

    Of nodes of the minimal tree, `tree` has the nodes below, the minimal rule, and by id the target sides of all rules
    with its source side.
    """

    def __init__(self, batch, sentence, reference, links, *, tight, max_span=None, tree=None):
        self.max_span, self.tree = max_span or len(reference) + 100, tree or {}
        begin, end = batch.sentence_offsets[sentence : sentence + 2]
        self.words = batch.words[begin:end].tolist()
        self.passed = batch.pass_through[begin:end].tolist()
        self.reference, self.links, self.tight = list(reference), links, tight
        first, last = batch.first_pattern[sentence : sentence + 2]
        self.patterns = [
            (
                batch.symbols[batch.symbol_offsets[p] : batch.symbol_offsets[p + 1]].tolist(),
                [
                    (int(batch.rules[r]), batch.targets[batch.target_offsets[r] : batch.target_offsets[r + 1]].tolist())
                    for r in range(batch.first_rule[p], batch.first_rule[p + 1])
                ],
            )
            for p in range(first, last)
        ]
        self.edges = cache(self.edges)

    def is_consistent(self, i, j, t, u):
        inside = [(s, e) for s, e in self.links if i <= s < j or t <= e < u]
        if not inside or not all(i <= s < j and t <= e < u for s, e in inside):
            return False
        ends = {s for s, _ in inside} >= {i, j - 1} and {e for _, e in inside} >= {t, u - 1}
        return ends or not self.tight

    def splits(self, symbols, i, j):
        """Spans of the nonterminals of a source side that covers words i to j."""
        if not symbols:
            if i == j:
                yield ()
            return
        if symbols[0] >= 0:
            if i < j and self.words[i] == symbols[0]:
                yield from self.splits(symbols[1:], i + 1, j)
            return
        for k in range(i + 1, j + 1):
            for rest in self.splits(symbols[1:], k, j):
                yield ((i, k), *rest)

    def places(self, symbols, spans, t, u):
        """Target spans of the nonterminals, by their numbers, where a target side reads as the reference does."""
        if not symbols:
            if t == u:
                yield {}
            return
        if symbols[0] >= 0:
            if t < u and self.reference[t] == symbols[0]:
                yield from self.places(symbols[1:], spans, t + 1, u)
            return
        slot = -1 - symbols[0]
        for k in range(t + 1, u + 1):
            if self.edges(*spans[slot], t, k):
                for rest in self.places(symbols[1:], spans, k, u):
                    yield {slot: (*spans[slot], t, k), **rest}

    def edges(self, i, j, t, u):
        """(rule, nodes of its nonterminals, number of the pattern) of a node, unless it is none."""
        found = self.charted(i, j, t, u) if self.is_consistent(i, j, t, u) and j - i <= self.max_span else []
        if minimal := self.tree.get((i, j, t, u)):
            tails, rule, _ = minimal
            is_known = any(edge[:2] == (rule, tails) for edge in found)
            if not is_known and all(self.edges(*tail) for tail in tails):
                found.append((rule, tails, (i, j, t, u)))
        return tuple(found)

    def charted(self, i, j, t, u):
        found = []
        for number, (symbols, rules) in enumerate(self.patterns):
            for spans in self.splits(symbols, i, j):
                if (i, j) in spans:
                    continue
                for rule, target in rules:
                    placed = self.places(target, spans, t, u)
                    found += [(rule, tuple(tails[k] for k in range(len(spans))), number) for tails in placed]
        alone = any(symbols == [self.words[i]] and rules for symbols, rules in self.patterns)
        if j == i + 1 and not alone and self.reference[t:u] == [self.passed[i]]:
            found.append((PASS, (), None))
        return found

    def wrong(self, node, edge):
        """Rules that may stand in place of an edge."""
        rule, tails, number = edge
        if number is None:
            return set()
        spans = [tail[:2] for tail in tails]
        fitting = set()
        rules = self.tree[number][2].items() if isinstance(number, tuple) else self.patterns[number][1]
        for other, target in rules:
            if any(tuple(p[k] for k in range(len(spans))) == tails for p in self.places(target, spans, *node[2:])):
                fitting.add(other)
        assert rule in fitting
        return {other for other, _ in rules} - fitting

    def whole(self):
        """(node, rule, tails) of all edges below the goal, glue left out, and whether there is a derivation."""
        n, m = len(self.words), len(self.reference)

        @cache
        def rows(j, u):
            """Items (i, j, t, u) that may be the last of a row from the beginning to (j, u)."""
            return [
                (i, j, t, u)
                for i in range(j)
                for t in range(u)
                if self.edges(i, j, t, u) and ((i == 0 and t == 0) or (i > 0 and t > 0 and rows(i, t)))
            ]

        nodes, open_rows, done = [], [(n, m)], set()
        while open_rows:
            row = open_rows.pop()
            if row in done:
                continue
            done.add(row)
            for item in rows(*row):
                nodes.append(item)
                if item[0] > 0:
                    open_rows.append((item[0], item[2]))
        found, wrong, seen = set(), set(), set()
        while nodes:
            node = nodes.pop()
            if node in seen:
                continue
            seen.add(node)
            for edge in self.edges(*node):
                found.add((node, -1 if edge[0] == PASS else edge[0], edge[1]))
                wrong |= {(node, other, edge[1]) for other in self.wrong(node, edge)}
                nodes.extend(edge[1])
        return found, wrong, bool(rows(n, m))


def listed(forests, sentence):
    """(kind, edges) of all derivations of a forest: kind None, or that of the replacing edge; edges with repeats."""
    first, last = forests.first_node[sentence : sentence + 2].tolist()

    @cache
    def below(node):
        none, one = [], []
        for e in range(int(forests.first_edge[node]), int(forests.first_edge[node + 1])):
            tails = [
                below(first + t) for t in forests.tails[forests.tail_offsets[e] : forests.tail_offsets[e + 1]].tolist()
            ]
            plain = [(e, *(x for part in parts for x in part)) for parts in product(*(tail[0] for tail in tails))]
            if forests.kinds[e] in (EdgeKind.REFERENCE, EdgeKind.HOLE):
                none += plain
                for place in range(len(tails)):
                    choices = [tail[1] if k == place else tail[0] for k, tail in enumerate(tails)]
                    for parts in product(*choices):
                        by = next(p for k, p in enumerate(parts) if k == place)[0]
                        flat = [x for k, part in enumerate(parts) for x in (part[1] if k == place else part)]
                        one.append((by, (e, *flat)))
            else:
                one += [(e, edges) for edges in plain]
        return none, one

    none, one = below(last - 1)
    return [(None, edges) for edges in none] + list(one)


def greedy_list(forests, sentence, scores, tree=None):
    """Algorithm 1 as printed: (score, replacing edge or None, edges) of every listed derivation, and the last tree."""
    first, last = forests.first_node[sentence : sentence + 2].tolist()
    nodes = range(last - first)
    spans = [tuple(row[:2]) for row in forests.spans.reshape(-1, 4)[first:last].tolist()]
    edges = [range(int(forests.first_edge[first + v]), int(forests.first_edge[first + v + 1])) for v in nodes]
    tails = {e: tuple(forests.tails_of(e).tolist()) for own in edges for e in own}
    own = [[e for e in row if forests.kinds[e] in (EdgeKind.REFERENCE, EdgeKind.HOLE)] for row in edges]
    wrong = [[e for e in row if e not in mine] for row, mine in zip(edges, own, strict=True)]

    def best(v):
        """Sums in the order of the native code: derivations with the same rules at other places have equal scores."""
        found = (-math.inf, {})
        for e in own[v]:
            score, chosen = scores[e], {v: e}
            for t in tails[e]:
                below = best(t)
                score += below[0]
                chosen |= below[1]
            if score > found[0]:
                found = (score, chosen)
        return found

    tree = dict(best(len(nodes) - 1)[1]) if tree is None else dict(tree)
    found = []

    def total(t):
        return sum(scores[e] for e in t.values())

    def add_wrong(t, v):
        same = [c for c in wrong[v] if tails[c] == tails[t[v]]]
        found.extend((total(t) - scores[t[v]] + scores[c], c, [*({**t, v: c}).values()]) for c in same)

    def rule(v, wanted):
        fitting = [e for e in own[v] if tails[e] == tuple(wanted) and forests.kinds[e] == EdgeKind.REFERENCE]
        return max(fitting, key=lambda e: (scores[e], -e), default=None)

    def post_order(v):
        for t in tails[tree[v]]:
            yield from post_order(t)
        yield v

    found.append((total(tree), None, [*tree.values()]))
    for v in list(post_order(len(nodes) - 1)):
        if v not in tree:
            continue
        add_wrong(tree, v)
        place = run = spans[v][0]
        while place < spans[v][1]:
            child = next((t for t in tails[tree[v]] if spans[t][0] <= place < spans[t][1]), None)
            options = []
            if child is not None:
                place = spans[child][1]
                changed = rule(v, [t for t in tails[tree[v]] if t != child]) if not tails[tree[child]] else None
                if changed is not None:
                    options = [({k: e for k, e in tree.items() if k != child} | {v: changed}, [v])]
            else:
                place += 1
                for u in range(v) if spans[v] != (run, place) else ():
                    if spans[u] != (run, place) or u in tree or rule(u, []) is None:
                        continue
                    changed = rule(v, sorted([*tails[tree[v]], u], key=lambda t: spans[t]))
                    if changed is not None:
                        options.append((tree | {v: changed, u: rule(u, [])}, [v, u]))
            moved = False
            if options:
                new, heads = max(options, key=lambda option: total(option[0]))
                found.append((total(new), None, [*new.values()]))
                for head in heads:
                    add_wrong(new, head)
                if total(new) > total(tree) + 1e-12:
                    tree, moved = new, True
            if (child is not None) != moved:  # words of a node that was taken out are the rule's own
                run = place
    return found, tree


def edge_score(forests, e, weights, prior):
    begin, end = forests.feature_offsets[e : e + 2]
    score = float(forests.priors[e]) * (1 if forests.kinds[e] == EdgeKind.HOLE else prior)
    for i, v in zip(forests.feature_ids[begin:end], forests.feature_values[begin:end], strict=True):
        score += float(weights[i]) * float(v)
    return score


def loss_of(forests, sentence, weights, loss, *, prior=1.0, cost_scale=1.0):
    """By listing everything: the loss, and the share of the reference's derivations."""
    numerator, denominator, references = [], [], []
    for by, edges in listed(forests, sentence):
        score = sum(edge_score(forests, e, weights, prior) for e in edges)
        a = b = 0.0
        if by is not None:
            a, b = _offsets(forests, by, loss, cost_scale)
        else:
            references.append(score)
        numerator.append(score + a)
        denominator.append(score + b)
    total = np.logaddexp.reduce(denominator)
    return total - np.logaddexp.reduce(numerator), math.exp(np.logaddexp.reduce(references) - total)


def _margins(forests, edges, weights, prior, cost_scale):
    """The hinge of hope and fear, and what the scores are further apart than 1."""
    scores = [edge_score(forests, e, weights, prior) for e in edges]
    costs = [-_offsets(forests, e, "soft-ramp", cost_scale)[0] for e in edges]
    scored = list(zip(scores, costs, strict=True))
    hope = max(scored, key=lambda one: one[0] - one[1])
    fear = max(scored, key=lambda one: one[0] + one[1])
    worst = min(score for score, _ in scored)
    return max(0.0, sum(fear) - sum(hope)) + max(0.0, hope[0] - worst - 1)


def contest_loss_of(forests, sentence, weights, start, loss, *, prior=1.0, cost_scale=1.0):
    """By rule: every contest's loss times the posterior of its reference edges at the weights `start`.

    Edges with equal tails compete; all those of a node do if one stands in place of none with its tails.
    """
    derivations = [edges for by, edges in listed(forests, sentence) if by is None]
    scores = [sum(edge_score(forests, e, start, prior) for e in edges) for edges in derivations]
    shares = np.exp(np.array(scores) - np.logaddexp.reduce(scores))
    posterior = Counter()
    for edges, share in zip(derivations, shares, strict=True):
        for e in edges:
            posterior[e] += share
    total = 0.0
    for v in range(forests.first_node[sentence], forests.first_node[sentence + 1]):
        contests = defaultdict(list)
        for e in range(forests.first_edge[v], forests.first_edge[v + 1]):
            if forests.kinds[e] != EdgeKind.HOLE:
                contests[tuple(forests.tails_of(e))].append(e)
        if any(all(forests.kinds[e] != EdgeKind.REFERENCE for e in edges) for edges in contests.values()):
            contests = {(): sorted(e for edges in contests.values() for e in edges)}
        for edges in contests.values():
            if loss == "relative-margin":
                total += sum(posterior[e] for e in edges) * _margins(forests, edges, weights, prior, cost_scale)
                continue
            numerator, denominator = [], []
            for e in edges:
                score = edge_score(forests, e, weights, prior)
                a, b = _offsets(forests, e, loss, cost_scale)
                numerator.append(score + a)
                denominator.append(score + b)
            difference = np.logaddexp.reduce(denominator) - np.logaddexp.reduce(numerator)
            total += sum(posterior[e] for e in edges) * difference
    return total


def _offsets(forests, edge, loss, cost_scale):
    """What is added to an edge's score in the numerator and in the denominator."""
    if forests.kinds[edge] in (EdgeKind.REFERENCE, EdgeKind.HOLE):
        return 0.0, 0.0
    gain = float(forests.gains[edge])
    if loss == "likelihood":
        return 0.0 if forests.kinds[edge] == EdgeKind.SAME_WORDS else -math.inf, 0.0
    if loss == "expected-gain":
        return math.log(gain) if gain > 0 else -math.inf, 0.0
    return -cost_scale * (1 - gain), cost_scale * (1 - gain)
