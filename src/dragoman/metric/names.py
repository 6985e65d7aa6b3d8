"""Metrics by name, mixes included: `bleu`, `chrf++`, `(ter-bleu)/2`."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from dragoman.errors import InputError
from dragoman.metric.bleu import Bleu, Smoothing
from dragoman.metric.chrf import Chrf
from dragoman.metric.mix import Mix
from dragoman.metric.ter import Ter

if TYPE_CHECKING:
    from dragoman.metric.base import Metric

__all__ = ["METRIC_NAMES", "by_name"]

METRIC_NAMES = ("bleu", "chrf", "chrf+", "chrf++", "ter")


def by_name(text: str, *, smoothing: Smoothing = Smoothing.EXP) -> Metric:
    """The metric of that name, or the mix that a sum of names with factors describes.

    `smoothing` is BLEU's, wherever it occurs. Raises InputError for anything else.
    """
    name = text.strip().lower()
    if name in METRIC_NAMES:
        return _plain(name, smoothing)
    # A plus belongs to chrF unless a term follows it.
    readable = re.sub(r"chrf(\+{1,2})(?=\s*(?:$|[-+*/)]))", lambda m: "chrf" + "p" * len(m[1]), name)
    try:
        form = _linear(ast.parse(readable, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError) as error:
        raise InputError(
            f"{text!r} is no metric: expected one of {', '.join(METRIC_NAMES)}, "
            "or a sum of them with factors, such as (ter-bleu)/2"
        ) from error
    return Mix(terms=tuple((weight, _plain(key, smoothing)) for key, weight in form.items()))


def _plain(name: str, smoothing: Smoothing) -> Metric:
    match name:
        case "bleu":
            return Bleu(smoothing=smoothing)
        case "ter":
            return Ter()
        case _:
            return Chrf(word_order=name.count("+"))


def _linear(node: ast.expr) -> dict[str, float]:
    """Name -> factor. Raises ValueError for anything but sums, and products and quotients with numbers."""
    match node:
        case ast.Name(id=identifier) if (name := identifier.replace("p", "+")) in METRIC_NAMES:
            return {name: 1.0}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _scaled(_linear(operand), -1.0)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _linear(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            total = _linear(left)
            for name, factor in _linear(right).items():
                total[name] = total.get(name, 0.0) + (factor if isinstance(op, ast.Add) else -factor)
            return total
        case ast.BinOp(left=left, op=ast.Mult(), right=ast.Constant(value=int() | float() as factor)):
            return _scaled(_linear(left), factor)
        case ast.BinOp(left=ast.Constant(value=int() | float() as factor), op=ast.Mult(), right=right):
            return _scaled(_linear(right), factor)
        case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=int() | float() as divisor)):
            return _scaled(_linear(left), 1 / divisor)
        case _:
            raise ValueError("not a linear mix")


def _scaled(form: dict[str, float], factor: float) -> dict[str, float]:
    return {name: factor * weight for name, weight in form.items()}
