"""Sentences of a test set with each system's translation, its score and differences from a reference, and how it came
about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Any

import numpy as np
from markupsafe import Markup

from dragoman.analysis import SystemOutput, measure
from dragoman.metric import by_name
from dragoman.settings import Record
from dragoman.text import readable, split_tokens
from dragoman.types import Float64Array
from dragoman.view.drawing import contribution_bar, draw_derivation
from dragoman.view.report.records import Records

__all__ = [
    "SENTENCE_METRIC",
    "Change",
    "Name",
    "Sample",
    "ShownDerivation",
    "Span",
    "Translation",
    "choose_sentences",
    "differences",
    "make_samples",
    "samples",
    "sentence_scores",
    "shown_derivation",
]

SENTENCE_METRIC = "chrf"
"""Of single sentences: BLEU of one says little."""
N_SAMPLES = 60
"""Number of sentences shown per corpus."""
N_DERIVED = 12
"""Number of them with derivations, at most."""
MAX_DERIVATIONS = 60
"""Of all systems together, but at least one sentence has some."""
MAX_TRANSLATIONS = 600
"""Of all these sentences together, so that the page stays small."""
N_FEATURES = 12
"""Number of features shown per derivation: those with the largest contributions."""


_END = "(end of the sentence)"


class Change(StrEnum):
    """How a span of the output differs from the reference."""

    SAME = "same"
    ADDED = "added"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Span(Record):
    """Consecutive words with the same kind of change."""

    change: Change
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDerivation:
    """A derivation for display; its texts contain no markup."""

    score: float
    drawing: Markup | None
    """None if it is too long to draw."""
    pieces: Sequence[Mapping[str, Any]]
    tree: Sequence[str]
    features: Sequence[Mapping[str, Any]]
    """With `bar`, a picture of the contribution."""
    n_more: int
    """Number of features not shown."""
    more: float
    """Summed contribution of the features not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """What a translation is of: the part that matters most is shown in bold."""

    main: str
    prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """What one or more systems translate a sentence to."""

    names: Sequence[Name]
    score: float
    """Of the sentence, in [0, 1]."""
    best: bool
    spans: Sequence[Span]
    derivations: Sequence[tuple[Name, ShownDerivation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sentence of a test set. Scores are in [0, 1]."""

    number: int
    source: str
    references: Sequence[str]
    translations: Sequence[Translation]
    n_words: int
    change: tuple[float, float] | None = None
    """Of a tuned system, the scores before and after."""

    @property
    def worst(self) -> float:
        return min(translation.score for translation in self.translations)

    @property
    def best(self) -> float:
        return max(translation.score for translation in self.translations)


def samples(records: Records, corpus: str) -> list[Sample]:
    """Sentences in order: those that cells explained, others by `choose_sentences`; the first seed of every row."""
    test_set = records.outputs.test_sets[corpus]
    first = {key: cells[0].key for key, cells in records.of_corpus(corpus).items()}
    names = {key: Name(prefix=f"{key.system} · {key.features} · ", main=key.optimiser) for key in first}
    return make_samples(
        test_set.source,
        test_set.references,
        {names[key]: records.outputs.translations(cell) for key, cell in first.items()},
        {names[key]: records.derivations(cell, shown_derivation) for key, cell in first.items()},
    )


def make_samples(
    source: Sequence[str],
    references: Sequence[Sequence[str]],
    systems: Mapping[Name, Sequence[str]],
    explained: Mapping[Name, Mapping[int, ShownDerivation]],
) -> list[Sample]:
    """Some sentences with the translations of all systems; those that are explained are among them."""
    n = len(source)
    names = list(systems)
    n_derived = max(1, min(N_DERIVED, MAX_DERIVATIONS // max(1, len(names))))
    derived = sorted({number for found in explained.values() for number in found if 0 <= number < n})[:n_derived]
    scores = sentence_scores([*systems.values()], references)
    lengths = [len(split_tokens(line)) for line in source]
    limit = max(N_DERIVED, min(N_SAMPLES, MAX_TRANSLATIONS // max(1, len(names))))
    result = []
    for number in choose_sentences(scores, lengths, derived, limit):
        unique = list(dict.fromkeys(reference[number] for reference in references))
        row = scores[:, number]
        groups: dict[str, list[int]] = {}
        for place, lines in enumerate(systems.values()):
            groups.setdefault(lines[number], []).append(place)
        translations = [
            Translation(
                names=[names[place] for place in places],
                score=float(row[places[0]]),
                best=len(groups) > 1 and bool(row[places[0]] >= row.max()),
                spans=differences(line, unique),
                derivations=[
                    (names[place], explained[names[place]][number])
                    for place in places
                    if number in derived and number in explained.get(names[place], {})
                ],
            )
            for line, places in groups.items()
        ]
        result.append(
            Sample(
                number=number + 1,
                source=readable(source[number]),
                references=[readable(reference) for reference in unique],
                translations=translations,
                n_words=lengths[number],
            )
        )
    return result


def sentence_scores(systems: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> Float64Array:
    """The score of every sentence of every system, [n_systems, n_sentences]."""
    metric = by_name(SENTENCE_METRIC)
    outputs = [SystemOutput(name=str(i), runs=(list(lines),)) for i, lines in enumerate(systems)]
    ((measured,), _) = measure(outputs, references, [metric], n_threads=1)
    return np.stack([metric.score_of(statistics[0]) for statistics in measured.statistics])


def choose_sentences(scores: Float64Array, lengths: Sequence[int], first: Iterable[int], limit: int) -> list[int]:
    """Up to `limit` sentences in order: `first`, then by turns the one whose systems differ most, the worst, the
    longest and the next of evenly spaced ones.
    """
    n = len(lengths)
    limit = min(limit, n)
    chosen = dict.fromkeys(number for number in first if number < n)
    spread = scores.max(axis=0) - scores.min(axis=0)
    ways = [
        iter(np.argsort(-spread, kind="stable").tolist()),
        iter(np.argsort(scores.mean(axis=0), kind="stable").tolist()),
        iter(np.argsort(-np.array(lengths), kind="stable").tolist()),
        iter([i * n // limit for i in range(limit)]),
    ]
    while len(chosen) < limit:
        for way in ways:
            number = next((number for number in way if number not in chosen), None)
            if number is not None and len(chosen) < limit:
                chosen[number] = None
    return sorted(chosen)


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
    return readable(" ".join(words))


def shown_derivation(found: Mapping[str, Any]) -> ShownDerivation:
    """An explanation in its JSON form for display."""
    features = sorted(found.get("features", ()), key=lambda item: -abs(float(item["contribution"])))
    rest = features[N_FEATURES:]
    largest = max((abs(float(item["contribution"])) for item in features), default=0.0)
    return ShownDerivation(
        score=float(found["score"]),
        drawing=None if found.get("tree") and not found.get("nodes") else draw_derivation(found),
        pieces=[
            {
                "span": "{}–{}".format(*piece["span"]) if piece["span"][0] >= 0 else "",
                "source": readable(piece["source"]),
                "target": readable(piece["target"]) if piece["source"] or piece["target"] else _END,
                "score": float(piece["score"]),
            }
            for piece in found.get("pieces", ())
        ],
        tree=[readable(line) for line in found.get("tree", ())],
        features=[
            {**item, "name": readable(item["name"]), "bar": contribution_bar(float(item["contribution"]), largest)}
            for item in features[:N_FEATURES]
        ],
        n_more=len(rest),
        more=sum(float(item["contribution"]) for item in rest),
    )
