"""Margin learning written down slowly, with dense vectors, and a general solver of its programs."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from tests.kit.pools import dense_features
from tests.kit.pseudo_corpus import PseudoCorpus

from dragoman.optim.epochs import visiting_order
from dragoman.optim.gains import list_lengths, scaled_gains, typical_range


def find_hope(scores, gains, rule="cost-based", size=10):
    """The position of y+, the first of equals; equal gains are ordered by score."""
    if rule == "cost-based":
        return int(np.argmax(scores + gains))
    among = np.argsort(-scores, kind="stable")[: size if rule == "local" else None]
    return int(among[np.argmax(gains[among])])


def find_fear(scores, gains, rule="cost-based"):
    """The position of y-."""
    if rule == "cost-based":
        return int(np.argmax(scores - gains))
    if rule == "prediction":
        return int(np.argmax(scores))
    order = np.argsort(-scores, kind="stable")
    return int(order[np.argmin(gains[order])])


def bounds_of(gains, hope, bound, floor=None):
    """Of each candidate: B, or with a floor B max(cost, floor)."""
    return np.full(len(gains), bound) if floor is None else bound * np.maximum(gains[hope] - gains, floor)


def passive_aggressive(
    w, x, gains, *, c, bound=np.inf, d=0.0, rates=1.0, floor=None, hope="cost-based", fear="cost-based"
):
    """One visit of RM-PA: the new weights, and the positions of hope and best."""
    scores = x @ w
    hope, fear, best = find_hope(scores, gains, hope), find_fear(scores, gains, fear), int(np.argmax(scores))
    bounds = bounds_of(gains, hope, bound, floor)
    # With a constant bound argmin and argmax of the scores, whatever the rounding of the differences.
    above, below = scores[hope] - scores, scores - scores[hope]
    worst = int(np.argmin(scores) if floor is None else np.argmax(above - bounds))
    other = int(np.argmax(scores) if floor is None else np.argmax(below - bounds))

    def step(direction, violation, limit):
        square = direction @ (rates * direction)
        return w + rates * direction * (min(limit, violation / square) if square > 0 and violation > 0 else 0.0)

    over, under = above[worst] > bounds[worst], below[other] > bounds[other]
    w = step(x[hope] - x[fear], gains[hope] - gains[fear] - (scores[hope] - scores[fear]), c)
    if over:
        w = step(x[worst] - x[hope], (x[hope] - x[worst]) @ w - bounds[worst], d)
    if under:
        w = step(x[hope] - x[other], -bounds[other] - (x[hope] - x[other]) @ w, d)
    return w, hope, best


def learn(pool, start, *, seed, n_epochs, c, bound=np.inf, d=0.0, scale=1.0, decay=0.9, rates=1.0):
    """All of `mira` or `rm` but the choice of the epoch: the averages after each epoch. BLEU gains are in context."""
    (shard,), metric = pool.shards, pool.metric
    x, lengths = dense_features(pool), list_lengths(pool.metric, shard)
    groups = [np.arange(a, b) for a, b in zip(shard.sentences[:-1], shard.sentences[1:], strict=True)]
    in_context = metric.name == "bleu"
    prior = np.array([0.0, 0.0] + [0.01] * (metric.n_stats - 2))
    if in_context:
        chosen = [group[np.argmax(x[group] @ start)] for group in groups]
        n = decay / (1 - decay)
        past = PseudoCorpus(
            background=n * shard.stats[chosen].mean(axis=0), source_length=n * lengths.mean(), decay=decay
        )
    else:
        fixed = scaled_gains(metric, shard, scale=scale / typical_range(metric, pool.shards), by_length=True)
    w, total, n_seen, averages = start.copy(), np.zeros(len(start)), 0, []
    for epoch in range(1, n_epochs + 1):
        for s in visiting_order(np.arange(len(groups)), key=[seed, 0, epoch]):
            group = groups[s]
            stats = shard.stats[group]
            gains = scale * past.value(stats + prior, lengths[s]) if in_context else fixed[group]
            w, _, best = passive_aggressive(w, x[group], gains, c=c, bound=bound, d=d, rates=rates)
            if in_context:
                past = past.update(stats[best], lengths[s])
            total += w
            n_seen += 1
        averages.append(total / n_seen)
    return averages


def program(w, x, gains, *, c, bound, d, exact, floor=None, working_set=False):
    """Program (4) of a list: groups (limit, constraints) of one slack each; (omega, rhs) says omega.w >= rhs - slack.

    `exact` has one tau for both bounds. The working set is that of RM-PA: one constraint of each kind if violated.
    """
    hope = find_hope(x @ w, gains)
    omega = x[hope] - x
    bounds = bounds_of(gains, hope, bound, floor)
    kinds = [
        [(o, cost) for o, cost in zip(omega, gains[hope] - gains, strict=True)],
        [(-o, -b) for o, b in zip(omega, bounds, strict=True)],
        [(o, -b) for o, b in zip(omega, bounds, strict=True)],
    ]
    if working_set:
        most = [max(kind, key=lambda one: one[1] - one[0] @ w) for kind in kinds]
        kinds = [[one] if one[1] > one[0] @ w else [] for one in most]
    if exact:
        kinds = [kinds[0], kinds[1] + kinds[2]]
    return [(limit, kind) for limit, kind in zip((c, d, d), kinds, strict=False) if kind and np.isfinite(kind[0][1])]


def objective(w, w_t, groups, rates=1.0):
    """The program at w with the least slacks, in the metric of the rates."""
    slacks = [limit * max(0.0, max(rhs - omega @ w for omega, rhs in group)) for limit, group in groups]
    return 0.5 * np.sum((w - w_t) ** 2 / rates) + sum(slacks)


def solve(w_t, groups, rates=1.0):
    """The weights that a general solver finds, over v with w = w_t + sqrt(R) v."""
    n, root = len(w_t), np.sqrt(rates) * np.ones(len(w_t))
    prices = np.array([limit for limit, _ in groups])
    rows = [
        np.concatenate([root * omega, np.eye(len(groups))[g]])
        for g, (_, group) in enumerate(groups)
        for omega, _ in group
    ]
    a, b = np.array(rows), np.array([rhs - omega @ w_t for _, group in groups for omega, rhs in group])
    slacks = [max(0.0, max(rhs - omega @ w_t for omega, rhs in group)) for _, group in groups]
    found = minimize(
        lambda z: 0.5 * np.sum(z[:n] ** 2) + prices @ z[n:],
        np.concatenate([np.zeros(n), slacks]),
        jac=lambda z: np.concatenate([z[:n], prices]),
        bounds=[(None, None)] * n + [(0, None)] * len(groups),
        constraints=[{"type": "ineq", "fun": lambda z: a @ z - b, "jac": lambda z: a}],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return w_t + root * found.x[:n]
