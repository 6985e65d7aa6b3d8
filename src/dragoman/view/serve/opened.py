"""A system that answers for a long time in bounded memory."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dragoman.errors import FailedError, InputError
from dragoman.features import FeatureIndex, Weights
from dragoman.forest import Forest, KBest
from dragoman.settings import takes_text
from dragoman.system import Preset, System, SystemView
from dragoman.text import split_tokens
from dragoman.types import Progress
from dragoman.view.serve.limits import Limits
from dragoman.view.serve.wanted import check_wanted

__all__ = ["OpenedSystem", "SearchTimeoutError", "Searched", "deadline"]

_MOST_WEIGHT = 1e100
"""A greater one times a feature may be infinite, and a sum of two such scores no number at all."""


class SearchTimeoutError(FailedError):
    """A search that took longer than a request may."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Searched:
    """The search space of a sentence by some weights."""

    view: SystemView
    tokens: str
    weights: Weights
    forest: Forest
    decode_s: float
    """Wall time of the search alone."""

    def kbest(self, k: int) -> KBest:
        """The best derivation of each of the k best distinct translations."""
        return self.forest.kbest(self.weights, k, distinct=True)


def deadline(seconds: float) -> Progress:
    """A progress callback that stops native work when the time is over, or when nobody waits for it any more."""
    end = time.monotonic() + seconds

    def check(_: int) -> None:
        check_wanted()
        if time.monotonic() > end:
            raise SearchTimeoutError(
                f"the search took longer than {seconds:g} s; send shorter sentences or fewer, or choose the effort fast"
            )

    return check


class OpenedSystem:
    """A system by its name, with the search spaces of what was asked last. Thread-safe.

    Search spaces add sparse features to the index of the view that makes them; a view whose index has gained many is
    replaced by a fresh one.
    """

    def __init__(self, name: str, system: System, limits: Limits) -> None:
        self.name = name
        self.system = system
        self._limits = limits
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[object, ...], Searched] = OrderedDict()
        self._n_start = 0
        self._view = self._fresh()

    @property
    def view(self) -> SystemView:
        """The system's view, with no more features than the limit."""
        with self._lock:
            if len(self._view.index) > self._n_start + self._limits.grown_features:
                self._view = self._fresh()
                self._kept.clear()
            return self._view

    def _fresh(self) -> SystemView:
        view = self.system.view_on(FeatureIndex())
        self._n_start = len(view.index)
        return view

    def sentences(self, text: str) -> list[tuple[str, str]]:
        """The sentences of a text as (line, tokens); empty lines are left out."""
        self._limits.check_text(text)
        lines = self.system.lines()
        found = []
        for line in text.split("\n"):
            for tokens in lines.sentences(line.strip("\r")):
                if words := split_tokens(tokens):
                    self._limits.check_tokens(len(words))
                    found.append((line, " ".join(words)))
        return found

    def weights(self, view: SystemView, base: Weights | None, changed: Mapping[str, float]) -> Weights:
        """The system's weights, or `base`, with some of them changed. Raises InputError for unknown features."""
        used = view.weights if base is None else base.on(view.index)
        if changed:
            used = used.copy()
            for name, value in changed.items():
                if view.index.find(name) < 0:
                    raise InputError(
                        f"{self.name} has no feature '{name}'; choose one of its candidates' features, or of /api/about"
                    )
                if abs(value) > _MOST_WEIGHT:
                    raise InputError(
                        f"the weight of '{name}' is {value:g}, which gives no finite score; choose one from "
                        f"-{_MOST_WEIGHT:g} to {_MOST_WEIGHT:g}"
                    )
                used[name] = value
        if not used.is_usable():
            raise InputError("all weights are 0; leave at least one that is not")
        return used

    @takes_text
    def search(
        self,
        tokens: str,
        preset: Preset,
        *,
        base: Weights | None = None,
        base_name: str = "",
        changed: Mapping[str, float] | None = None,
        anew: bool = False,
    ) -> Searched:
        """The search space of a sentence of tokens; `base_name` says which weights `base` are.

        One that is kept is given again, unless it is to be searched anew.
        """
        key = (tokens, preset, base_name, tuple(sorted((changed or {}).items())))
        view = self.view
        with self._lock:
            if not anew and (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return found
        weights = self.weights(view, base, changed or {})
        stop = deadline(self._limits.timeout_s)
        started = time.perf_counter()
        forest = view.translator.forests([tokens], weights, preset=preset, progress=stop)[0]
        elapsed = time.perf_counter() - started
        made = Searched(view=view, tokens=tokens, weights=weights, forest=forest, decode_s=elapsed)
        with self._lock:
            if view is self._view:
                self._keep(key, made)
        return made

    @takes_text
    def translate(self, lines: Sequence[str], preset: Preset = Preset.DEFAULT) -> list[str]:
        """The translation of each line, as `dragoman translate` gives it; the index does not grow."""
        self.sentences("\n".join(lines))  # checks them together
        stop = deadline(self._limits.timeout_s)
        found: list[str] = []
        for line in lines:
            found += self.system.translate([line], preset=preset, progress=stop)
            stop(0)
        return found

    def _keep(self, key: tuple[object, ...], made: Searched) -> None:
        self._kept[key] = made
        self._kept.move_to_end(key)
        size = sum(kept.forest.core.n_bytes for kept in self._kept.values())
        while len(self._kept) > 1 and (len(self._kept) > self._limits.kept_spaces or size > self._limits.kept_bytes):
            _, old = self._kept.popitem(last=False)
            size -= old.forest.core.n_bytes
