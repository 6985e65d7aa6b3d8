"""The demo's steps: make a corpus, train a system on it, tune it, evaluate it, report."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.align import align_files, write_pharaoh
from dragoman.corpus import describe_files
from dragoman.corpus.synth import Example, SynthConfig, SynthSplits, generate_splits
from dragoman.demo.derivations import derivation_sections
from dragoman.demo.page import LEAD, alignment_parts, corpus_sections, lm_parts, samples, score_parts, tuning_parts
from dragoman.errors import FailedError
from dragoman.evaluate import SystemOutput, compare_systems
from dragoman.lm import EstimateConfig, Perplexity, TrainingText, estimate
from dragoman.metric import Bleu, Chrf, Ter
from dragoman.report import Page, Section
from dragoman.system import Monitor, SystemSettings, TextSettings, TrainConfig, train
from dragoman.text import open_output
from dragoman.tune import LoopSettings, TuneConfig, tune_system

__all__ = ["DemoConfig", "DemoResult", "run_demo"]

_N_REFERENCES = 4
_N_ROUNDS = 5


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


def run_demo(config: DemoConfig, *, monitor: Monitor) -> DemoResult:
    """Do all of it; files, systems and `report.html` go to the folder `config.out`."""
    began = time.monotonic()
    say = monitor.say
    say(f"generating {config.n_train:,} training, {config.n_test:,} development and {config.n_test:,} test sentences")
    synth = SynthConfig(seed=config.seed, n_references=_N_REFERENCES)
    splits = generate_splits(config.n_train, config.n_test, config.n_test, synth)
    files = _write_corpus(config.out, splits)
    stats = describe_files([files["train.de"], files["train.en"]])

    say("aligning words")
    aligned = align_files(files["train.de"], files["train.en"], n_threads=config.threads)
    write_pharaoh(config.out / "train.align", aligned.alignment)

    say("training a phrase-based system")
    for name in ("system", "tuned"):
        _remove_system(config.out / name)
    text = TextSettings(source_language="de", target_language="en", lowercase=True)
    system = train(
        files["train.de"],
        files["train.en"],
        config.out / "system",
        alignment=config.out / "train.align",
        config=TrainConfig(settings=SystemSettings(text=text)),
        n_threads=config.threads,
        monitor=monitor,
    )

    say("tuning its weights")
    tuned = tune_system(
        system,
        files["dev.de"],
        [files[f"dev.en.{r}"] for r in range(_N_REFERENCES)],
        config.out / "tuned",
        config=TuneConfig(loop=LoopSettings(max_rounds=_N_ROUNDS)),
        seed=config.seed,
        n_threads=config.threads,
        on_round=lambda r: say(f"round {r.round}: dev BLEU {100 * r.score:.2f}, {r.n_candidates:,} candidates"),
    )

    say("translating and scoring the test sentences")
    sources = [example.source for example in splits.test]
    outputs = {
        "before tuning": list(system.translate(sources, n_threads=config.threads)),
        "tuned": list(tuned.translate(sources, n_threads=config.threads)),
    }
    references = [[example.references[r] for example in splits.test] for r in range(_N_REFERENCES)]
    # What another person would write: the last reference, scored against the others.
    outputs["another reference"] = references.pop()
    systems = [SystemOutput(name=name, runs=(lines,)) for name, lines in outputs.items()]
    metrics = [Bleu(), Chrf(), Ter()]
    scores = compare_systems(systems, references, metrics, n_bootstrap=1000, n_trials=1000, threads=config.threads)
    perplexities = _perplexities(files)

    report = config.out / "report.html"
    page = Page(title="Dragoman demo", lead=LEAD)
    page.sections = [
        Section(title="How good is the system?", parts=score_parts(scores)),
        Section(title="What it says", parts=[samples(splits.test, outputs)]),
        *derivation_sections(tuned, sources, outputs["tuned"]),
        Section(title="Tuning", parts=tuning_parts(tuned.manifest.about["tuning"], system.weights, tuned.weights)),
        *corpus_sections(splits, stats),
        Section(title="A language model", parts=lm_parts(perplexities)),
        Section(title="Word alignment", parts=alignment_parts(splits.train, aligned)),
    ]
    page.save(report)
    figures = {score.name: {item.metric: round(100 * item.score, 2) for item in score.scores} for score in scores}
    summary: dict[str, object] = {
        "report": str(report),
        "scores": figures,
        "perplexity": perplexities,
        "system": str(config.out / "system"),
        "tuned": str(config.out / "tuned"),
        "wall_s": round(time.monotonic() - began, 1),
    }
    return DemoResult(report=report, summary=summary)


def _remove_system(folder: Path) -> None:
    """A system of an earlier demo; anything else stays, and training will say that it is in the way."""
    if any((folder / record / "run.json").exists() for record in ("train", "tune")):
        shutil.rmtree(folder)


def _write_corpus(out: Path, splits: SynthSplits) -> dict[str, Path]:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FailedError(f"{out}: cannot be made: {error.strerror or error}") from error
    files = {}
    parts: list[tuple[str, Sequence[Example]]] = [("train", splits.train), ("dev", splits.dev), ("test", splits.test)]
    for part, examples in parts:
        files[f"{part}.de"] = _write(out / f"{part}.de", [example.source for example in examples])
        if part == "train":
            files["train.en"] = _write(out / "train.en", [example.references[0] for example in examples])
            continue
        for r in range(_N_REFERENCES):
            name = f"{part}.en.{r}"
            files[name] = _write(out / name, [example.references[r] for example in examples])
    return files


def _write(path: Path, lines: Sequence[str]) -> Path:
    with open_output(path) as writer:
        for line in lines:
            writer.write(line)
    return path


def _perplexities(files: dict[str, Path]) -> dict[int, float]:
    """Of the test sentences, under models of several orders."""
    text = TrainingText()
    text.add_file(files["train.en"])
    perplexities = {}
    for order in (1, 2, 3, 5):
        model = estimate(text, EstimateConfig(order=order)).model
        perplexities[order] = Perplexity.of(model.score_file(files["test.en.0"])).perplexity
    return perplexities
