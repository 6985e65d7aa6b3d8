"""Sums over shards: the same additions, whoever makes them and in how many goes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.work.engine import Node, TreeSum


def joined(left, right):
    """An addition that neither commutes nor associates, like that of floating-point numbers."""
    return f"({left}{right})"


def put_all(tree, shards):
    for shard in shards:
        tree.put(shard, f"<{shard}>")
    return tree


def whole(n):
    return put_all(TreeSum(joined), range(n))


@pytest.mark.parametrize(
    ("n", "total"),
    [
        (1, "<0>"),
        (2, "(<0><1>)"),
        (3, "((<0><1>)<2>)"),
        (5, "(((<0><1>)(<2><3>))<4>)"),
        (7, "(((<0><1>)(<2><3>))((<4><5>)<6>))"),
    ],
)
def test_the_tree_is_fixed_by_the_number_of_shards(n, total):
    assert whole(n).total() == total


@given(st.data())
def test_any_split_into_parts_makes_the_same_additions(data):
    n = data.draw(st.integers(1, 60))
    cuts = sorted(data.draw(st.sets(st.integers(1, n), max_size=6)))
    ranges = list(zip([0, *cuts], [*cuts, n], strict=True))
    parts = [put_all(TreeSum(joined), range(*each)) for each in ranges]
    order = data.draw(st.permutations(parts))
    assert TreeSum(joined, [node for part in order for node in part.nodes]).total() == whole(n).total()


@given(st.data())
def test_a_sum_resumed_any_number_of_times_makes_the_same_additions(data):
    n = data.draw(st.integers(1, 60))
    tree = TreeSum(joined)
    for shard in range(n):
        tree.put(shard, f"<{shard}>")
        if data.draw(st.booleans()):
            tree = TreeSum(joined, reversed(tree.nodes))
    assert tree.total() == whole(n).total()
    assert tree.nodes == whole(n).nodes


@given(st.integers(1, 3000))
def test_few_nodes_are_kept(n):
    tree = TreeSum(int.__add__)
    for shard in range(n):
        tree.put(shard, shard)
    assert len(tree.nodes) == n.bit_count()
    assert tree.total() == n * (n - 1) // 2


@given(st.sets(st.integers(0, 30)), st.integers(1, 35))
def test_missing_ranges(shards, n):
    tree = put_all(TreeSum(joined), sorted(shards))
    found = {shard for begin, end in tree.missing(n) for shard in range(begin, end)}
    assert found == set(range(n)) - shards


def test_what_is_not_a_sum_is_refused():
    with pytest.raises(ValueError, match="missing"):
        TreeSum(joined).total()
    with pytest.raises(ValueError, match="missing"):
        put_all(TreeSum(joined), [0, 2]).total()
    with pytest.raises(ValueError, match="shard 1 is there already"):
        put_all(TreeSum(joined), [0, 1, 1])
    with pytest.raises(ValueError, match="shard 0 is there already"):
        TreeSum(joined, [Node(1, 0, "a"), Node(0, 0, "b")])


def test_an_interrupted_addition_leaves_the_sum_as_it_was():
    interrupted = True

    def add(left, right):
        if interrupted and left == "(<0><1>)":
            raise KeyboardInterrupt
        return joined(left, right)

    tree = put_all(TreeSum(add), range(3))
    before = tree.nodes
    with pytest.raises(KeyboardInterrupt):
        tree.put(3, "<3>")
    assert tree.nodes == before
    interrupted = False
    assert put_all(tree, [3]).nodes == whole(4).nodes
