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
from dragoman.evaluate import MetricScore, SystemOutput, SystemScore, compare_systems
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
    systems = [SystemOutput(name=name, runs=(lines,)) for name, lines in outputs.items()]
    scores = compare_systems(systems, references, metrics, n_bootstrap=1000, n_trials=1000, threads=config.threads)

    report = config.out / "report.html"
    _page(splits, stats, scores, outputs).save(report)
    summary = {system.name: {item.metric: round(100 * item.score, 2) for item in system.scores} for system in scores}
    return DemoResult(report=report, summary={"report": str(report), "scores": summary})


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


def _page(splits: SynthSplits, stats: TextStats, scores: Sequence[SystemScore], outputs: dict[str, list[str]]) -> Page:
    page = Page(
        title="Dragoman demo",
        lead="A German-English corpus from the built-in grammar, and what it takes to translate it. "
        "Nothing on this page was fetched; the same seed gives the same page.",
    )
    page.sections = [
        Section(title="The corpus", parts=_corpus_parts(splits.train, stats)),
        Section(title="A few sentence pairs", parts=[_pairs(splits.train[:_N_SHOWN])]),
        Section(title="Paraphrases", parts=[_paraphrases(splits.test[:4])]),
        Section(title="How good is a translator without grammar?", parts=_score_parts(scores)),
        Section(title="What they say", parts=[_samples(splits.test[:_N_SHOWN], outputs)]),
    ]
    return page


def _corpus_parts(train: Sequence[Example], stats: TextStats) -> list[Rows | Figure | Note]:
    rows: list[list[Cell | str]] = [
        [
            language,
            Cell(f"{side.n_lines:,}", numeric=True),
            Cell(f"{side.n_words:,}", numeric=True),
            Cell(f"{side.n_types:,}", numeric=True),
            Cell(f"{side.n_hapaxes:,}", numeric=True),
            Cell(f"{side.mean_length:.1f}", numeric=True),
            Cell(f"{side.max_length:,}", numeric=True),
        ]
        for language, side in zip(("German", "English"), stats.sides, strict=True)
    ]
    header = ["training text", "sentences", "words", "distinct", "seen once", "mean length", "longest"]
    lengths = np.array([len(split_tokens(example.source)) for example in train], dtype=np.int64)
    picture = histogram(lengths, title="German sentence lengths")
    return [Rows(header=header, rows=rows), Figure(svg=picture, caption="Words per German sentence")]


def _pairs(examples: Sequence[Example]) -> Rows:
    return Rows(header=["German", "English"], rows=[[example.source, example.references[0]] for example in examples])


def _paraphrases(examples: Sequence[Example]) -> Rows:
    rows = []
    for example in examples:
        distinct = list(dict.fromkeys(example.references))
        rows += [[example.source if i == 0 else "", reference] for i, reference in enumerate(distinct)]
    return Rows(header=["test sentence", "references"], rows=rows)


def _score_parts(scores: Sequence[SystemScore]) -> list[Rows | Figure | Note]:
    header = ["translator", *(item.metric.upper() for item in scores[0].scores), "length ratio"]
    rows: list[list[Cell | str]] = []
    for system in scores:
        cells = [Cell(f"{100 * item.score:.1f} ± {_half_width(item):.1f}", numeric=True) for item in system.scores]
        rows.append([system.name, *cells, Cell(f"{system.length_ratio:.2f}", numeric=True)])
    bleu = [system.scores[0] for system in scores]
    chart = bar_chart(
        [system.name for system in scores],
        [100 * item.score for item in bleu],
        intervals=[_half_width(item) for item in bleu],
        title="BLEU",
    )
    return [
        Rows(header=header, rows=rows),
        Figure(svg=chart, caption="BLEU with 95% bootstrap intervals, against three references"),
        Note(
            "Word by word replaces each word by its closest companion in the training text; nearest sentence answers "
            "with the translation of the most similar training sentence; another reference is a fourth correct "
            "translation, scored against the other three. "
            f"Signature of BLEU: {bleu[0].signature}"
        ),
    ]


def _half_width(item: MetricScore) -> float:
    return 100 * item.interval.half_width if item.interval else 0.0


def _samples(examples: Sequence[Example], outputs: dict[str, list[str]]) -> Rows:
    rows = []
    for i, example in enumerate(examples):
        rows.append(["source", example.source])
        rows += [[name, lines[i]] for name, lines in outputs.items()]
    return Rows(header=["who", "says"], rows=rows)
