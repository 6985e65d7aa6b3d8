"""Features for candidates by name. A further one is a class in a file of its own and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from dragoman.candidates.features.agreement import Agreement
from dragoman.candidates.features.base import CandidateFeature, SparseCandidateFeature
from dragoman.candidates.features.language_model import LmScores
from dragoman.candidates.features.lengths import Lengths
from dragoman.candidates.features.named_scores import NamedScore
from dragoman.candidates.features.surface import Copies, Punctuation, Repeats
from dragoman.errors import InputError

__all__ = ["CANDIDATE_FEATURES", "make_candidate_features"]


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


CANDIDATE_FEATURES: Mapping[str, Callable[[str | None], CandidateFeature]] = MappingProxyType(
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
"""By the name in `--add NAME` or `--add NAME=ARGUMENT`."""


def make_candidate_features(told: Sequence[str]) -> list[tuple[CandidateFeature, tuple[str, ...]]]:
    """Features by `NAME` or `NAME=ARGUMENT`, and what they call their columns: `lm_score_2` of a second model.

    Raises InputError for an unknown name or a wrong argument.
    """
    made = []
    taken: dict[str, int] = {}
    for text in told:
        name, _, argument = text.partition("=")
        if name not in CANDIDATE_FEATURES:
            raise InputError(f"'{name}' is no feature for candidates; expected one of {', '.join(CANDIDATE_FEATURES)}")
        feature = CANDIDATE_FEATURES[name](argument or None)
        if isinstance(feature, SparseCandidateFeature):
            if feature.stem in taken:
                raise InputError(f"'{name}' can be added once; its features would have the same names")
            taken[feature.stem] = 1
        columns = []
        for column in feature.names:
            taken[column] = taken.get(column, 0) + 1
            columns.append(column if taken[column] == 1 else f"{column}_{taken[column]}")
        made.append((feature, tuple(columns)))
    return made
