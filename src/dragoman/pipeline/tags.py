"""Tags of a sentence: taken out before it is translated, and put back by the word alignment.

A pair of tags encloses the translation of what it enclosed; a tag alone stands before the translation of what follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dragoman.pipeline.spans import is_span
from dragoman.pipeline.tokenizer import GLUE, bare

__all__ = ["Tag", "put_tags", "take_tags"]


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag as a token, and the words of the sentence without tags that it stands for: [begin, end)."""

    token: str
    begin: int
    end: int
    closes: bool = False


def take_tags(tokens: Sequence[str]) -> tuple[list[str], list[Tag]]:
    """The tokens without tags, and the tags in their order."""
    words: list[str] = []
    places: list[tuple[str, int]] = []
    for token in tokens:
        if "<" in token and _is_tag(token.strip(GLUE)):
            places.append((token, len(words)))
        else:
            words.append(token)
    ends: dict[int, int] = {}
    opened: list[int] = []
    closing = set()
    for number, (token, place) in enumerate(places):
        text = bare(token)
        if text.startswith("</"):
            match = next((o for o in reversed(opened) if _name(bare(places[o][0])) == _name(text)), None)
            if match is not None:
                ends[match], ends[number] = place, places[match][1]
                closing.add(number)
                del opened[opened.index(match) :]
        elif not text.endswith("/>"):
            opened.append(number)
    tags = []
    for number, (token, place) in enumerate(places):
        begin, end = sorted((place, ends.get(number, len(words))))
        tags.append(Tag(token, begin, end, number in closing))
    return words, tags


def put_tags(target: Sequence[str], links: Iterable[tuple[int, int]], tags: Sequence[Tag]) -> list[str]:
    """Target tokens with the tags, given the word links (source, target) of the translation."""
    if not target:
        return [tag.token for tag in tags]
    linked = list(links)
    before: list[list[str]] = [[] for _ in range(len(target) + 1)]
    after: list[list[str]] = [[] for _ in range(len(target) + 1)]
    last = 0
    for tag in tags:
        places = [t for s, t in linked if tag.begin <= s < tag.end]
        if tag.closes:
            # Where nothing inside is linked, the pair stays together, the opening tag first.
            place = max(places) + 1 if places else last
            (after if places else before)[place].append(tag.token)
        else:
            following = [s for s, _ in linked if s >= tag.begin]
            places = places or [t for s, t in linked if following and s == min(following)]
            place = min(places) if places else len(target)
            before[place].append(tag.token)
        last = place
    out: list[str] = []
    for place in range(len(target) + 1):
        out += after[place]
        out += before[place]
        out += target[place : place + 1]
    return out


def _is_tag(text: str) -> bool:
    return text.startswith("<") and text.endswith(">") and is_span(text)


def _name(tag: str) -> str:
    return tag.strip("</>").split(" ")[0]
