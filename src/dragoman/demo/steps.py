"""The demo's steps: make a corpus, look at it, translate it with two toys, score, report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dragoman.corpus import TextStats, describe_files
from dragoman.corpus.synth import Example, SynthConfig, SynthSplits, generate_splits
from dragoman.demo.toys import nearest_sentence, word_by_word
from dragoman.errors import FailedError
from dragoman.evaluate import SystemOutput, SystemScore, compare_systems
from dragoman.metric import Bleu, Chrf, Ter
from dragoman.report import Cell, Figure, Note, Page, Rows, Section, bar_chart, histogram
from dragoman.text import open_output, split_tokens

__all__ = ["DemoConfig", "DemoResult", "run_demo"]

_N_REFERENCES = 4
_N_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoConfig:
    """Sizes of the demo."""

    out: Path
    n_train: int = 20_000
    n_test: int = 500
    seed: int = 0
    threads: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoResult:
    """Where the page is, and the figures on it."""

    report: Path
    summary: dict[str, object]


def run_demo(config: DemoConfig, *, say: Callable[[str], None]) -> DemoResult:
    """Do all of it; files and `report.html` go to the folder `config.out`."""
    say(f"generating {config.n_train:,} training and {config.n_test:,} test sentences")
    synth = SynthConfig(seed=config.seed, n_references=_N_REFERENCES)
    splits = generate_splits(config.n_train, config.n_test, config.n_test, synth)
    files = _write_corpus(config.out, splits)
    stats = describe_files([files["train.de"], files["train.en"]])

    say("translating the test sentences with two toys")
    pairs = [(example.source, example.references[0]) for example in splits.train]
    toys = {"word by word": word_by_word(pairs), "nearest sentence": nearest_sentence(pairs)}
    outputs = {name: [toy(example.source) for example in splits.test] for name, toy in toys.items()}
    references = [[example.references[r] for example in splits.test] for r in range(_N_REFERENCES)]
    # What another person would write: the last reference, scored against the others.
    outputs["another reference"] = references.pop()

    say("scoring")
    metrics = [Bleu(), Chrf(), Ter()]
    systems = [SystemOutput(name=name, runs=[lines]) for name, lines in outputs.items()]
    scores = compare_systems(systems, references, metrics, n_bootstrap=1000, n_trials=1000, threads=config.threads)

    report = config.out / "report.html"
    _page(splits, stats, scores, outputs).save(report)
    return DemoResult(report=report, summary={"report": str(report)})


def _write_corpus(out: Path, splits: SynthSplits) -> dict[str, Path]:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FailedError(f"{out}: cannot be made: {error.strerror or error}") from error
    files = {}
    for part, examples in (("train", splits.train), ("dev", splits.dev), ("test", splits.test)):
        files[f"{part}.de"] = _write(out / f"{part}.de", [example.source for example in examples])
        files[f"{part}.en"] = _write(out / f"{part}.en", [example.references[0] for example in examples])
    return files


def _write(path: Path, lines: Sequence[str]) -> Path:
    with open_output(path) as writer:
        for line in lines:
            writer.write(line)
    return path
