"""What a system was built with: the part of its manifest that says how to use the tables."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypeVar

from dragoman.corpus import check_class_sizes
from dragoman.corpus.tokens import TextSettings
from dragoman.errors import InputError
from dragoman.grammar import (
    PhraseSmoothing,
    PhraseViewConfig,
    Reordering,
    ReorderingKind,
    RuleExtraction,
    RuleViewConfig,
)
from dragoman.settings import Record, convert, from_values, listed, plain

__all__ = [
    "REORDERING",
    "DenseSet",
    "HieroSettings",
    "ModelSettings",
    "PhraseSettings",
    "SystemSettings",
    "reordering_by_name",
]

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


def reordering_by_name(name: str, called: str = "reordering") -> tuple[Reordering, ...]:
    """The lexicalised reordering models of a name. Raises InputError with those that exist."""
    if name not in REORDERING:
        raise InputError(f"{called} = {name!r}: {listed(name, REORDERING)}")
    return REORDERING[name]


_Model = TypeVar("_Model", bound="ModelSettings")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings(Record):
    """Base of what only one kind of system can be told; `kind` is the kind's name in `KINDS`.

    Its fields are the options of `dragoman train` and the keys of a recipe's system that belong to this kind alone.
    """

    kind: ClassVar[str]
    fewer: ClassVar[str] = "`max_length`"
    """The settings that make an extraction smaller, as an advice names them."""
    _known: ClassVar[dict[str, type[ModelSettings]]] = {}

    def __init_subclass__(cls) -> None:
        ModelSettings._known[cls.kind] = cls

    @staticmethod
    def of_kind(name: str) -> type[ModelSettings]:
        """The settings of a kind by its name. Raises KeyError."""
        return ModelSettings._known[name]

    @classmethod
    def options(cls) -> dict[str, Any]:
        hints = typing.get_type_hints(cls)
        return {item.name: hints[item.name] for item in dataclasses.fields(cls)}

    @classmethod
    def option(cls, name: str, value: object, called: str) -> Any:
        """The value of a field from what people write: reordering models by name, -1 for no limit.

        Raises InputError, which calls it `called`.
        """
        hint = cls.options()[name]
        if hint == tuple[Reordering, ...] and isinstance(value, str):
            return reordering_by_name(value, called)
        return None if value == -1 and types.NoneType in typing.get_args(hint) else convert(value, hint, called)

    @property
    def extraction_memory(self) -> int:
        """Bytes that the occurrences of an extraction may take, unless a limit says otherwise."""
        return 4 << 30

    def extraction_rates(self, n_pairs: int) -> tuple[float, float, float, float]:
        """Of so many pairs: occurrences of a source word, distinct pairs of an occurrence, bytes of a pair on disk and
        of its rows.
        """
        return 5.5, 0.75, 90.0, 34.0

    def to_json(self) -> dict[str, Any]:
        return dict(plain(self))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return from_values(cls, {name: data[name] for name in cls.options()}, name=f"a system of model {cls.kind}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseSettings(ModelSettings):
    """Of a phrase-based system."""

    kind: ClassVar[str] = "phrase"

    reordering: tuple[Reordering, ...] = REORDERING["hrm"]
    """hrm is better than msd on every corpus that was measured (docs/experiments/phrase.md)."""
    smoothing: PhraseSmoothing = PhraseSmoothing.NONE
    max_phrase_length: int = 7
    """Words a side; where phrases were extracted."""
    min_count: int = 1
    distortion_limit: int | None = 6
    """Longest jump in source words; None: no limit."""

    def _check(self) -> None:
        if self.distortion_limit is not None and self.distortion_limit < 0:
            raise InputError(f"the distortion limit must not be negative, but is {self.distortion_limit}")

    def extraction_rates(self, n_pairs: int) -> tuple[float, float, float, float]:
        return 5.5 * min(1.0, self.max_phrase_length / 7), 0.75, 90.0, 34.0

    def view_config(self, max_targets: int, fold: int | None) -> PhraseViewConfig:
        """How the grammar is seen, all data or all but a fold."""
        return PhraseViewConfig(
            excluded_fold=fold,
            max_targets=max_targets,
            min_count=self.min_count,
            smoothing=self.smoothing,
            reordering=self.reordering,
        )


_NEWER_RULE_SETTINGS = frozenset({"cut", "added", "max_added"})


class DenseSet(enum.StrEnum):
    """Dense features of a hierarchical system."""

    CHIANG8 = "chiang8"
    FULL14 = "full14"


@dataclass(frozen=True, slots=True, kw_only=True)
class HieroSettings(ModelSettings):
    """Of a hierarchical system."""

    kind: ClassVar[str] = "hiero"
    fewer: ClassVar[str] = "`max_length=7`, `min_count=2`, `tight=True`"

    dense: DenseSet = DenseSet.FULL14
    max_span: int = 20
    """Most source words that a rule covers."""
    rules: RuleExtraction = field(default_factory=RuleExtraction)
    """How rules were extracted; the number of threads is that of the training."""

    def _check(self) -> None:
        if self.max_span < 1:
            raise InputError(f"a rule covers at least one word, so max_span cannot be {self.max_span}")

    @property
    def extraction_memory(self) -> int:
        return self.rules.max_memory_bytes

    def extraction_rates(self, n_pairs: int) -> tuple[float, float, float, float]:
        per_word = 30.0 if self.rules.is_tight(n_pairs) else 70.0
        return per_word * (self.rules.max_length / 10) ** 2, 0.45, 80.0, 34.0

    def view_config(self, max_targets: int, fold: int | None, *, added: bool = False) -> RuleViewConfig:
        """How the grammar is seen, all data or all but a fold; decoders do not see added rules."""
        return RuleViewConfig(excluded_fold=fold, max_targets=max_targets, added=added)

    def to_json(self) -> dict[str, Any]:
        # A system that uses none of the newer settings is what it was before there were any.
        usual = plain(RuleExtraction())
        rules = {
            name: value
            for name, value in plain(self.rules).items()
            if name not in _NEWER_RULE_SETTINGS or value != usual[name]
        }
        return {**plain(self), "rules": rules}


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSettings(Record):
    """Everything but the tables and the weights."""

    model: ModelSettings = field(default_factory=PhraseSettings)
    """Settings of the kind of system, which they name."""
    max_targets: int = 20
    """Best translations of a source side; 0: all."""
    features: tuple[str, ...] = ()
    """Sparse templates, by name."""
    n_folds: int = 1
    fold_seed: int = 0
    text: TextSettings = field(default_factory=TextSettings)
    classes: tuple[int, ...] = ()
    """How many word classes each level has, of both sides; empty: the system has no classes."""

    def _check(self) -> None:
        if self.classes:
            check_class_sizes(self.classes)

    @property
    def kind(self) -> str:
        return self.model.kind

    def of(self, model: type[_Model]) -> _Model:
        """The settings of the model, which must be of this type."""
        if not isinstance(self.model, model):
            raise TypeError(f"{model.__name__} were expected, not {type(self.model).__name__}")
        return self.model

    def to_json(self) -> dict[str, Any]:
        """Plain data that from_json reads: the name of the kind, its settings, and those that all kinds have."""
        common = plain(self)
        del common["model"]
        common["text"] = self.text.to_json()
        if not self.classes:
            del common["classes"]  # a system without them is what it was before there were any
        return {"model": self.kind, **self.model.to_json(), **common}

    @classmethod
    def from_json(cls, data: Any) -> SystemSettings:
        """Rebuild what to_json gave. Raises InputError when it is something else."""
        try:
            model = ModelSettings.of_kind(data["model"]).from_json(data)
            names = [item.name for item in dataclasses.fields(cls) if item.name != "model"]
            values = {"classes": (), **data}
            return replace(from_values(cls, {name: values[name] for name in names}, name="a system"), model=model)
        except (InputError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"has settings that this program does not know: {error}") from error
