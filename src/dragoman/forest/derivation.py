"""A derivation: a tree of rule applications, independent of the forest it was extracted from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dragoman._core import unescape_word
from dragoman.errors import InputError

__all__ = ["Application", "Derivation"]

_MARKS = ("<s>", "</s>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """One rule application. `symbols` are words in their stored (escaped) form, so that a corpus word is never mistaken
    for `<s>` or `</s>`, and child numbers (from 0); `children` are indices into the derivation.
    """

    symbols: tuple[str | int, ...]
    children: tuple[int, ...] = ()
    rule: int = -1
    label: str | None = None
    source: tuple[int, int] = (-1, -1)
    features: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        slots = sorted(symbol for symbol in self.symbols if isinstance(symbol, int))
        if slots != list(range(len(self.children))):
            raise ValueError(f"the symbols refer to children {slots}, but there are {len(self.children)}")


@dataclass(frozen=True, slots=True)
class Derivation:
    """Rule applications in pre-order: the root first, every other application after its only parent."""

    applications: tuple[Application, ...]

    def __post_init__(self) -> None:
        parents = [child for a in self.applications for child in a.children]
        if sorted(parents) != list(range(1, len(self.applications))):
            raise ValueError("every application but the first must be the child of exactly one other")
        for place, application in enumerate(self.applications):
            if any(child <= place for child in application.children):
                raise ValueError("children must come after their parents")

    def features(self) -> dict[str, float]:
        total: dict[str, float] = {}
        for application in self.applications:
            for name, value in application.features.items():
                total[name] = total.get(name, 0.0) + value
        return total

    def score(self, weights: Mapping[str, float]) -> float:
        """The model score w·f; missing weights are 0."""
        return sum(weights.get(name, 0.0) * value for name, value in self.features().items())

    def tokens(self) -> list[str]:
        """The words of the yield, without `<s>` and `</s>`."""
        return [word for word, _ in self._words()]

    def target_positions(self) -> list[list[int]]:
        """For each application, the positions of its own words in the yield."""
        places: list[list[int]] = [[] for _ in self.applications]
        for position, (_, owner) in enumerate(self._words()):
            places[owner].append(position)
        return places

    def _words(self) -> list[tuple[str, int]]:
        words: list[tuple[str, int]] = []
        open_: list[tuple[int, int]] = [(0, 0)] if self.applications else []  # application, next symbol
        while open_:
            place, next_ = open_.pop()
            application = self.applications[place]
            while next_ < len(application.symbols):
                symbol = application.symbols[next_]
                next_ += 1
                if isinstance(symbol, int):
                    open_.append((place, next_))
                    open_.append((application.children[symbol], 0))
                    break
                if symbol not in _MARKS:
                    words.append((unescape_word(symbol.encode()).decode(), place))
        return words

    def to_json(self) -> list[dict[str, Any]]:
        return [
            {
                "symbols": list(a.symbols),
                "children": list(a.children),
                "rule": a.rule,
                "label": a.label,
                "source": list(a.source),
                "features": dict(a.features),
            }
            for a in self.applications
        ]

    @classmethod
    def from_json(cls, data: Sequence[Mapping[str, Any]]) -> Derivation:
        """The inverse of to_json. Raises InputError when the data are not a derivation."""
        try:
            return cls(
                tuple(
                    Application(
                        symbols=tuple(s if isinstance(s, int) else str(s) for s in item["symbols"]),
                        children=tuple(int(c) for c in item["children"]),
                        rule=int(item["rule"]),
                        label=None if item["label"] is None else str(item["label"]),
                        source=(int(item["source"][0]), int(item["source"][1])),
                        features={str(name): float(value) for name, value in item["features"].items()},
                    )
                    for item in data
                )
            )
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise InputError(f"not a derivation: {error!r}") from error
