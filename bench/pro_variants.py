"""What PRO's gold score and penalty do to sentences it has not seen: `python -m bench.pro_variants --corpus enja`.

Candidates of the development set come from four rounds of PRO with few and with many features. A third of the sentences
is held out in turn; each variant learns w' from the others and chooses among the candidates of those held out, with w'
alone and with what ten rounds of interpolation make of it and the start (0.65 w' + 0.35 w0). Prints a Markdown table.
"""

from __future__ import annotations

import argparse
from itertools import islice

import numpy as np

from bench.systems import CORPORA, OUT, THREADS, Case, build
from dragoman.candidates import Pool, merge_pools, read_references, rerank, with_metric
from dragoman.features import Weights
from dragoman.metric import Bleu, SentenceBleu, Smoothing
from dragoman.optim import Mert, Mira, Optimiser, Prior, Pro
from dragoman.system import System
from dragoman.text import read_lines

N_SENTENCES, N_FOLDS, K, N_ROUNDS, SHARE = 500, 3, 100, 4, 0.65
SMOOTH = SentenceBleu(smooth_brevity=True)


def variants() -> dict[str, Optimiser]:
    found: dict[str, Optimiser] = {"mert": Mert(), "mira": Mira()}
    for g, gold in (("BLEU+1", None), ("BLEU+1, smoothed brevity", SMOOTH)):
        for prior in Prior:
            for l2 in (1.0, 100.0, 1000.0):
                found[f"pro, {g}, prior {prior}, l2 {l2:.0f}"] = Pro(sentence_bleu=gold, prior=prior, l2=l2)
    return found


def candidates(system: System, corpus: str) -> Pool:
    """Of some rounds of PRO on the development set."""
    files = CORPORA[corpus]
    sentences = list(islice(read_lines(files.sources(corpus, files.dev)), N_SENTENCES))
    references = read_references(files.references(corpus, files.dev))[:N_SENTENCES]
    pro = Pro(sentence_bleu=SMOOTH, interpolation=0.3)
    weights, pools = system.weights, []
    for number in range(1, N_ROUNDS + 1):
        decoded = system.kbest(sentences, K, weights=weights, distinct=True, n_threads=THREADS)
        pools.append(with_metric(decoded, Bleu(smoothing=Smoothing.NONE), references, n_threads=THREADS))
        merged = merge_pools(pools, n_threads=THREADS)
        learned = pro.optimise(merged, weights.on(merged.index), seed=1, round_number=number, n_threads=THREADS)
        weights = pro.interpolate(weights, learned.weights)
    return merged


def held_out(pool: Pool, start: Weights, optimiser: Optimiser) -> list[str]:
    """BLEU on what was learned from, and, with the length ratio, of w' and of the mixture on what was held out."""
    ids = np.unique(np.concatenate([shard.sentence_ids for shard in pool.shards])).astype(np.int64)
    order = np.random.default_rng(1).permutation(ids)
    totals = {"w": 0.0, "mixture": 0.0}
    gains = []
    for fold in range(N_FOLDS):
        rest = np.sort(order[fold::N_FOLDS])
        train = pool.of_sentences(np.setdiff1d(ids, rest))
        learned = optimiser.optimise(train, start, seed=1, round_number=1, n_threads=THREADS).weights
        gains.append(rerank(train, learned).gain())
        mixture = Weights(learned.index, SHARE * learned.values + (1 - SHARE) * start.values_on(learned.index))
        for name, weights in (("w", learned), ("mixture", mixture)):
            totals[name] = totals[name] + rerank(pool.of_sentences(rest), weights).total()
    # MERT's weights are scaled to length 1: beside the start they would be nothing, so a mixture says nothing.
    mixed = "" if isinstance(optimiser, Mert) else shown(totals["mixture"])
    return [f"{100 * np.mean(gains):.2f}", shown(totals["w"]), mixed]


def shown(total: np.ndarray) -> str:
    return f"{100 * Bleu(smoothing=Smoothing.NONE).gain(total):.2f} ({total[0] / total[1]:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", choices=CORPORA, default="enja")
    parser.add_argument("--only", default="", help="methods whose name begins so")
    options = parser.parse_args()
    corpus = options.corpus
    OUT.mkdir(parents=True, exist_ok=True)
    system = build(Case(corpus=corpus, align="fast", reordering="hrm"))
    print(
        "| features | candidates | method | learned from | held out: w' (length) | mixture |\n|---|---|---|---|---|---|"
    )
    for name, view in (("15", system), ("extended", system.with_templates(("extended",)))):
        pool = candidates(view, corpus)
        start = system.weights.on(pool.index)
        row = f"| {name} | {pool.n_candidates:,} |"
        print(f"{row} start | | {shown(rerank(pool, start).total())} | |", flush=True)
        for method, optimiser in variants().items():
            if not method.startswith(options.only):
                continue
            print(f"{row} {method} | {' | '.join(held_out(pool, start, optimiser))} |", flush=True)


if __name__ == "__main__":
    main()
