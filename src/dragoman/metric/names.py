"""Metrics by name, including combinations: `bleu`, `chrf++`, `(ter-bleu)/2`."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, fields

from dragoman import register
from dragoman.errors import InputError
from dragoman.metric.base import Metric
from dragoman.metric.bleu import Bleu, ReferenceLength, Smoothing
from dragoman.metric.chrf import Chrf
from dragoman.metric.external import External
from dragoman.metric.mix import Mix
from dragoman.metric.ribes import Ribes
from dragoman.metric.ter import Ter
from dragoman.metric.tokenizer import Tokenizer
from dragoman.metric.wer import Wer
from dragoman.register import Registry, subclass_of
from dragoman.settings import Record, listed, takes_text

__all__ = ["METRICS", "TER_BLEU", "Variant", "as_metric", "by_name", "metric_label", "recorded_metric"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant(Record):
    """Text processing options, for the metrics that support them."""

    smoothing: Smoothing = Smoothing.EXP
    tokenizer: Tokenizer = Tokenizer.NONE
    lowercase: bool = False
    reference_length: ReferenceLength = ReferenceLength.CLOSEST


METRICS: Registry[Callable[..., Metric]] = register.METRICS
"""Reference-based metrics by user-visible name: classes, or functions that make a metric. Each is given the options of
a `Variant` that it has parameters for.
"""

METRICS.add_all(
    {
        "bleu": Bleu,
        "chrf": Chrf,
        "chrf+": lambda lowercase: Chrf(word_order=1, lowercase=lowercase),
        "chrf++": lambda lowercase: Chrf(word_order=2, lowercase=lowercase),
        "ter": lambda tokenizer: Ter(asian=tokenizer.is_unspaced),
        "wer": Wer,
        "ribes": Ribes,
    }
)


def as_metric(value: object) -> Metric:
    """Raises InputError for what is no metric."""
    if not isinstance(value, Metric):
        raise InputError(f"expected a metric or its name, not {value!r}")
    return value


TER_BLEU = "0.5*ter - 0.5*bleu"
"""The name of the metric (TER-BLEU)/2."""
_LABELS = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "chrf+": "chrF+",
    "chrf++": "chrF++",
    "ter": "TER",
    "wer": "WER",
    "ribes": "RIBES",
    TER_BLEU: "(TER-BLEU)/2",
}
_LONGEST = 200
_NUMBER = ""  # key of the constant term


def metric_label(name: str) -> str:
    """The metric's name as written in papers."""
    return _LABELS.get(name, name)


def recorded_metric(name: str) -> Metric:
    """The metric of a record, which holds its name: what is none of ours was an external score."""
    try:
        return by_name(name)
    except InputError:
        return External(label=name)


@takes_text
def by_name(
    text: str,
    *,
    smoothing: Smoothing = Smoothing.EXP,
    tokenizer: Tokenizer = Tokenizer.NONE,
    lowercase: bool = False,
    reference_length: ReferenceLength = ReferenceLength.CLOSEST,
) -> Metric:
    """The metric with this name, or the linear combination given by a sum of names with factors.

    `smoothing`, `tokenizer` and `reference_length` apply to BLEU, `lowercase` to all but TER, also in combinations.
    With a tokeniser for text without spaces, TER counts CJK characters instead of what stands between spaces.
    Raises InputError for anything else.
    """
    variant = Variant(smoothing=smoothing, tokenizer=tokenizer, lowercase=lowercase, reference_length=reference_length)
    if text.strip() in METRICS:
        return _made(text.strip(), variant)
    name = text.strip().lower()
    if name in METRICS:
        return _made(name, variant)
    try:
        if len(name) > _LONGEST:
            raise ValueError("too long")
        form = _linear(ast.parse(_as_expression(name), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError) as error:
        raise _no_metric(text) from error
    if _NUMBER in form:
        raise _no_metric(text)
    return Mix(terms=tuple((weight, _made(key, variant)) for key, weight in form.items()))


def _made(name: str, variant: Variant) -> Metric:
    make = METRICS.named(name)
    if isinstance(make, type):
        subclass_of(Metric, make, name)
    taken = inspect.signature(make).parameters
    return make(**{field.name: getattr(variant, field.name) for field in fields(variant) if field.name in taken})


def _as_expression(text: str) -> str:
    """The text with names replaced by `_0_`, `_1_`, … A plus belongs to a name unless a term follows it."""
    if re.search(r"\b_", text):
        raise ValueError("not a name")
    for name in sorted(METRICS, key=len, reverse=True):
        end = r"(?=\s*(?:$|[-+*/)]))" if name.endswith("+") else r"\b"
        text = re.sub(rf"\b{re.escape(name)}{end}", f"_{list(METRICS).index(name)}_", text)
    return text


def _linear(node: ast.expr) -> dict[str, float]:
    """Name -> factor. Raises ValueError for anything but sums, and products and quotients with numbers."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return {_NUMBER: float(number)}
        case ast.Name(id=identifier) if identifier.strip("_").isdecimal():
            return {list(METRICS)[int(identifier.strip("_"))]: 1.0}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _scaled(_linear(operand), -1.0)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _linear(operand)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _added(_linear(left), _linear(right))
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _added(_linear(left), _scaled(_linear(right), -1.0))
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            a, b = _linear(left), _linear(right)
            return _scaled(a, _number(b)) if b.keys() == {_NUMBER} else _scaled(b, _number(a))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _scaled(_linear(left), 1 / _number(_linear(right)))
    raise ValueError("not a linear combination")


def _number(form: dict[str, float]) -> float:
    if form.keys() != {_NUMBER}:
        raise ValueError("expected a number")
    return form[_NUMBER]


def _scaled(form: dict[str, float], factor: float) -> dict[str, float]:
    return {name: factor * weight for name, weight in form.items()}


def _added(a: dict[str, float], b: dict[str, float]) -> dict[str, float]:
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in a | b}


def _no_metric(text: str) -> InputError:
    return InputError(
        f"{text!r} is not a metric: {listed(text, list(METRICS))}, "
        "or a sum of them with factors, such as (ter-bleu)/2, or PACKAGE.MODULE:CLASS of your own"
    )
