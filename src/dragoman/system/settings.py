"""What a system was built with: the part of its manifest that says how to use the tables."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

from dragoman.errors import InputError
from dragoman.grammar import PhraseSmoothing, PhraseViewConfig, Reordering, ReorderingKind, RuleViewConfig

__all__ = [
    "DEFAULT_REORDERING",
    "REORDERING",
    "DenseSet",
    "ModelKind",
    "SystemSettings",
    "TextSettings",
    "reordering_by_name",
]


class ModelKind(enum.StrEnum):
    """Which decoder works on the tables."""

    PHRASE = "phrase"
    HIERO = "hiero"


class DenseSet(enum.StrEnum):
    """Dense features of a hierarchical system."""

    CHIANG8 = "chiang8"
    FULL14 = "full14"


REORDERING: dict[str, tuple[Reordering, ...]] = {
    "none": (),
    "msd": (Reordering(),),
    "mslr": (Reordering(n_orientations=4),),
    "phrase-msd": (Reordering(kind=ReorderingKind.PHRASE),),
    "hrm": (Reordering(kind=ReorderingKind.HIERARCHICAL),),
    "hrm4": (Reordering(kind=ReorderingKind.HIERARCHICAL, n_orientations=4),),
    "hrm5": (Reordering(kind=ReorderingKind.HIERARCHICAL, n_orientations=5),),
    "msd+hrm": (Reordering(), Reordering(kind=ReorderingKind.HIERARCHICAL)),
}
"""Names on the command line. msd: word-based, three orientations; hrm: hierarchical, three to five."""

DEFAULT_REORDERING = "hrm"
"""Better than msd on every corpus that was measured (docs/experiments/phrase.md)."""


def reordering_by_name(name: str) -> tuple[Reordering, ...]:
    """The lexicalised reordering models of a name. Raises InputError with those that exist."""
    if name not in REORDERING:
        raise InputError(f"there is no reordering model '{name}'; there are: {', '.join(REORDERING)}")
    return REORDERING[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSettings:
    """How raw text becomes what the system was trained on."""

    source_language: str | None = None
    target_language: str | None = None
    """Codes such as `de`; None: tokens are the user's own."""
    lowercase: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSettings:
    """Everything but the tables and the weights."""

    model: ModelKind = ModelKind.PHRASE
    reordering: tuple[Reordering, ...] = REORDERING[DEFAULT_REORDERING]
    smoothing: PhraseSmoothing = PhraseSmoothing.NONE
    max_targets: int = 20
    min_count: int = 1
    distortion_limit: int | None = 6
    dense: DenseSet = DenseSet.FULL14
    max_span: int = 20
    """Of hierarchical rules, in source words."""
    features: tuple[str, ...] = ()
    """Sparse templates, by name."""
    n_folds: int = 1
    fold_seed: int = 0
    text: TextSettings = field(default_factory=TextSettings)

    def view_config(self, fold: int | None) -> PhraseViewConfig:
        """How the grammar is seen, all data or all but a fold."""
        return PhraseViewConfig(
            excluded_fold=fold,
            max_targets=self.max_targets,
            min_count=self.min_count,
            smoothing=self.smoothing,
            reordering=self.reordering,
        )

    def rule_view_config(self, fold: int | None) -> RuleViewConfig:
        """The same for a grammar of rules."""
        return RuleViewConfig(excluded_fold=fold, max_targets=self.max_targets)

    def to_json(self) -> dict[str, Any]:
        """Plain data that from_json reads."""
        return {
            "model": self.model.value,
            "reordering": [[model.kind.value, model.n_orientations] for model in self.reordering],
            "smoothing": self.smoothing.value,
            "max_targets": self.max_targets,
            "min_count": self.min_count,
            "distortion_limit": self.distortion_limit,
            "dense": self.dense.value,
            "max_span": self.max_span,
            "features": list(self.features),
            "n_folds": self.n_folds,
            "fold_seed": self.fold_seed,
            "text": {
                "source_language": self.text.source_language,
                "target_language": self.text.target_language,
                "lowercase": self.text.lowercase,
            },
        }

    @classmethod
    def from_json(cls, data: Any) -> SystemSettings:
        """Rebuild what to_json gave. Raises InputError when it is something else."""
        try:
            limit = data["distortion_limit"]
            return cls(
                model=ModelKind(data["model"]),
                reordering=tuple(
                    Reordering(kind=ReorderingKind(kind), n_orientations=int(n)) for kind, n in data["reordering"]
                ),
                smoothing=PhraseSmoothing(data["smoothing"]),
                max_targets=int(data["max_targets"]),
                min_count=int(data["min_count"]),
                distortion_limit=None if limit is None else int(limit),
                dense=DenseSet(data["dense"]),
                max_span=int(data["max_span"]),
                features=tuple(str(name) for name in data["features"]),
                n_folds=int(data["n_folds"]),
                fold_seed=int(data["fold_seed"]),
                text=TextSettings(**data["text"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"has settings that this program does not know: {error}") from error
