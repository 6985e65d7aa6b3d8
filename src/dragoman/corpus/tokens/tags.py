"""Tags of a sentence: taken out before it is translated, and put back by the word alignment.

A pair of tags encloses the translation of what it enclosed; a tag alone stands before the translation of what follows.
Pairs do not cross: one that would begin or end inside another begins after it, or ends before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dragoman.corpus.tokens.spans import is_span
from dragoman.corpus.tokens.tokenizer import GLUE, bare

__all__ = ["Tag", "put_tags", "take_tags"]


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag as a token, and the words of the sentence without tags that it stands for: [begin, end)."""

    token: str
    begin: int
    end: int
    closes: bool = False
    partner: int | None = None
    """The place of the other tag of the pair among the tags."""


def take_tags(tokens: Sequence[str], pairs: Iterable[tuple[int, int]] = ()) -> tuple[list[str], list[Tag]]:
    """The tokens without tags, and the tags in their order. `pairs`: places of other tokens that are taken as such."""
    words: list[str] = []
    places: list[tuple[str, int]] = []
    partner_of = {place: other for pair in pairs for place, other in (pair, pair[::-1])}
    number_of: dict[int, int] = {}
    for place, token in enumerate(tokens):
        if place in partner_of or ("<" in token and _is_tag(token.strip(GLUE))):
            number_of[place] = len(places)
            places.append((token, len(words)))
        else:
            words.append(token)
    partners = {number_of[place]: number_of[other] for place, other in partner_of.items()}
    opened: list[int] = []
    for number, (token, _) in enumerate(places):
        if number in partners:
            continue
        text = bare(token)
        if text.startswith("</"):
            match = next((o for o in reversed(opened) if _name(bare(places[o][0])) == _name(text)), None)
            if match is not None:
                partners[match], partners[number] = number, match
                del opened[opened.index(match) :]
        elif not text.endswith("/>"):
            opened.append(number)
    tags = []
    for number, (token, place) in enumerate(places):
        partner = partners.get(number)
        begin, end = sorted((place, len(words) if partner is None else places[partner][1]))
        tags.append(Tag(token, begin, end, partner is not None and partner < number, partner))
    return words, tags


def put_tags(target: Sequence[str], links: Iterable[tuple[int, int]], tags: Sequence[Tag]) -> list[str]:
    """Target tokens with the tags, given the word links (source, target) of the translation."""
    if not target:
        return [tag.token for tag in tags]
    linked = sorted(links)
    spans = _spans(linked, tags)
    closing: list[list[int]] = [[] for _ in range(len(target) + 1)]
    others: list[list[int]] = [[] for _ in range(len(target) + 1)]
    for number, tag in enumerate(tags):
        if number in spans:
            begin, end = spans[number]
            (closing[end] if tag.closes else others[begin]).append(number)
            continue
        # A pair around nothing stays together, with the pairs inside it, where its first tag is.
        around = next((outer for outer in _enclosing(number, tags) if outer not in spans), number)
        first = min(around, number if tag.partner is None else tag.partner)
        following = next((s for s, _ in linked if s >= tags[first].begin), None)
        others[min((t for s, t in linked if s == following), default=len(target))].append(number)
    out: list[str] = []
    for place in range(len(target) + 1):
        # What began last ends first; of those that began together, what is later among the opening tags.
        ending = sorted(closing[place], key=lambda n: (spans[n][0], tags[n].partner or 0), reverse=True)
        out += [tags[number].token for number in ending]
        # What ends last begins first; tags alone stay where they are among them.
        opening = [number for number in others[place] if number in spans]
        ordered = iter(sorted(opening, key=lambda n: -spans[n][1]))
        out += [tags[next(ordered) if number in spans else number].token for number in others[place]]
        out += target[place : place + 1]
    return out


def _spans(linked: Sequence[tuple[int, int]], tags: Sequence[Tag]) -> dict[int, tuple[int, int]]:
    """The target words [begin, end) of each pair that encloses some, by the numbers of both its tags; none cross."""
    found: dict[int, tuple[int, int]] = {}
    for number, tag in enumerate(tags):
        places = [t for s, t in linked if tag.begin <= s < tag.end]
        if tag.partner is None or tag.closes or not places:
            continue
        begin, end = min(places), max(places) + 1
        enclosing = list(_enclosing(number, tags))
        if any(outer not in found for outer in enclosing):
            continue
        for outer in enclosing:  # another pair may have shortened it
            begin, end = max(begin, found[outer][0]), min(end, found[outer][1])
        crossed = True
        while crossed and begin < end:
            crossed = False
            for first, last in found.values():
                if first < begin < last < end:
                    begin, crossed = last, True
                elif begin < first < end < last:
                    end, crossed = first, True
        if begin < end:
            found[number] = found[tag.partner] = begin, end
    return found


def _enclosing(number: int, tags: Sequence[Tag]) -> Iterator[int]:
    """The opening tags of the pairs around a tag, from the outside; a pair is not around its own tags."""
    for outer, tag in enumerate(tags[:number]):
        if tag.partner is not None and tag.partner > number:
            yield outer


def _is_tag(text: str) -> bool:
    return text.startswith("<") and text.endswith(">") and is_span(text)


def _name(tag: str) -> str:
    return tag.strip("</>").split(" ")[0]
