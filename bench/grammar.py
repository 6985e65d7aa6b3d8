"""Grammars: extraction of phrases and of rules, and the options of sentences."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from bench.harness import ANCHORS, DATA, Case, Workload
from dragoman.align import Alignment, read_pharaoh
from dragoman.corpus import Bitext
from dragoman.features import FeatureIndex
from dragoman.grammar import Grammar, PhraseExtraction, RuleExtraction, extract_phrases, extract_rules
from dragoman.search import RuleOptionBuilder
from dragoman.text import read_lines


def _corpus(folder: Path, scale: float) -> tuple[Bitext, Alignment]:
    names = [DATA / "enja" / f"train.{language}.xz" for language in ("ja", "en")]
    sides = [list(read_lines(name)) for name in names]
    n_pairs = int(len(sides[0]) * scale)
    for lines, name in zip(sides, "st", strict=True):
        (folder / name).write_text("".join(line + "\n" for line in lines[:n_pairs]), encoding="utf-8")
    alignment = read_pharaoh(ANCHORS / "moses-enja" / "train.align.xz")
    return (
        Bitext.build(folder / "s", folder / "t", folder / "bitext", n_folds=5),
        Alignment.of(alignment[i] for i in range(n_pairs)),
    )


def _extract(scale: float) -> Workload:
    scratch = tempfile.TemporaryDirectory()  # lives as long as the closure below
    folder = Path(scratch.name)
    bitext, alignment = _corpus(folder, scale)

    def run() -> None:
        extract_phrases(bitext, alignment, folder / "grammar", PhraseExtraction(n_threads=2))
        shutil.rmtree(folder / "grammar")

    return Workload(n_items=len(bitext), ours=run, repeats=3)


def _options(scale: float) -> Workload:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        grammar: Grammar = extract_phrases(*_corpus(folder, 1.0), folder / "grammar", PhraseExtraction(n_threads=2))
        lines = list(read_lines(DATA / "enja" / "dev.ja.xz"))
        sentences = [grammar.source_vocab.encode(line) for line in lines[: int(len(lines) * scale)]]

    def run() -> None:
        view = grammar.view()  # a new one: nothing is cached yet
        for sentence in sentences:
            view.option_arrays(sentence)

    return Workload(n_items=len(sentences), ours=run, repeats=3)


def _extract_rules(scale: float) -> Workload:
    scratch = tempfile.TemporaryDirectory()  # lives as long as the closure below
    folder = Path(scratch.name)
    bitext, alignment = _corpus(folder, scale)

    def run() -> None:
        extract_rules(bitext, alignment, folder / "grammar", RuleExtraction(n_threads=2))
        shutil.rmtree(folder / "grammar")

    return Workload(n_items=len(bitext), ours=run, repeats=3)


def _rule_options(scale: float) -> Workload:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        grammar: Grammar = extract_rules(*_corpus(folder, 1.0), folder / "grammar", RuleExtraction(n_threads=2))
        lines = list(read_lines(DATA / "enja" / "dev.ja.xz"))
        sentences = lines[: int(len(lines) * scale)]

    def run() -> None:
        # A new view: nothing is cached yet.
        RuleOptionBuilder(grammar.rule_view(), FeatureIndex()).build(sentences)

    return Workload(n_items=len(sentences), ours=run, repeats=3)


CASES = [
    Case(
        name="extraction and reordering counts, enja",
        area="grammar",
        unit="sentence pairs",
        prepare=_extract,
        target="at most 5 s on two cores",
        needs_data=True,
        wall=True,
    ),
    Case(name="options of a sentence, enja dev", area="grammar", unit="sentences", prepare=_options, needs_data=True),
    Case(
        name="extraction of rules, enja",
        area="grammar",
        unit="sentence pairs",
        prepare=_extract_rules,
        target="at most 15 s on two cores",
        needs_data=True,
        wall=True,
    ),
    Case(
        name="rules of a sentence, enja dev", area="grammar", unit="sentences", prepare=_rule_options, needs_data=True
    ),
]
