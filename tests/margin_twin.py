"""Margin learning written down slowly, with dense vectors, and a general solver of its programs."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from dragoman.optim.epochs import visiting_order
from dragoman.optim.gains import list_lengths, scaled_gains, typical_range
from pools import dense_features
from pseudo_corpus import PseudoCorpus


def passive_aggressive(w, x, gains, *, c, bound=np.inf, d=0.0):
    """One visit of RM-PA: the new weights, and the positions of hope and best."""
    scores = x @ w
    hope, fear = int(np.argmax(scores + gains)), int(np.argmax(scores - gains))
    worst, best = int(np.argmin(scores)), int(np.argmax(scores))

    def step(direction, violation, limit):
        square = direction @ direction
        return w + direction * (min(limit, violation / square) if square > 0 and violation > 0 else 0.0)

    over, under = scores[hope] - scores[worst] > bound, scores[hope] - scores[best] < -bound
    w = step(x[hope] - x[fear], gains[hope] - gains[fear] - (scores[hope] - scores[fear]), c)
    if over:
        w = step(x[worst] - x[hope], (x[hope] - x[worst]) @ w - bound, d)
    if under:
        w = step(x[hope] - x[best], -bound - (x[hope] - x[best]) @ w, d)
    return w, hope, best


def learn(pool, start, *, seed, n_epochs, c, bound=np.inf, d=0.0, scale=1.0, decay=0.9):
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
            w, _, best = passive_aggressive(w, x[group], gains, c=c, bound=bound, d=d)
            if in_context:
                past = past.update(stats[best], lengths[s])
            total += w
            n_seen += 1
        averages.append(total / n_seen)
    return averages


def objective(w, w_t, margins, bounds, *, c, bound, d):
    """Program (4) at w with the least slack; `margins` are (omega, cost), `bounds` say omega.w <= B + tau."""
    xi = max([0.0] + [cost - omega @ w for omega, cost in margins])
    tau = max([0.0] + [omega @ w - bound for omega in bounds])
    return 0.5 * np.sum((w - w_t) ** 2) + c * xi + d * tau


def solve(w_t, margins, bounds, *, c, bound, d):
    """The least value of program (4) that a general solver finds."""
    n = len(w_t)
    rows = [np.concatenate([omega, [1.0, 0.0]]) for omega, _ in margins]
    below = [cost for _, cost in margins]
    rows += [np.concatenate([-omega, [0.0, 1.0]]) for omega in bounds]
    below += [-bound] * len(bounds)
    a, b = np.array(rows), np.array(below)
    prices = np.array([c, d])
    found = minimize(
        lambda z: 0.5 * np.sum((z[:n] - w_t) ** 2) + prices @ z[n:],
        np.concatenate([w_t, [max(0.0, *below), max([0.0] + [omega @ w_t for omega in bounds])]]),
        jac=lambda z: np.concatenate([z[:n] - w_t, prices]),
        bounds=[(None, None)] * n + [(0, None)] * 2,
        constraints=[{"type": "ineq", "fun": lambda z: a @ z - b, "jac": lambda z: a}],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return objective(found.x[:n], w_t, margins, bounds, c=c, bound=bound, d=d)
