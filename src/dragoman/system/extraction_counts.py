"""How often the rules that features name were extracted."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from dragoman.features import feature_arguments
from dragoman.grammar import Grammar, PhraseView, RuleView
from dragoman.types import Float64Array

__all__ = ["extraction_shares"]

_RULE = "rule_id:"
_LABEL, _PLACE = re.compile(r"\[([^\[\]\s,]+)\]"), re.compile(r"\[([1-9]\d*)\]")


def extraction_shares(names: Sequence[str], view: PhraseView | RuleView, grammar: Grammar) -> Float64Array:
    """The counts, in the view, of the rules that features of the template rule_id name, a sentence pair of the view.

    0 where a feature names no rule that was extracted: of other templates, words that are copied, glue rules, and rules
    of an imported grammar, which does not say how much text it comes from.
    """
    n_pairs = float(grammar.manifest.content.get("n_sentences") or 0)
    if view.config.excluded_fold is not None:
        n_pairs *= 1 - 1 / grammar.n_folds
    shares = np.zeros(len(names))
    for place, name in enumerate(names) if n_pairs else ():
        if name.startswith(_RULE):
            shares[place] = _count(view, feature_arguments(name)) / n_pairs
    return shares


def _count(view: PhraseView | RuleView, sides: Sequence[str]) -> int:
    if isinstance(view, PhraseView):
        source, target = sides
        return view.count(source, target)
    lhs, source, target = sides
    labels: list[str] = []

    def numbered(found: re.Match[str]) -> str:
        labels.append(found[1])
        return f"[{found[1]},{len(labels)}]"

    symbols = [_LABEL.sub(numbered, token) for token in source.split(" ")]
    placed = [
        f"[{labels[int(found[1]) - 1]},{found[1]}]"
        if (found := _PLACE.fullmatch(token)) and int(found[1]) <= len(labels)
        else token
        for token in target.split(" ")
    ]
    label = lhs.strip("[]")
    return view.count(" ".join(symbols), " ".join(placed), label) if {label, *labels} <= {*view.labels} else 0
