"""Make up n-best lists as a neural system and its helpers would write them, as JSON lines.

    python make_lists.py REFERENCES OUT [--seed N] [--candidates N]

Each candidate is a damaged reference. Its features are what models would say of it: `forward` and `backward`
translation models, a language model `lm`, and the number of `words`; every model sees the damage through its own noise
and biases. Its scores are `quality`, what a learned metric or a person would give it in [0, 1], and `qe`, a cheap
estimate of that.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path


def damaged(words: list[str], n_edits: int, vocabulary: list[str], rng: random.Random) -> list[str]:
    """The words after some deletions, insertions, substitutions and swaps."""
    result = list(words)
    for _ in range(n_edits):
        place = rng.randrange(max(len(result), 1))
        match rng.choice(["delete", "insert", "substitute", "swap"]):
            case "delete" if len(result) > 1:
                del result[place]
            case "insert":
                result.insert(place, rng.choice(vocabulary))
            case "substitute" if result:
                result[place] = rng.choice(vocabulary)
            case "swap" if place + 1 < len(result):
                result[place : place + 2] = result[place + 1], result[place]
    return result


def candidate(words: list[str], vocabulary: list[str], rng: random.Random) -> dict[str, object]:
    """One candidate: text, features, scores."""
    n_edits = rng.randint(0, 4)
    text = damaged(words, n_edits, vocabulary, rng)
    n = len(text)
    quality = min(max(1 - n_edits / len(words) + rng.gauss(0, 0.05), 0.0), 1.0)
    return {
        "text": " ".join(text),
        "features": {
            "forward": round(-0.3 * n - 0.8 * n_edits + rng.gauss(0, 1.5), 4),
            "backward": round(-0.4 * n - 0.6 * n_edits + rng.gauss(0, 1.5), 4),
            "lm": round(-1.5 * n - 0.5 * n_edits + rng.gauss(0, 2.0), 4),
            "words": n,
        },
        "scores": {"quality": round(quality, 4), "qe": round(quality + rng.gauss(0, 0.2), 4)},
    }


def main() -> None:
    """Write the lists."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("references", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--candidates", type=int, default=20)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    sentences = [line.split() for line in options.references.read_text(encoding="utf-8").splitlines()]
    vocabulary = sorted({word for words in sentences for word in words})
    with options.out.open("w", encoding="utf-8") as output:
        for number, words in enumerate(sentences):
            for _ in range(options.candidates):
                record = {"id": number, **candidate(words, vocabulary, rng)}
                output.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
