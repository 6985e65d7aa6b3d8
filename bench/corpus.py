"""Generating a corpus, building a bitext from files, and learning word classes."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.harness import DATA, Case, Workload
from dragoman.corpus import Bitext, LearnedClasses, Side, learn_classes
from dragoman.text import read_lines
from dragoman_synth import SynthConfig, generate


def _synth(scale: float) -> Workload:
    n = int(100_000 * scale)

    def run() -> None:
        for _ in generate(n, SynthConfig(seed=1)):
            pass

    return Workload(n_items=n, ours=run, repeats=3)


def _bitext(scale: float) -> Workload:
    scratch = tempfile.TemporaryDirectory()  # lives as long as the closure below
    folder = Path(scratch.name)
    n = 0
    for language in ("fr", "en"):
        lines = list(read_lines(DATA / "debian-fr-en" / f"train.{language}.xz"))
        n = int(len(lines) * scale)
        (folder / language).write_text("\n".join(lines[:n]) + "\n", encoding="utf-8")
    runs = iter(range(100))

    def run() -> None:
        Bitext.build(folder / "fr", folder / "en", Path(scratch.name) / f"bitext{next(runs)}", n_folds=5)

    return Workload(n_items=n, ours=run, repeats=3)


def _classes(scale: float) -> Workload:
    """From text to a file of classes."""
    scratch = tempfile.TemporaryDirectory()  # lives as long as the closure below
    text = Path(scratch.name) / "text"
    lines = list(read_lines(DATA / "debian-fr-en" / "train.fr.xz"))
    lines = lines[: int(len(lines) * scale)]
    n_words = sum(line.count(" ") + 1 for line in lines)
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    del lines
    done: list[LearnedClasses] = []

    def run() -> None:
        done.append(learn_classes(Side.read(text), [80]))
        done[-1].classes.write(Path(scratch.name) / "classes")

    def note() -> str:
        (level,) = done[-1].levels
        return f"perplexity {level.perplexity:.1f} after {level.n_iterations} iterations"

    return Workload(n_items=n_words, ours=run, repeats=1, note=note)


CASES = [
    Case(name="generate the embedded corpus", area="corpus", unit="pairs", prepare=_synth),
    Case(name="build a Bitext, debian-fr-en", area="corpus", unit="pairs", prepare=_bitext, needs_data=True),
    Case(
        name="80 word classes, debian-fr-en French",
        area="corpus",
        unit="words",
        prepare=_classes,
        target="8 CPU-s",
        needs_data=True,
    ),
]
