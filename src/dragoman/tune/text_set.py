"""The sentences of a set and their references, from files."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.errors import InputError, MismatchError
from dragoman.pipeline import TokenLines
from dragoman.pool import read_references
from dragoman.text import read_lines
from dragoman.types import PathLike

__all__ = ["read_set"]


def read_set(
    source: PathLike, references: Sequence[PathLike], text: TokenLines | None = None
) -> tuple[list[str], list[list[str]]]:
    """Sentences, and the references of each, as tokens; `text` makes tokens of what is not.

    Raises InputError for files of other lengths and a set without words.
    """
    sentences, texts = list(read_lines(source)), read_references(references)
    if len(texts) != len(sentences):
        named = ", ".join(map(str, references))
        raise MismatchError(f"{source} has {len(sentences)} lines but its references ({named}) have {len(texts)}")
    if not any(sentence.split() for sentence in sentences):
        raise InputError("has no words to translate", path=source)
    if text is None or text.is_plain:
        return sentences, texts
    return [text.prepare(line) for line in sentences], [
        [text.prepare_target(line) for line in lines] for lines in texts
    ]
