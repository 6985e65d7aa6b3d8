"""Explanations of translations: phrases or rules, word alignment, and feature contributions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from dragoman._core import unescape_word
from dragoman.features import Weights
from dragoman.forest import Application, Derivation
from dragoman.settings import takes_text
from dragoman.system.translator import Preset, Translator
from dragoman.text import split_tokens
from dragoman.types import Progress

__all__ = ["Contribution", "Explanation", "Piece", "TreeNode", "explain", "explanation_of"]

_GAP = re.compile(r"\[\w+,\d+\]")
"""What stands for a gap of a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """A feature of a translation; the sum of value · weight over all features is the model score."""

    name: str
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        return self.value * self.weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A rule application: its source span, its target words, and its part of the score."""

    source: str
    target: str
    span: tuple[int, int]
    positions: tuple[int, ...]
    """Positions of its words in the translation."""
    score: float
    features: tuple[Contribution, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNode:
    """A rule of a hierarchical derivation. Sides have words and, as numbers from 0, the places of its children."""

    label: str
    source: tuple[str | int, ...]
    target: tuple[str | int, ...]
    span: tuple[int, int]
    children: tuple[int, ...]
    """Indices into `Explanation.nodes`."""
    positions: tuple[int, ...]
    """Positions of its own words in the translation."""
    score: float
    """Its own part of the model score."""
    piece: int
    """Its index in `Explanation.pieces`; -1 of a rule without words and features."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A translation with its derivation, word alignment and feature contributions."""

    source: str
    text: str
    score: float
    pieces: tuple[Piece, ...]
    """In target order."""
    alignment: tuple[tuple[int, int], ...]
    features: tuple[Contribution, ...]
    """By decreasing absolute contribution."""
    tree: tuple[str, ...] = ()
    """Of a hierarchical derivation: one rule per line, the rules of its nonterminals indented below it."""
    nodes: tuple[TreeNode, ...] = ()
    """The same tree for drawing: every rule before those of its nonterminals, the root first."""
    output: str = ""
    """What `translate` writes for the sentence of a line of raw text, tags included."""

    def with_words(self, sources: Mapping[str, str], targets: Mapping[str, str], output: str) -> Explanation:
        """The same with other words for letters, such as masks, by the side they are on; and the text of it all."""
        source, target = (str.maketrans(dict(side)) for side in (sources, targets))

        def side(symbols: Sequence[str | int], table: dict[int, str]) -> tuple[str | int, ...]:
            return tuple(symbol.translate(table) if isinstance(symbol, str) else symbol for symbol in symbols)

        def rule(line: str) -> str:
            left, bar, right = line.partition(" | ")
            return f"{left.translate(source)}{bar}{right.translate(target)}"

        return replace(
            self,
            source=self.source.translate(source),
            text=self.text.translate(target),
            pieces=tuple(
                replace(piece, source=piece.source.translate(source), target=piece.target.translate(target))
                for piece in self.pieces
            ),
            tree=tuple(map(rule, self.tree)),
            nodes=tuple(
                replace(node, source=side(node.source, source), target=side(node.target, target)) for node in self.nodes
            ),
            output=output,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "text": self.text,
            "score": self.score,
            "pieces": [
                {
                    "source": piece.source,
                    "target": piece.target,
                    "span": list(piece.span),
                    "positions": list(piece.positions),
                    "score": piece.score,
                    "features": [_plain(item) for item in piece.features],
                }
                for piece in self.pieces
            ],
            "alignment": [list(link) for link in self.alignment],
            "features": [_plain(item) for item in self.features],
            **({"output": self.output} if self.output else {}),
            **({"tree": list(self.tree)} if self.tree else {}),
            **({"nodes": [node.to_json() for node in self.nodes]} if self.nodes else {}),
        }

    def _repr_html_(self) -> str:
        """The picture and the table that notebooks show."""
        from dragoman.view.drawing import explanation_html  # only notebooks need it

        return explanation_html(self.to_json())

    def lines(self) -> list[str]:
        out = [f"source       {self.source}", f"translation  {self.text}"]
        out += [f"output       {self.output}"] if self.output else []
        out.append(f"score        {self.score:.4f}")
        out.append("alignment    " + " ".join(f"{s}-{t}" for s, t in self.alignment))
        if self.tree:
            out += ["tree", *(f"  {line}" for line in self.tree)]
        width = max((len(piece.source) for piece in self.pieces), default=0)
        out.append("pieces")
        out += [
            f"  [{p.span[0]}:{p.span[1]}]".ljust(10) + f"{p.source.ljust(width)}  ->  {_made(p)}  ({p.score:+.4f})"
            for p in self.pieces
        ]
        width = max((len(item.name) for item in self.features), default=0)
        out.append("features".ljust(width + 2) + "      value     weight  contribution")
        out += [
            f"  {item.name.ljust(width)} {item.value:10.4f} {item.weight:10.4f} {item.contribution:13.4f}"
            for item in self.features
        ]
        return out


def _made(piece: Piece) -> str:
    """What a piece became, as a person reads it."""
    if piece.target:
        if all(f.name != "unknown" for f in piece.features):
            return piece.target
        return f"{piece.target}  {'unknown, copied' if piece.source == piece.target else 'forced'}"
    if not piece.source:
        return "(end of the sentence)"
    return "" if all(map(_GAP.fullmatch, piece.source.split(" "))) else "(nothing)"


