"""Language models: text to binary, and batch scoring beside KenLM."""

from __future__ import annotations

import tempfile
from pathlib import Path

import kenlm

from bench.harness import DATA, Case, Workload
from dragoman.lm import EstimateConfig, LanguageModel, TrainingText, estimate
from dragoman.text import read_lines

CORPUS = DATA / "debian-fr-en" / "train.en.xz"


def _train(text: Path, path: Path) -> None:
    sentences = TrainingText()
    sentences.add_file(text)
    estimate(sentences, EstimateConfig(order=5)).model.save(path)


def _some_lines(scale: float) -> list[str]:
    lines = list(read_lines(CORPUS))
    return lines[: int(len(lines) * scale)]


def _estimate(scale: float) -> Workload:
    scratch = tempfile.TemporaryDirectory()  # lives as long as the closure below
    text = Path(scratch.name) / "text"
    lines = _some_lines(scale)
    n_words = sum(line.count(" ") + 1 for line in lines)
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    del lines
    return Workload(n_items=n_words, ours=lambda: _train(text, Path(scratch.name) / "lm"), repeats=1)


def _score(scale: float) -> Workload:
    """A model of every other line scores the rest, with the unknown words that real text has."""
    lines = _some_lines(scale)
    seen, unseen = lines[::2], lines[1::2]
    with tempfile.TemporaryDirectory() as folder:
        sentences = TrainingText()
        sentences.add_lines(seen)
        estimate(sentences, EstimateConfig(order=5)).model.save(Path(folder) / "lm")
        ours = LanguageModel.load(Path(folder) / "lm")
        ours.export_arpa(Path(folder) / "arpa")
        peer = kenlm.Model(str(Path(folder) / "arpa"))
    n_words = sum(line.count(" ") + 1 for line in unseen)

    def run_peer() -> None:
        for line in unseen:
            peer.score(line)

    return Workload(n_items=n_words, ours=lambda: ours.score_batch(unseen), peer=run_peer, peer_repeats=3)


CASES = [
    Case(
        name="order 5, text to binary, debian-fr-en English",
        area="lm",
        unit="words",
        prepare=_estimate,
        target="10 CPU-s, 1 GB",
        needs_data=True,
    ),
    Case(
        name="score unseen sentences",
        area="lm",
        unit="words",
        prepare=_score,
        peer_name="kenlm",
        target="1.5×",
        needs_data=True,
    ),
]
