"""How far learned sparse weights agree with sentence BLEU within the candidate lists of a system.

    dragoman translate TUNED -i dev.de --weights BASE/weights.tsv --nbest 100 --distinct --format jsonl -o dev.jsonl
    python bench/phi_in_lists.py TUNED dev.jsonl dev.en word_context

Prints, for the dense features, the dense model score, phi (the weighted sum of the template's features) and their
number, the mean over sentences of the correlation with sentence BLEU and with phi among the candidates of a list.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from dragoman import System


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Pearson's; 0 where one of them is constant."""
    return float(np.corrcoef(a, b)[0, 1]) if a.std() > 1e-9 and b.std() > 1e-9 else 0.0


def main(tuned: str, lists: str, references: str, template: str) -> None:
    weights = dict(System.load(tuned).weights.items())
    texts = Path(references).read_text(encoding="utf-8").split("\n")
    bleu = BLEU(effective_order=True, tokenize="none")
    dense = [name for name in weights if ":" not in name]
    rows = defaultdict(list)
    with Path(lists).open(encoding="utf-8") as file:
        for candidate in map(json.loads, file):
            features = candidate["features"]
            own = {name: value for name, value in features.items() if name.startswith(f"{template}:")}
            values = [features.get(name, 0.0) for name in dense]
            model = sum(weights[name] * value for name, value in zip(dense, values, strict=True))
            phi = sum(weights.get(name, 0.0) * value for name, value in own.items())
            gain = bleu.sentence_score(candidate["text"], [texts[candidate["id"]]]).score
            rows[candidate["id"]].append((*values, model, phi, sum(own.values()), gain))
    found = []
    for each in rows.values():
        table = np.array(each)
        if len(table) >= 5 and table[:, -1].std() > 0:
            found.append([[correlation(column, table[:, at]) for column in table.T[:-1]] for at in (-1, -3)])
    with_bleu, with_phi = np.mean(found, axis=0)
    for name, a, b in zip([*dense, "dense score", "phi", "number"], with_bleu, with_phi, strict=True):
        print(f"{name:12} with sentence BLEU {a:+.3f}  with phi {b:+.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
