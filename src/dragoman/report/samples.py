"""Sample sentences with each system's translation, its differences from a reference, and its derivation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any

from dragoman.evaluate import RowKey
from dragoman.report.records import Records
from dragoman.text import printable, split_tokens

__all__ = ["Change", "Sample", "ShownDerivation", "Span", "Translation", "differences", "samples"]

N_SAMPLES = 12
"""Number of sentences shown per corpus."""
N_FEATURES = 12
"""Number of features shown per derivation: those with the largest contributions."""


class Change(StrEnum):
    """How a span of the output differs from the reference."""

    SAME = "same"
    ADDED = "added"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive words with the same kind of change."""

    change: Change
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDerivation:
    """A derivation for display; it contains no markup."""

    score: float
    pieces: Sequence[Mapping[str, Any]]
    tree: Sequence[str]
    features: Sequence[Mapping[str, Any]]
    n_more: int
    """Number of features not shown."""
    more: float
    """Summed contribution of the features not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """A system's translation of a sentence."""

    key: RowKey
    seed: int
    spans: Sequence[Span]
    derivation: ShownDerivation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sentence of a test set."""

    number: int
    source: str
    references: Sequence[str]
    translations: Sequence[Translation]


def samples(records: Records, corpus: str) -> list[Sample]:
    """Sentences that cells explained, or else evenly spaced ones of the test set; the first seed of every row."""
    test_set = records.outputs.test_sets[corpus]
    first = {key: cells[0].key for key, cells in records.of_corpus(corpus).items()}
    lines = {key: records.outputs.translations(cell) for key, cell in first.items()}
    explained = {key: records.derivations(cell, _derivation) for key, cell in first.items()}
    n = len(test_set.source)
    chosen = sorted({number for found in explained.values() for number in found if 0 <= number < n})
    if not chosen:
        chosen = [i * n // min(n, N_SAMPLES) for i in range(min(n, N_SAMPLES))]
    result = []
    for number in chosen[:N_SAMPLES]:
        references = list(dict.fromkeys(reference[number] for reference in test_set.references))
        translations = [
            Translation(
                key=key,
                seed=cell.seed,
                spans=differences(lines[key][number], references),
                derivation=explained[key].get(number),
            )
            for key, cell in first.items()
        ]
        source = printable(test_set.source[number])
        result.append(
            Sample(
                number=number + 1,
                source=source,
                references=[printable(reference) for reference in references],
                translations=translations,
            )
        )
    return result


def differences(output: str, references: Sequence[str]) -> list[Span]:
    """The words of an output, with those extra or missing compared with the most similar reference."""
    words = split_tokens(output)
    tokens = [split_tokens(reference) for reference in references]
    if not tokens:
        return [Span(Change.SAME, _joined(words))]
    matchers = [SequenceMatcher(None, reference, words, autojunk=False) for reference in tokens]
    closest = max(range(len(tokens)), key=lambda i: matchers[i].ratio())
    spans = []
    for tag, ref_begin, ref_end, begin, end in matchers[closest].get_opcodes():
        if tag == "equal":
            spans.append(Span(Change.SAME, _joined(words[begin:end])))
            continue
        if end > begin:
            spans.append(Span(Change.ADDED, _joined(words[begin:end])))
        if ref_end > ref_begin:
            spans.append(Span(Change.MISSING, _joined(tokens[closest][ref_begin:ref_end])))
    return spans


def _joined(words: Sequence[str]) -> str:
    return printable(" ".join(words))


def _derivation(found: Mapping[str, Any]) -> ShownDerivation:
    features = sorted(found.get("features", ()), key=lambda item: -abs(float(item["contribution"])))
    rest = features[N_FEATURES:]
    return ShownDerivation(
        score=float(found["score"]),
        pieces=[
            {
                "span": "{}–{}".format(*piece["span"]) if piece["span"][0] >= 0 else "",
                "source": printable(piece["source"]),
                "target": printable(piece["target"]),
                "score": float(piece["score"]),
            }
            for piece in found.get("pieces", ())
        ],
        tree=[printable(line) for line in found.get("tree", ())],
        features=[{**item, "name": printable(item["name"])} for item in features[:N_FEATURES]],
        n_more=len(rest),
        more=sum(float(item["contribution"]) for item in rest),
    )
