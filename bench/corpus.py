"""Generating a corpus, and building a bitext from files."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.harness import DATA, Case, Workload
from dragoman.corpus import Bitext
from dragoman.synth import SynthConfig, generate
from dragoman.text import read_lines


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


CASES = [
    Case(name="generate the embedded corpus", area="corpus", unit="pairs", prepare=_synth),
    Case(name="build a Bitext, debian-fr-en", area="corpus", unit="pairs", prepare=_bitext, needs_data=True),
]
