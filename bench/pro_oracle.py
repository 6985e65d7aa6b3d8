"""PRO beside the same method put together from sacrebleu, random pairs and scikit-learn.

    dragoman translate SYSTEM -i dev.src --nbest 100 --distinct --format jsonl -o dev.jsonl.gz
    python -m bench.pro_oracle dev.jsonl.gz -r dev.ref.0 -r dev.ref.1

Prints a Markdown table of weights in units of the first feature's. The draws differ, so the last digits do.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import BLEU
from sklearn.linear_model import LogisticRegression

from dragoman.candidates import read_pool, read_references, with_metric
from dragoman.features import Weights
from dragoman.metric import Bleu, Smoothing
from dragoman.optim import Pro
from dragoman.text import read_lines

N_DRAWS, N_KEPT, THRESHOLD = 5000, 50, 0.05
Array = NDArray[np.float64]


def differences(scores: Array, rows: Array, draws: random.Random) -> list[Array]:
    """Better minus worse of the pairs that are kept of a sentence: Figure 4 of the paper."""
    kept = []
    for _ in range(N_DRAWS):
        a, b = draws.randrange(len(scores)), draws.randrange(len(scores))
        if abs(scores[a] - scores[b]) >= THRESHOLD:
            kept.append((a, b) if scores[a] > scores[b] else (b, a))
    kept.sort(key=lambda pair: scores[pair[1]] - scores[pair[0]])
    return [rows[a] - rows[b] for a, b in kept[:N_KEPT]]


def independent(path: str, references: Sequence[Sequence[str]]) -> dict[str, float]:
    """The weights by other people's code."""
    lists: dict[int, list[Any]] = defaultdict(list)
    for line in read_lines(path):
        candidate = json.loads(line)
        lists[candidate["id"]].append(candidate)
    names = list(dict.fromkeys(name for found in lists.values() for c in found for name in c["features"]))
    bleu = BLEU(smooth_method="add-k", smooth_value=1, tokenize="none", effective_order=True)
    draws = random.Random(1)
    pairs: list[Array] = []
    for sentence, found in lists.items():
        scores = np.array([bleu.sentence_score(c["text"], references[sentence]).score / 100 for c in found])
        rows = np.array([[c["features"].get(name, 0.0) for name in names] for c in found])
        pairs += differences(scores, rows, draws)
    z = np.array(pairs)
    scale = np.sqrt((z**2).sum(axis=0) / np.maximum(1, np.count_nonzero(z, axis=0)))
    scale[scale == 0] = 1
    model = LogisticRegression(fit_intercept=False, C=1, tol=1e-8, max_iter=5000)
    model.fit(np.concatenate([z, -z]) / scale, np.repeat([1, -1], len(z)))
    return dict(zip(names, (model.coef_[0] / scale).tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nbest", help="JSON lines")
    parser.add_argument("-r", dest="references", action="append", required=True, help="one for each set")
    options = parser.parse_args()
    references = read_references(options.references)
    pool = with_metric(read_pool([options.nbest]), Bleu(smoothing=Smoothing.NONE), references)
    start = Weights.from_dict({}, pool.index)
    ours = dict(Pro().optimise(pool, start, seed=1).weights.items())
    theirs = independent(options.nbest, references)
    unit = next(iter(theirs))
    print("| feature | pro | sacrebleu, scikit-learn |\n|---|---|---|")
    for name, value in theirs.items():
        print(f"| {name} | {ours.get(name, 0.0) / ours[unit]:.3f} | {value / theirs[unit]:.3f} |")


if __name__ == "__main__":
    main()
