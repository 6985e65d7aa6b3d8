"""Features for candidates by name. A further one is a class in a file of its own and a line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dragoman import register
from dragoman.candidates.features.agreement import Agreement
from dragoman.candidates.features.base import CandidateFeature, SparseCandidateFeature
from dragoman.candidates.features.language_model import LmScores
from dragoman.candidates.features.lengths import Lengths
from dragoman.candidates.features.named_scores import NamedScore
from dragoman.candidates.features.surface import Copies, Punctuation, Repeats
from dragoman.errors import InputError
from dragoman.register import Registry, subclass_of

__all__ = ["CANDIDATE_FEATURES", "feature_makers", "make_candidate_features"]


def _translations(argument: str | None) -> CandidateFeature:
    from dragoman.candidates.features.translation import WordTranslations  # systems are heavy to import

    return WordTranslations(argument)


def _forced(argument: str | None) -> CandidateFeature:
    from dragoman.candidates.features.forced import ForcedDerivations

    return ForcedDerivations(argument)


def _word_pairs(argument: str | None) -> CandidateFeature:
    from dragoman.candidates.features.linked_words import WordPairs

    return WordPairs(argument)


def _contexts(argument: str | None) -> CandidateFeature:
    from dragoman.candidates.features.linked_words import Contexts

    return Contexts(argument)


CANDIDATE_FEATURES: Registry[Callable[[str | None], CandidateFeature]] = register.CANDIDATE_FEATURES
"""By the name in `--add NAME` or `--add NAME=ARGUMENT`: classes, or functions that make a feature."""

CANDIDATE_FEATURES.add_all(
    {
        "agreement": Agreement,
        "contexts": _contexts,
        "copies": Copies,
        "forced": _forced,
        "length": Lengths,
        "lm": LmScores,
        "punctuation": Punctuation,
        "repeats": Repeats,
        "score": NamedScore,
        "system": _translations,
        "word-pairs": _word_pairs,
    }
)


def make_candidate_features(
    told: Sequence[str | CandidateFeature],
) -> list[tuple[CandidateFeature, tuple[str, ...]]]:
    """Features, also by `NAME` or `NAME=ARGUMENT`, and what they call their columns: `lm_score_2` of a second model.

    Raises InputError for an unknown name or a wrong argument.
    """
    made = []
    taken: dict[str, int] = {}
    for each in told:
        feature = _made(each) if isinstance(each, str) else each
        if isinstance(feature, SparseCandidateFeature):
            if feature.stem in taken:
                raise InputError(f"'{_called(each)}' can be added once; its features would have the same names")
            taken[feature.stem] = 1
        columns = []
        for column in feature.names:
            taken[column] = taken.get(column, 0) + 1
            columns.append(column if taken[column] == 1 else f"{column}_{taken[column]}")
        made.append((feature, tuple(columns)))
    return made


def feature_makers(told: Sequence[str]) -> list[Callable[[str | None], CandidateFeature]]:
    """What makes features by `NAME` or `NAME=ARGUMENT`. Raises InputError for an unknown name."""
    return [CANDIDATE_FEATURES.named(each.partition("=")[0]) for each in told]


def _made(told: str) -> CandidateFeature:
    name, _, argument = told.partition("=")
    [make] = feature_makers([told])
    if isinstance(make, type):
        subclass_of(CandidateFeature, make, name)
    feature: CandidateFeature = make(argument or None)
    return feature


def _called(told: str | CandidateFeature) -> str:
    return told.partition("=")[0] if isinstance(told, str) else type(told).__name__
