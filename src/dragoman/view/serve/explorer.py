"""What the page asks of systems, as plain data: translations, explanations, search spaces, tables, scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.features.descriptions import FEATURE_TEMPLATES, describe_feature
from dragoman.settings import Record, takes_text
from dragoman.system import Preset, System
from dragoman.system.explain import explanation_of
from dragoman.system.force import force
from dragoman.system.lookup import look_up, training_pair
from dragoman.text import split_tokens
from dragoman.types import Paths, one_or_many
from dragoman.view.serve.drawing import draw_space
from dragoman.view.serve.limits import Limits, TooLargeError
from dragoman.view.serve.opened import OpenedSystem, Searched, deadline
from dragoman.view.serve.recorded import RecordedRun
from dragoman.view.serve.scoring import sentence_scores
from dragoman.view.serve.suggestion import suggested

__all__ = ["Explorer", "Round", "Search"]


_EXAMPLES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Weights of a recorded run: those that a round of a tuning decoded with."""

    tuning: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(Record):
    """A sentence of a text, by a system and some weights."""

    system: str
    text: str
    sentence: int = 0
    """Which one of the text, from 0."""
    preset: Preset = Preset.DEFAULT
    round: Round | None = None
    """Weights of the recorded run in the place of the system's."""
    weights: Mapping[str, float] | None = None
    """Changes of single weights, by feature."""


