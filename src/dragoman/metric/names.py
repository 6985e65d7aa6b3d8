"""Metrics by name, mixes included: `bleu`, `chrf++`, `(ter-bleu)/2`."""

from __future__ import annotations

import ast
import re

from dragoman.errors import InputError
from dragoman.metric.base import Metric
from dragoman.metric.bleu import Bleu, Smoothing
from dragoman.metric.chrf import Chrf
from dragoman.metric.mix import Mix
from dragoman.metric.ter import Ter
from dragoman.metric.tokenizer import Tokenizer

__all__ = ["METRIC_NAMES", "by_name"]

METRIC_NAMES = ("bleu", "chrf", "chrf+", "chrf++", "ter")
_LONGEST = 200
_NUMBER = ""  # key of the constant term


def by_name(
    text: str,
    *,
    smoothing: Smoothing = Smoothing.EXP,
    tokenizer: Tokenizer = Tokenizer.NONE,
    lowercase: bool = False,
) -> Metric:
    """The metric of that name, or the mix that a sum of names with factors describes.

    `smoothing` and `tokenizer` are BLEU's, `lowercase` BLEU's and chrF's, alone or in a mix.
    Raises InputError for anything else.
    """

    def plain(name: str) -> Metric:
        match name:
            case "bleu":
                return Bleu(smoothing=smoothing, tokenizer=tokenizer, lowercase=lowercase)
            case "ter":
                return Ter()
            case _:
                return Chrf(word_order=name.count("+"), lowercase=lowercase)

    name = text.strip().lower()
    if name in METRIC_NAMES:
        return plain(name)
    # A plus belongs to chrF unless a term follows it.
    readable = re.sub(r"chrf(\+{1,2})(?=\s*(?:$|[-+*/)]))", lambda m: "chrf" + "p" * len(m[1]), name)
    try:
        if len(readable) > _LONGEST:
            raise ValueError("too long")
        form = _linear(ast.parse(readable, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError) as error:
        raise _no_metric(text) from error
    if _NUMBER in form:
        raise _no_metric(text)
    return Mix(terms=tuple((weight, plain(key)) for key, weight in form.items()))


def _linear(node: ast.expr) -> dict[str, float]:
    """Name -> factor. Raises ValueError for anything but sums, and products and quotients with numbers."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return {_NUMBER: float(number)}
        case ast.Name(id=identifier) if (name := identifier.replace("p", "+")) in METRIC_NAMES:
            return {name: 1.0}
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
    raise ValueError("not a linear mix")


def _number(form: dict[str, float]) -> float:
    if form.keys() != {_NUMBER}:
        raise ValueError("a number expected")
    return form[_NUMBER]


def _scaled(form: dict[str, float], factor: float) -> dict[str, float]:
    return {name: factor * weight for name, weight in form.items()}


def _added(a: dict[str, float], b: dict[str, float]) -> dict[str, float]:
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in a | b}


def _no_metric(text: str) -> InputError:
    return InputError(
        f"{text!r} is no metric: expected one of {', '.join(METRIC_NAMES)}, "
        "or a sum of them with factors, such as (ter-bleu)/2"
    )
