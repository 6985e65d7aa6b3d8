"""What a system says of its text."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from dragoman.corpus.tokens.scripts import check_language
from dragoman.errors import InputError
from dragoman.settings import Record

__all__ = ["TextSettings", "parse_languages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSettings(Record):
    """How raw text becomes what the system was trained on."""

    source_language: str | None = None
    target_language: str | None = None
    """Codes such as `de`. None: not known; a system with `raw` then takes no account of the language."""
    lowercase: bool = False
    raw: bool = False
    """Whether the system was trained on raw text, so that it takes raw text and gives it. Its file `text` says how."""
    truecase: bool = True
    """Of a raw system: words that begin a sentence are in the form that they have elsewhere."""
    split_unknown: bool | None = None
    """Whether source words that the tables lack are split into words that they have; None: those of raw text are."""

    @property
    def splits(self) -> bool:
        return self.raw if self.split_unknown is None else self.split_unknown

    def to_json(self) -> dict[str, Any]:
        """Plain data; what a system of tokenised text does not need is left out."""
        plain = asdict(self)
        usual = TextSettings()
        kept = ("source_language", "target_language", "lowercase")
        return {name: value for name, value in plain.items() if name in kept or value != getattr(usual, name)}

    def with_languages(self, languages: str | None) -> TextSettings:
        """The same with other languages, such as `de-en`; None changes nothing."""
        if languages is None:
            return self
        source, target = parse_languages(languages)
        return replace(self, source_language=source, target_language=target)


def parse_languages(languages: str) -> tuple[str, str]:
    """Source and target of a pair such as `de-en`. Raises InputError."""
    source, dash, target = languages.partition("-")
    if not dash or not (check_language(source) and check_language(target)):
        raise InputError(f"`languages={languages}`: two codes such as de-en were expected")
    return source, target
