"""Makes tests/golden/data: small inputs of our own, and what outside oracles say of them.

Run `python -m tests.golden.make_data` in the development environment, and only to change the cases: the tests compare
with what is stored. The oracles are kenlm (which reads the ARPA file), sacrebleu, exact decimals for the totals of the
candidate list, and scikit-learn's logistic regression.
"""

from __future__ import annotations

import json
import random
from decimal import Decimal
from pathlib import Path

import kenlm
import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER
from sklearn.linear_model import LogisticRegression

from dragoman.lm import EstimateConfig, TrainingText, estimate
from dragoman_synth import SynthConfig, generate

DATA = Path(__file__).parent / "data"
METRICS = {
    "bleu": lambda: BLEU(tokenize="none", force=True),
    "chrf": CHRF,
    "chrf++": lambda: CHRF(word_order=2),
    "ter": TER,
}
PENALTIES = (0.1, 1.0, 30.0)


def write_json(name: str, value: object) -> None:
    (DATA / name).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write_lines(name: str, lines: list[str]) -> None:
    (DATA / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def damaged(line: str, rng: random.Random) -> str:
    """With words left out, repeated and moved."""
    words = line.split()
    for _ in range(rng.randint(0, 3)):
        place = rng.randrange(len(words))
        match rng.randrange(3):
            case 0 if len(words) > 1:
                del words[place]
            case 1:
                words.insert(place, words[place])
            case _:
                words.insert(rng.randrange(len(words)), words.pop(place))
    return " ".join(words)


def make_lm(train: list[str], lines: list[str]) -> None:
    text = TrainingText()
    text.add_lines(train)
    estimate(text, EstimateConfig(order=3)).model.export_arpa(DATA / "lm.arpa")
    config = kenlm.Config()
    config.show_progress = False
    model = kenlm.Model(str(DATA / "lm.arpa"), config)
    rows = [
        {"text": line, "log10": model.score(line), "tokens": [list(token) for token in model.full_scores(line)]}
        for line in lines
    ]
    write_lines("lm.kenlm.jsonl", [json.dumps(row) for row in rows])


def make_scores(references: list[list[str]], rng: random.Random) -> None:
    hypotheses = [damaged(line, rng) for line in references[0]]
    write_lines("hyp.en", hypotheses)
    for i, lines in enumerate(references):
        write_lines(f"ref.en.{i}", lines)
    found = {}
    for name, make in METRICS.items():
        metric = make()
        score = metric.corpus_score(hypotheses, references)
        found[name] = {
            "score": score.score,
            "signature": str(metric.get_signature()),
            "statistics": metric._extract_corpus_statistics(hypotheses, references),
        }
    write_json("sacrebleu.json", found)


def make_list(lines: list[str], rng: random.Random) -> None:
    """Five sentences with four candidates each, as Moses writes them: totals are sums of decimals, so exact."""
    weights = {"LM0": ["0.5"], "WordPenalty0": ["-1"], "TM0": ["0.2", "0.125", "0.2", "0.3"], "Distortion0": ["0.25"]}
    rows = []
    for sentence, line in enumerate(lines[:5]):
        made = []
        for _ in range(4):
            text = damaged(line, rng)
            values = {
                "LM0": [Decimal(rng.randint(-60000, -20000)) / 1000],
                "WordPenalty0": [Decimal(-len(text.split()))],
                "TM0": [Decimal(rng.randint(-9000, 0)) / 1000 for _ in range(4)],
                "Distortion0": [Decimal(-rng.randint(0, 6))],
            }
            total = sum(
                Decimal(w) * v for name in values for w, v in zip(weights[name], values[name], strict=True)
            ).normalize()
            features = " ".join(f"{name}= {' '.join(map(str, row))}" for name, row in values.items())
            made.append((total, f"{sentence} ||| {text} ||| {features} ||| {total:f}"))
        rows += [row for _, row in sorted(made, key=lambda pair: -pair[0])]
    write_lines("moses.nbest", rows)
    write_lines("moses.weights", [f"{name}= {value}" for name, values in weights.items() for value in values])


def make_pro(rng: np.random.Generator) -> None:
    """Two candidates a sentence, so that there is one pair to draw, whoever draws."""
    n_features, n = 4, 40
    x = rng.integers(-8, 9, (n, 2, n_features)) / 4
    gold = np.array([1.0, -0.5, 0.25, 0.0])
    quality = np.round(x @ gold + rng.normal(size=(n, 2)), 2)
    rows = [
        {
            "id": i,
            "text": f"candidate {j}",
            "features": {f"f{k}": float(value) for k, value in enumerate(x[i, j])},
            "scores": {"quality": float(quality[i, j])},
        }
        for i in range(n)
        for j in range(2)
    ]
    write_lines("pro.jsonl", [json.dumps(row) for row in rows])
    sign = np.sign(quality[:, 0] - quality[:, 1])
    differences = (sign[:, None] * (x[:, 0] - x[:, 1]))[sign != 0]
    instances = np.concatenate([differences, -differences])
    labels = np.repeat([1, -1], len(differences))
    found = {}
    for l2 in PENALTIES:
        model = LogisticRegression(C=1 / l2, fit_intercept=False, tol=1e-12, max_iter=100_000)
        found[str(l2)] = model.fit(instances, labels).coef_[0].tolist()
    write_json("pro.scikit-learn.json", {"pairs": len(differences), "weights": found})


def main() -> None:
    DATA.mkdir(exist_ok=True)
    rng = random.Random(1)
    examples = list(generate(120, SynthConfig(seed=5, n_references=2)))
    train, rest = examples[:80], examples[80:]
    lines = [example.references[0] for example in train]
    unseen = [example.references[0] for example in rest]
    make_lm(lines, ["", *unseen[:24], *(damaged(line, rng) for line in lines[:25])])
    make_scores([[example.references[i] for example in rest] for i in range(2)], rng)
    make_list(unseen, rng)
    make_pro(np.random.default_rng(1))


if __name__ == "__main__":
    main()
