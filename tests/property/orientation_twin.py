"""Orientations of phrases to the blocks before them, by definition."""

from __future__ import annotations


def suffix_blocks(spans):
    """All blocks that end with the last span: a span, or two adjacent blocks side by side (by definition, no stack)."""
    k = len(spans)
    block = {(i, i): spans[i] for i in range(k)}
    for length in range(2, k + 1):
        for i in range(k - length + 1):
            j = i + length - 1
            for m in range(i, j):
                a, b = block.get((i, m)), block.get((m + 1, j))
                if a and b and (a[1] == b[0] or b[1] == a[0]):
                    block[i, j] = (min(a[0], b[0]), max(a[1], b[1]))
    return [block[i, k - 1] for i in range(k) if (i, k - 1) in block]


def top_block(spans):
    """The largest block that ends with the last span, and the number of spans in it."""
    top = max(suffix_blocks(spans), key=lambda block: block[1] - block[0])
    return top, sum(top[0] <= begin and end <= top[1] for begin, end in spans)


def gap_words(block, current):
    """Places between a block and a span."""
    return range(block[1], current[0]) if current[0] >= block[1] else range(current[1], block[0])


def backward_by_blocks(spans, current):
    blocks = suffix_blocks(spans) if spans else [(0, 0)]
    covered = {p for span in spans for p in range(*span)}
    if any(block[1] == current[0] for block in blocks):
        return "g" if covered == set(range(current[0])) else "m"
    if any(block[0] == current[1] for block in blocks):
        return "s"
    largest = max(blocks, key=lambda block: block[1] - block[0])
    return "r" if current[0] > largest[1] else "l"