class Explorer:
    """Loaded systems by name, and a recorded run. Thread-safe."""

    def __init__(
        self,
        systems: Mapping[str, System],
        *,
        run: RecordedRun | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.systems = {name: OpenedSystem(name, system, self.limits) for name, system in systems.items()}
        self.run = run
        self._tunings = {
            name: [] if run is None else run.fitting([*opened.system.translator.dense()])
            for name, opened in self.systems.items()
        }
        if not self.systems:
            raise InputError("name at least one system")

    @classmethod
    def load(cls, folders: Paths, *, run: RecordedRun | None = None, limits: Limits | None = None) -> Explorer:
        """Systems by the names of their folders; of two with one name, the second gets a number."""
        systems: dict[str, System] = {}
        for folder in one_or_many(folders):
            system = System.load(folder)
            name = base = system.folder.resolve().name
            number = 2
            while name in systems:
                name, number = f"{base}-{number}", number + 1
            systems[name] = system
        return cls(systems, run=run, limits=limits)

    def opened(self, name: str) -> OpenedSystem:
        if name not in self.systems:
            raise InputError(f"there is no system '{name[:100]}'; there are {', '.join(self.systems)}")
        return self.systems[name]

    def about(self) -> dict[str, Any]:
        """The systems, features and templates with meanings and weights, the limits, the recorded run."""
        return {
            "systems": [_about(opened) | {"tunings": self._tunings[name]} for name, opened in self.systems.items()],
            "templates": dict(FEATURE_TEMPLATES),
            "limits": asdict(self.limits),
            "run": None if self.run is None else self.run.name,
        }

    def examples(self) -> list[tuple[str, str]]:
        """Sentences to begin with and their references: of the run's test sets, or of the training text that is kept.

        Training sentences flatter a system, which has seen them.
        """
        if self.run is not None and self.run.examples:
            return list(self.run.examples)
        for opened in self.systems.values():
            if opened.system.keeps_text:
                n_lines = len(opened.system.training_text)
                lines = range(0, n_lines, max(1, n_lines // _EXAMPLES))
                return [training_pair(opened.system, line) for line in lines]
        return []

    @takes_text
    def translate(self, name: str, text: str, preset: Preset = Preset.DEFAULT) -> str:
        """A text, line by line, as `dragoman translate` does it."""
        return "\n".join(self.opened(name).translate(text.split("\n"), preset))

    def explain(self, search: Search, *, k: int = 20, candidate: int = 0, reference: str = "") -> dict[str, Any]:
        """The k best translations of a sentence with all features, and the derivation of one of them."""
        self._check_k(k)
        self.limits.check_text(reference)
        opened = self.opened(search.system)
        sentences = opened.sentences(search.text)
        found: dict[str, Any] = {"system": search.system, "sentences": [tokens for _, tokens in sentences]}
        if not sentences:
            return found | {"candidates": [], "explanation": None}
        line, tokens = self._sentence(sentences, search.sentence)
        searched = self._searched(opened, search, tokens)
        best = searched.kbest(k)
        index, names = searched.view.index, opened.system.lines()
        texts = [searched.forest.text(best.tokens_of(c)) for c in range(len(best))]
        scores = sentence_scores(texts, names.prepare_target(reference)) if reference.strip() else None
        candidates: list[dict[str, Any]] = []
        for c, text in enumerate(texts):
            ids, values = best.features_of(c)
            candidates.append(
                {
                    "tokens": text,
                    "text": names.restore(text, line),
                    "score": float(best.totals[c]),
                    "features": dict(zip(index.names(ids), values.tolist(), strict=True)),
                    "metrics": None if scores is None else scores[c],
                }
            )
        explanation = None
        if candidates:
            if not 0 <= candidate < len(candidates):
                raise InputError(
                    f"there is no candidate {candidate}; choose one from 0 to {len(candidates) - 1}, or a greater k"
                )
            derivation = searched.forest.derivation(best.edges_of(candidate))
            explanation = explanation_of(searched.view.translator, tokens, derivation, searched.weights).to_json()
        used = {name for item in candidates for name in item["features"]} | {*searched.view.translator.dense()}
        return found | {
            "decode_ms": 1000 * searched.decode_s,
            "candidates": candidates,
            "candidate": candidate,
            "explanation": explanation,
            "suggestion": _suggestions(opened.system, search.text, reference),
            "weights": {name: searched.weights[name] for name in sorted(used)},
            "n_nodes": searched.forest.n_nodes,
            "n_edges": searched.forest.n_edges,
        }

    def efforts(self, search: Search) -> list[dict[str, Any]]:
        """The best translation that each search effort finds, with its score and time.

        All are searched now, one after the other, so that their times compare.
        """
        opened = self.opened(search.system)
        line, tokens = self._sentence(opened.sentences(search.text), search.sentence)
        rows = []
        for preset in Preset:
            searched = self._searched(opened, search, tokens, preset, anew=True)
            best = searched.kbest(1)
            text = searched.forest.text(best.tokens_of(0)) if len(best) else ""
            rows.append(
                {
                    "effort": preset.value,
                    "tokens": text,
                    "text": opened.system.lines().restore(text, line),
                    "score": float(best.totals[0]) if len(best) else None,
                    "decode_ms": 1000 * searched.decode_s,
                    "n_edges": searched.forest.n_edges,
                }
            )
        return rows

    def space(
        self, search: Search, *, threshold: float = 0.01, scale: float = 1.0, n_edges: int = 150
    ) -> dict[str, Any]:
        """The search space for drawing: edges by posterior."""
        opened = self.opened(search.system)
        _, tokens = self._sentence(opened.sentences(search.text), search.sentence)
        searched = self._searched(opened, search, tokens)
        drawn = draw_space(searched.forest, searched.weights, threshold=threshold, scale=scale, n_edges=n_edges)
        return {"source": tokens.split(" "), **drawn}

    def force(self, search: Search, target: str) -> dict[str, Any]:
        """Why a translation is not the system's own: its best derivation or the nearest, and what speaks against it."""
        self.limits.check_text(target)
        opened = self.opened(search.system)
        lines = opened.system.lines()
        line, tokens = self._sentence(opened.sentences(search.text), search.sentence)
        wanted = lines.prepare_target(target.replace("\n", " ").strip())
        self.limits.check_tokens(len(split_tokens(wanted)))
        if not split_tokens(wanted):
            raise InputError("the translation to explain is empty; give one in target")
        view = opened.view
        weights = opened.weights(view, self._base(search), search.weights or {})
        found = force(
            view.translator, tokens, wanted, weights, preset=search.preset, progress=deadline(self.limits.timeout_s)
        )
        if found is None:
            raise InputError(
                "the system found no derivation of the sentence at all; choose the effort accurate, or another sentence"
            )
        texts = {side: lines.restore(told.text, line) for side, told in (("given", found.given), ("own", found.own))}
        return {**found.to_json(), "edits": found.edits(), "texts": texts}

    def look_up(self, name: str, phrase: str, *, n_targets: int = 10, n_sentences: int = 3) -> dict[str, Any]:
        """The translations of a phrase in a system's tables, with training sentences where it keeps them."""
        self.limits.check_text(phrase)
        self.limits.check_tokens(len(phrase.split()))
        if not phrase.strip():
            raise InputError("the phrase is empty; give words of the source language")
        system = self.opened(name).system
        return asdict(look_up(system, phrase.strip(), n_targets=n_targets, n_sentences=n_sentences))

    def score(self, name: str, hypotheses: Sequence[str], reference: str) -> list[dict[str, float]]:
        """Sentence scores of translations against a reference, in points, both as text of a system."""
        self.limits.check_text(*hypotheses, reference)
        lines = self.opened(name).system.lines()
        return sentence_scores([lines.prepare_target(text) for text in hypotheses], lines.prepare_target(reference))

    def _searched(
        self, opened: OpenedSystem, search: Search, tokens: str, preset: Preset | None = None, *, anew: bool = False
    ) -> Searched:
        name = "" if search.round is None else f"{search.round.tuning} {search.round.number}"
        return opened.search(
            tokens,
            preset or search.preset,
            base=self._base(search),
            base_name=name,
            changed=search.weights,
            anew=anew,
        )

    def _base(self, search: Search) -> Weights | None:
        """The weights of a round of the recorded run; None for the system's own."""
        if search.round is None:
            return None
        if self.run is None:
            raise InputError("the server shows no run; start it with --run")
        weights = self.run.weights(search.round.tuning, search.round.number)
        if search.round.tuning not in self._tunings.get(search.system, ()):
            raise InputError(
                f"the run '{search.round.tuning[:100]}' has features that {search.system} lacks; choose a system like "
                "the one that was tuned"
            )
        return weights

    def _sentence(self, sentences: Sequence[tuple[str, str]], number: int) -> tuple[str, str]:
        if not 0 <= number < len(sentences):
            raise InputError(
                f"there is no sentence {number}; choose one from 0 to {len(sentences) - 1}"
                if sentences
                else "the text has no sentence; give one with words"
            )
        return sentences[number]

    def _check_k(self, k: int) -> None:
        if not 1 <= k <= self.limits.candidates:
            raise TooLargeError(f"k must be from 1 to {self.limits.candidates}, not {k}")


def _suggestions(system: System, text: str, reference: str) -> dict[str, str | None]:
    """Spellings of the text and of the reference that a system of tokens knows more words of."""
    if system.lines().is_raw:
        return {"text": None, "reference": None}
    return {
        "text": suggested(text, system.grammar.source_vocab),
        "reference": suggested(reference, system.grammar.target_vocab),
    }


def _about(opened: OpenedSystem) -> dict[str, Any]:
    system = opened.system
    settings = system.settings
    dense = system.translator.dense()
    return {
        "name": opened.name,
        "kind": settings.kind,
        "source": settings.text.source_language,
        "target": settings.text.target_language,
        "raw": settings.text.raw,
        "keeps_text": system.keeps_text,
        "tuned": "tuning" in system.manifest.about,
        "n_weights": len(system.weights.ids()),
        "features": list(_features(dense, system.weights)),
    }


def _features(names: Iterable[str], weights: Weights) -> Iterable[dict[str, Any]]:
    for name in names:
        yield {"name": name, "meaning": describe_feature(name), "weight": weights[name]}
