"""Tags in translations are well-formed wherever those of the source are, whatever the word alignment."""

from __future__ import annotations

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpus.tokens.tags import put_tags, take_tags

PAIRS = st.deferred(
    lambda: st.builds(lambda name, inner: [f"<t{name}>", *inner, f"</t{name}>"], st.integers(0, 2), SENTENCES)
)
SENTENCES = st.lists(st.one_of(st.just(["w"]), st.just(["<br/>"]), PAIRS), max_size=5).map(
    lambda parts: [*chain.from_iterable(parts)]
)
"""Sentences of words, single tags and pairs inside one another."""


def is_well_formed(tokens):
    opened = []
    for token in tokens:
        if token.startswith("</"):
            if not opened or opened.pop() != token[2:-1]:
                return False
        elif token.startswith("<") and not token.endswith("/>"):
            opened.append(token[1:-1])
    return not opened


@given(SENTENCES, st.integers(0, 6), st.randoms(use_true_random=False))
def test_tags_stay_well_formed(tokens, n_target, rng):
    words, tags = take_tags(tokens)
    assert [token for token in tokens if token == "w"] == words
    target = [f"x{i}" for i in range(n_target)]
    n_links = rng.randrange(2 * n_target + 1) if words else 0
    put = put_tags(target, [(rng.randrange(len(words)), rng.randrange(n_target)) for _ in range(n_links)], tags)
    assert [token for token in put if token.startswith("x")] == target
    assert sorted(put) == sorted([*target, *(tag.token for tag in tags)])
    assert is_well_formed(put)


def test_pairs_that_would_cross_stand_one_after_the_other():
    words, tags = take_tags(["<b>", "a", "b", "</b>", "<i>", "c", "d", "</i>"])
    assert words == ["a", "b", "c", "d"]
    put = put_tags(["A", "C", "B", "D"], [(0, 0), (1, 2), (2, 1), (3, 3)], tags)
    assert put == ["<b>", "A", "C", "B", "</b>", "<i>", "D", "</i>"]
    inside = put_tags(["A", "C", "D", "B"], [(0, 0), (1, 3), (2, 1), (3, 2)], tags)
    assert inside == ["<b>", "A", "<i>", "C", "D", "</i>", "B", "</b>"]
