"""Metrics: segment statistics, summed over a corpus and scored; scores equal sacrebleu's."""

from dragoman.metric.base import Draws, Metric, WordMetric
from dragoman.metric.bleu import Bleu, BleuDetails, ReferenceLength, Smoothing
from dragoman.metric.chrf import Chrf
from dragoman.metric.edits import Edits, EditStep
from dragoman.metric.external import External
from dragoman.metric.mix import Mix
from dragoman.metric.names import METRICS, TER_BLEU, Variant, as_metric, by_name, metric_label, recorded_metric
from dragoman.metric.ribes import Ribes
from dragoman.metric.segments import Lexicon, MetricWords, References, Segments, Spelling
from dragoman.metric.sentence import HE_DENG, AddOne, SentenceBleu
from dragoman.metric.ter import Ter
from dragoman.metric.text import (
    TextScore,
    n_references,
    output_statistics,
    references_by_sentence,
    score_text,
)
from dragoman.metric.tokenizer import Tokenizer
from dragoman.metric.wer import Wer

__all__ = [
    "HE_DENG",
    "METRICS",
    "TER_BLEU",
    "AddOne",
    "Bleu",
    "BleuDetails",
    "Chrf",
    "Draws",
    "EditStep",
    "Edits",
    "External",
    "Lexicon",
    "Metric",
    "MetricWords",
    "Mix",
    "ReferenceLength",
    "References",
    "Ribes",
    "Segments",
    "SentenceBleu",
    "Smoothing",
    "Spelling",
    "Ter",
    "TextScore",
    "Tokenizer",
    "Variant",
    "Wer",
    "WordMetric",
    "as_metric",
    "by_name",
    "metric_label",
    "n_references",
    "output_statistics",
    "recorded_metric",
    "references_by_sentence",
    "score_text",
]