@takes_text
def explain(
    translator: Translator[Any],
    sentence: str,
    weights: Weights,
    *,
    preset: Preset = Preset.DEFAULT,
    progress: Progress | None = None,
) -> Explanation | None:
    """An explanation of the best translation of a sentence; None if it has no words."""
    best = translator.forests([sentence], weights, preset=preset, progress=progress)[0].best(weights)
    if best is None or not split_tokens(sentence):
        return None
    return explanation_of(translator, sentence, best, weights)


def explanation_of(translator: Translator[Any], sentence: str, derivation: Derivation, weights: Weights) -> Explanation:
    """An explanation of a derivation of a sentence."""
    words = split_tokens(sentence)
    pieces: list[Piece] = []
    owners: list[int] = []  # the application of each piece
    all_positions = derivation.target_positions()
    for place, (application, positions) in enumerate(zip(derivation.applications, all_positions, strict=True)):
        begin, end = application.source
        features = _contributions(application.features, weights)
        if not features and not positions:
            continue
        owners.append(place)
        shown = [s for s in application.symbols if isinstance(s, str) and s not in ("<s>", "</s>")]
        pieces.append(
            Piece(
                source=" ".join(_source_side(derivation, application, words)) if 0 <= begin <= end else "",
                target=" ".join(unescape_word(s.encode()).decode() for s in shown),
                span=(begin, end),
                positions=tuple(positions),
                score=sum(item.contribution for item in features),
                features=features,
            )
        )
    n_words = len(derivation.tokens())
    order = sorted(range(len(pieces)), key=lambda i: pieces[i].positions[0] if pieces[i].positions else n_words)
    piece_of = {owners[i]: at for at, i in enumerate(order)}
    features = _contributions(derivation.features(), weights)
    return Explanation(
        source=" ".join(words),
        text=" ".join(derivation.tokens()),
        score=sum(item.contribution for item in features),
        pieces=tuple(pieces[i] for i in order),
        alignment=tuple(translator.alignment(derivation)),
        features=features,
        tree=tuple(_tree(derivation, words)),
        nodes=tuple(_nodes(derivation, words, all_positions, weights, piece_of)),
    )


def _names(derivation: Derivation, application: Application) -> list[str]:
    """Names of the nonterminals, such as `[X,1]`; a phrase-based derivation has none."""
    if application.label is None:
        return []
    labels = [derivation.applications[child].label for child in application.children]
    return [f"[{label},{i}]" for i, label in enumerate(labels, 1)]


def _source_side(derivation: Derivation, application: Application, words: Sequence[str]) -> list[str]:
    """The source side of a rule: its words and the names of its nonterminals."""
    names = _names(derivation, application)
    if not names:
        return list(words[slice(*application.source)])
    return [names[s] if isinstance(s, int) else s for s in _source_symbols(derivation, application, words)]


def _source_symbols(derivation: Derivation, application: Application, words: Sequence[str]) -> list[str | int]:
    """The source side of a rule: its words and, as numbers, its nonterminals."""
    begin, end = application.source
    side: list[str | int] = []
    at = begin
    spans = [derivation.applications[child].source for child in application.children]
    for span, number in sorted(zip(spans, range(len(spans)), strict=True)):
        side += [*words[at : span[0]], number]
        at = span[1]
    return [*side, *words[at:end]]


def _tree(derivation: Derivation, words: Sequence[str]) -> Iterator[str]:
    """The rules of a derivation whose nodes have labels."""
    open_ = [(0, 0)]
    while open_:
        place, depth = open_.pop()
        application = derivation.applications[place]
        if application.label is None:
            return
        names = _names(derivation, application)
        source = _source_side(derivation, application, words)
        target = [names[s] if isinstance(s, int) else unescape_word(s.encode()).decode() for s in application.symbols]
        begin, end = application.source
        yield f"{'  ' * depth}[{application.label}] -> {' '.join(source)} | {' '.join(target)}  ({begin}:{end})"
        open_ += [(child, depth + 1) for child in reversed(application.children)]


def _nodes(
    derivation: Derivation,
    words: Sequence[str],
    positions: Sequence[Sequence[int]],
    weights: Weights,
    piece_of: Mapping[int, int],
) -> Iterator[TreeNode]:
    """The rules of a derivation whose nodes have labels, in its own order."""
    for place, application in enumerate(derivation.applications):
        if application.label is None:
            return
        symbols = (unescape_word(s.encode()).decode() if isinstance(s, str) else s for s in application.symbols)
        yield TreeNode(
            label=application.label,
            source=tuple(_source_symbols(derivation, application, words)),
            target=tuple(symbols),
            span=application.source,
            children=application.children,
            positions=tuple(positions[place]),
            score=sum(weights[name] * value for name, value in application.features.items()),
            piece=piece_of.get(place, -1),
        )


def _contributions(features: Any, weights: Weights) -> tuple[Contribution, ...]:
    items = [Contribution(name=name, value=value, weight=weights[name]) for name, value in features.items() if value]
    return tuple(sorted(items, key=lambda item: (-abs(item.contribution), item.name)))


def _plain(item: Contribution) -> dict[str, Any]:
    return {"name": item.name, "value": item.value, "weight": item.weight, "contribution": item.contribution}
