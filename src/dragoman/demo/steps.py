"""The demo's steps: make a corpus, look at it, translate it with two toys, score, report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.align import align_files, write_pharaoh
from dragoman.corpus import describe_files
from dragoman.corpus.synth import SynthConfig, SynthSplits, generate_splits
from dragoman.demo.page import LEAD, alignment_parts, corpus_sections, lm_parts, samples, score_parts
from dragoman.demo.toys import nearest_sentence, word_by_word
from dragoman.errors import FailedError
from dragoman.evaluate import SystemOutput, compare_systems
from dragoman.lm import EstimateConfig, Perplexity, TrainingText, estimate
from dragoman.metric import Bleu, Chrf, Ter
from dragoman.report import Page, Section
from dragoman.text import open_output

__all__ = ["DemoConfig", "DemoResult", "run_demo"]

_N_REFERENCES = 4


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

    say("estimating a language model and aligning words")
    perplexities = _perplexities(config.out, files)
    aligned = align_files(files["train.de"], files["train.en"], n_threads=config.threads)
    write_pharaoh(config.out / "train.align", aligned.alignment)

    report = config.out / "report.html"
    page = Page(title="Dragoman demo", lead=LEAD)
    page.sections = [
        *corpus_sections(splits, stats),
        Section(title="A language model", parts=lm_parts(perplexities)),
        Section(title="Word alignment", parts=alignment_parts(splits.train, aligned)),
        Section(title="How good is a translator without grammar?", parts=score_parts(scores)),
        Section(title="What they say", parts=[samples(splits.test, outputs)]),
    ]
    page.save(report)
    summary = {system.name: {item.metric: round(100 * item.score, 2) for item in system.scores} for system in scores}
    return DemoResult(report=report, summary={"report": str(report), "scores": summary, "perplexity": perplexities})


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


def _perplexities(out: Path, files: dict[str, Path]) -> dict[int, float]:
    """Of the test sentences, under models of several orders; the last is kept."""
    text = TrainingText()
    text.add_file(files["train.en"])
    perplexities = {}
    for order in (1, 2, 3, 5):
        model = estimate(text, EstimateConfig(order=order)).model
        perplexities[order] = Perplexity.of(model.score_file(files["test.en"])).perplexity
    model.save(out / "en.lm")
    return perplexities
