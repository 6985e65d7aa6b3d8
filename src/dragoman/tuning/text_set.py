"""The sentences of a set and their references, from files."""

from __future__ import annotations

from dragoman.candidates import read_references
from dragoman.errors import InputError, MismatchError
from dragoman.system import SystemView, check_lengths
from dragoman.text import read_lines
from dragoman.types import PathLike, Paths, one_or_many

__all__ = ["read_set"]


def read_set(
    source: PathLike, references: Paths, view: SystemView, *, raw: bool | None = None
) -> tuple[list[str], list[list[str]]]:
    """Sentences for a system, and the references of each, as tokens; `raw` says of what kind the text is.

    Raises InputError for files of other lengths, a set without words, and a sentence too long to be searched.
    """
    references = one_or_many(references)
    sentences, texts = list(read_lines(source)), read_references(references)
    if len(texts) != len(sentences):
        named = ", ".join(map(str, references))
        raise MismatchError(f"{source} has {len(sentences)} lines but its references ({named}) have {len(texts)}")
    if not any(sentence.split() for sentence in sentences):
        raise InputError("has no words to translate", path=source)
    text = view.lines(raw=raw)
    if not text.is_plain:
        sentences = [text.prepare(line) for line in sentences]
        texts = [[text.prepare_target(line) for line in lines] for lines in texts]
    check_lengths(sentences, view.translator.max_words, source)
    return sentences, texts
