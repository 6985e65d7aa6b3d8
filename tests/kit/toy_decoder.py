"""A decoder for tests: deterministic, sensitive to its weights, plain Python.

    toy_decoder.py SOURCE WEIGHTS NBEST K [--style moses|cdec|jsonl] [--mode good|fail|hang|silent|deaf|skip|garbage]

A candidate keeps, drops or swaps neighbouring words. Features: `lm` (neighbours in alphabetical order), `words`,
`swaps`, and sparse `drop:WORD`. Unknown weights are 0; without any weights it has its own.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import time
from pathlib import Path

GOLD = {"lm": 1.0, "words": 0.7, "swaps": -0.4, "drop:e": 0.9}
"""Makes references for `write_task`."""

DEFAULTS = {"lm": 0.3, "words": -0.2, "swaps": 0.1}


def candidates(words: list[str]) -> list[tuple[str, dict[str, float]]]:
    found: dict[str, dict[str, float]] = {}
    for choice in itertools.product("kds", repeat=len(words)):
        out, features = [], {"lm": 0.0, "words": 0.0, "swaps": 0.0}
        place = 0
        while place < len(words):
            if choice[place] == "s" and place + 1 < len(words):
                out += [words[place + 1], words[place]]
                features["swaps"] += 1
                place += 2
                continue
            if choice[place] == "d":
                name = f"drop:{words[place]}"
                features[name] = features.get(name, 0.0) + 1
            else:
                out.append(words[place])
            place += 1
        features["lm"] = float(sum(a <= b for a, b in itertools.pairwise(out)))
        features["words"] = float(len(out))
        found.setdefault(" ".join(out), features)
    return list(found.items())


def ranked(words: list[str], weights: dict[str, float]) -> list[tuple[float, str, dict[str, float]]]:
    scored = [
        (sum(weights.get(name, 0.0) * value for name, value in features.items()), text, features)
        for text, features in candidates(words)
    ]
    return sorted(scored, key=lambda item: (-item[0], item[1]))


def write_task(folder: Path, *, n_sentences: int, length: int = 5) -> None:
    """`dev.src`, `dev.ref` and start weights `start` in a folder."""
    rng = random.Random(1)
    sentences = [rng.choices("abcdefgh", k=length) for _ in range(n_sentences)]
    (folder / "dev.src").write_text("".join(" ".join(words) + "\n" for words in sentences))
    (folder / "dev.ref").write_text("".join(ranked(words, GOLD)[0][1] + "\n" for words in sentences))
    (folder / "start").write_text("lm 0.1\nwords 1\nswaps 1\n")


def read_weights(path: Path) -> dict[str, float]:
    weights = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = line.replace("=", " ").split()
        if len(parts) == 2 and not line.startswith(("#", "[")):
            weights[parts[0]] = float(parts[1])
    return weights


def line_of(style: str, sentence: int, text: str, features: dict[str, float], total: float) -> str:
    if style == "jsonl":
        return json.dumps({"id": sentence, "text": text, "features": features, "scores": {"length": len(text.split())}})
    equals = "= " if style == "moses" else "="
    listed = " ".join(f"{name}{equals}{value!r}" for name, value in features.items())
    return f"{sentence} ||| {text} ||| {listed} ||| {total!r}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("nbest", type=Path)
    parser.add_argument("k", type=int)
    parser.add_argument("--style", default="moses")
    parser.add_argument("--mode", default="good")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds for each sentence")
    parser.add_argument("--calls", type=Path, help="a line is added here for each call")
    options = parser.parse_args()
    sys.stdout.write(f"toy decoder, mode {options.mode}\n")
    sys.stdout.flush()
    weights = read_weights(options.weights) or DEFAULTS
    if options.calls:
        with options.calls.open("a", encoding="utf-8") as stream:
            stream.write(f"{sorted(weights.items())}\n")
    if options.mode == "fail":
        sys.stderr.write("out of cheese\n")
        return 7
    if options.mode == "hang":
        time.sleep(600)
    if options.mode == "silent":
        return 0
    if options.mode == "deaf":
        weights = DEFAULTS
    lines = []
    for sentence, line in enumerate(options.source.read_text(encoding="utf-8").splitlines()):
        if options.mode == "skip" and sentence == 1:
            continue
        time.sleep(options.pause)
        best = ranked(line.split(), weights)[: options.k]
        lines += [line_of(options.style, sentence, text, features, total) for total, text, features in best]
    if options.mode == "garbage":
        lines[2:] = ["Segmentation fault (core dumped)"]
    options.nbest.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
