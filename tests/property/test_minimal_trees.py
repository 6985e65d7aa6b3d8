"""Minimal trees are the tight phrase pairs that cross no other, for any links."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.align import Alignment, TreeNodeKind, minimal_trees
from dragoman.errors import InputError, MismatchError

Links = list[tuple[int, int]]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[int, int, Links]:
    n, m = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    if draw(st.booleans()):  # a permutation with few links missing or added
        order = draw(st.permutations(range(max(n, m))))
        links = {(i, j) for i, j in enumerate(order) if i < n and j < m}
        links ^= draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=3))
    else:
        links = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=12))
    return n, m, sorted(links)


def tight_spans(n: int, links: Links) -> dict[tuple[int, int], tuple[int, int]]:
    """By source span, the target span, of all tight phrase pairs."""
    found = {}
    aligned = {i for i, _ in links}
    for begin in range(n):
        for end in range(begin + 1, n + 1):
            partners = [j for i, j in links if begin <= i < end]
            if begin not in aligned or end - 1 not in aligned:
                continue
            low, high = min(partners), max(partners) + 1
            if all(begin <= i < end for i, j in links if low <= j < high):
                found[begin, end] = (low, high)
    return found


def crosses(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


@given(pairs())
def test_the_nodes_are_the_tight_spans_that_cross_no_other(pair: tuple[int, int, Links]) -> None:
    n, m, links = pair
    trees = minimal_trees(Alignment.of([links]), np.array([n]), np.array([m]))
    spans = [tuple(row) for row in trees.spans.tolist()]
    kinds, parents = trees.kinds.tolist(), trees.parents.tolist()
    assert spans[-1] == (0, n, 0, m)
    assert parents[-1] == -1
    tight = tight_spans(n, links)
    strong = {span for span in tight if not any(crosses(span, other) for other in tight)}
    if links:
        top = (links[0][0], links[-1][0] + 1)
        assert top in strong
        expected = {(*span, *tight[span]) for span in strong if span != top} | {(0, n, 0, m)}
        assert {s for s, kind in zip(spans, kinds, strict=True) if kind != TreeNodeKind.PART} == expected
    else:
        assert len(spans) == 1
    assert len(set(spans)) == len(spans)
    children: dict[int, list[int]] = {}
    for place, parent in enumerate(parents[:-1]):
        assert place < parent
        outer, inner = spans[parent], spans[place]
        assert outer[0] <= inner[0] < inner[1] <= outer[1]
        assert outer[2] <= inner[2] < inner[3] <= outer[3]
        children.setdefault(parent, []).append(place)
    for place, kind in enumerate(kinds):
        below = children.get(place, [])
        assert below == sorted(below, key=lambda child: spans[child])
        if kind == TreeNodeKind.PLAIN:
            assert len(below) != 2 or {i for i, _ in links if spans[place][0] <= i < spans[place][1]} - {
                i for child in below for i in range(*spans[child][:2])
            }
            continue
        assert len(below) == 2  # rows are binary
        first, second = spans[below[0]], spans[below[1]]
        if kind == TreeNodeKind.PART:
            assert (*spans[place][:2],) in set(tight) - strong
            assert kinds[below[1]] != TreeNodeKind.PART
        else:
            assert (first[2] < second[2]) == (kind == TreeNodeKind.MONOTONE)


def test_2413_is_one_node() -> None:
    trees = minimal_trees(Alignment.of([[(0, 1), (1, 3), (2, 0), (3, 2)]]), np.array([4]), np.array([4]))
    assert trees.spans.tolist()[-1] == [0, 4, 0, 4]
    assert trees.kinds.tolist() == [0] * 5
    assert trees.parents.tolist() == [4, 4, 4, 4, -1]


def test_many_pairs_are_the_same_for_any_number_of_threads_and_long_ones_work() -> None:
    rng = np.random.default_rng(3)
    lengths = np.array([0, 1, 3, *rng.integers(1, 30, 150), 4096])
    rows = [sorted({(int(i), int(j)) for i, j in rng.integers(0, max(1, n), (n, 2))}) for n in lengths]
    rows[-1] = [(i, 4095 - i) for i in range(4096)]
    alignment = Alignment.of(rows)
    one, three = (minimal_trees(alignment, lengths, lengths, n_threads=n) for n in (1, 3))
    for name in ("offsets", "spans", "parents", "kinds"):
        assert np.array_equal(getattr(one, name), getattr(three, name))
    assert one.offsets[1] == 0
    assert one.offsets[-1] - one.offsets[-2] == 2 * 4096 - 1


def test_links_outside_are_refused() -> None:
    with pytest.raises(InputError, match="outside the sentence pair"):
        minimal_trees(Alignment.of([[(0, 0)], [(0, 2)]]), np.array([1, 1]), np.array([1, 2]))
    with pytest.raises(MismatchError):
        minimal_trees(Alignment.of([[(0, 0)]]), np.array([1, 1]), np.array([1, 2]))
