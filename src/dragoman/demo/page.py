"""What the demo's page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dragoman.align import AlignResult
from dragoman.corpus import TextStats
from dragoman.corpus.synth import Example, SynthSplits
from dragoman.evaluate import MetricScore, SystemScore
from dragoman.features import Weights
from dragoman.report import Cell, Figure, Note, Rows, Section, alignment_matrix, bar_chart, histogram
from dragoman.text import split_tokens

__all__ = ["LEAD", "alignment_parts", "corpus_sections", "lm_parts", "samples", "score_parts", "tuning_parts"]

N_SHOWN = 8
LEAD = (
    "A German-English corpus from the built-in grammar, and a phrase-based system that was trained on it, tuned and "
    "evaluated. Nothing on this page was fetched; the same seed gives the same page."
)


def corpus_sections(splits: SynthSplits, stats: TextStats) -> list[Section]:
    """Numbers and examples of the generated text."""
    return [
        Section(title="The corpus", parts=_corpus_parts(splits.train, stats)),
        Section(title="A few sentence pairs", parts=[_pairs(splits.train[:N_SHOWN])]),
        Section(title="Paraphrases", parts=[_paraphrases(splits.test[:4])]),
    ]


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


def score_parts(scores: Sequence[SystemScore]) -> list[Rows | Figure | Note]:
    """A table and a picture of the scores."""
    header = ["system", *(item.metric.upper() for item in scores[0].scores), "length ratio"]
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
            "Before tuning, the weights are those that every system starts with; another reference is a fourth correct "
            "translation, scored against the other three. "
            f"Signature of BLEU: {bleu[0].signature}"
        ),
    ]


def _half_width(item: MetricScore) -> float:
    return 100 * item.interval.half_width if item.interval else 0.0


def samples(examples: Sequence[Example], outputs: dict[str, list[str]]) -> Rows:
    """What each translator made of a few test sentences."""
    rows = []
    for i, example in enumerate(examples[:N_SHOWN]):
        rows.append(["source", example.source])
        rows += [[name, lines[i]] for name, lines in outputs.items()]
    return Rows(header=["who", "says"], rows=rows)


def tuning_parts(tuning: Mapping[str, Any], before: Weights, after: Weights) -> list[Rows | Figure | Note]:
    """Round by round, and what became of the weights (both scaled to a sum of sizes of 1)."""
    rounds: list[list[Cell | str]] = [
        [
            Cell(str(r["round"]), numeric=True, best=r["round"] == tuning["best_round"]),
            Cell(f"{100 * r['score']:.2f}", numeric=True, best=r["round"] == tuning["best_round"]),
            Cell(f"{r['n_candidates']:,}", numeric=True),
        ]
        for r in tuning["rounds"]
    ]
    sizes = [sum(abs(value) for _, value in weights.items()) for weights in (before, after)]
    weights: list[list[Cell | str]] = [
        [
            name,
            Cell(f"{before[name] / sizes[0]:+.3f}", numeric=True),
            Cell(f"{value / sizes[1]:+.3f}", numeric=True),
        ]
        for name, value in sorted(after.items(), key=lambda item: -abs(item[1]))[:20]
    ]
    return [
        Note(
            f"{tuning['method'].upper()} on the development sentences: decode with the weights so far, add the "
            "candidates to the pool, find better weights on it, again. The weights of the best round are kept."
        ),
        Rows(header=["round", f"dev {tuning['metric'].upper()}", "candidates"], rows=rounds),
        Rows(header=["feature", "weight before", "weight after"], rows=weights),
    ]


def lm_parts(perplexities: dict[int, float]) -> list[Rows | Figure | Note]:
    """Perplexity by order."""
    labels = [f"order {order}" for order in perplexities]
    chart = bar_chart(labels, list(perplexities.values()), title="Perplexity of the test sentences")
    return [Figure(svg=chart, caption="Perplexity of the first references of the test set; lower is better")]


def alignment_parts(train: Sequence[Example], aligned: AlignResult) -> list[Rows | Figure | Note]:
    """A few aligned sentence pairs."""
    parts: list[Rows | Figure | Note] = [
        Note(
            f"{aligned.alignment.n_links:,} links by the built-in aligner; the two directions agree on "
            f"{100 * aligned.agreement.f1:.1f} % of theirs (F1)."
        )
    ]
    lengths = [len(split_tokens(example.source)) for example in train]
    shown = [i for i, length in enumerate(lengths) if 9 <= length <= 14][:3]
    for i in shown:
        words = [split_tokens(text) for text in (train[i].source, train[i].references[0])]
        picture = alignment_matrix(words[0], words[1], aligned.alignment[i], title="Word alignment")
        parts.append(Figure(svg=picture, caption=train[i].references[0]))
    return parts
