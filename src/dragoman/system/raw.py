"""Raw text in, detokenised text out."""

from __future__ import annotations

from dragoman.errors import InputError
from dragoman.system.settings import TextSettings
from dragoman.text import MosesText

__all__ = ["RawText"]


class RawText:
    """Tokenises, and lowercases if trained so; `restore` detokenises and capitalises the first letter."""

    def __init__(self, settings: TextSettings) -> None:
        if settings.source_language is None or settings.target_language is None:
            raise InputError(
                "the system does not know its languages, so it cannot tokenise; train it with --languages, such as "
                "de-en, or tokenise the text yourself"
            )
        self._source = MosesText(settings.source_language)
        self._target = MosesText(settings.target_language)
        self._lowercase = settings.lowercase

    def prepare(self, line: str) -> str:
        tokens = self._source.tokenize(line)
        return tokens.lower() if self._lowercase else tokens

    def prepare_target(self, line: str) -> str:
        tokens = self._target.tokenize(line)
        return tokens.lower() if self._lowercase else tokens

    def restore(self, line: str) -> str:
        text = self._target.detokenize(line)
        if not self._lowercase:
            return text
        place = next((i for i, char in enumerate(text) if char.isalnum()), 0)
        return text[:place] + text[place : place + 1].upper() + text[place + 1 :]
