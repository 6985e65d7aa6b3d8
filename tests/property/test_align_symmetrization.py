"""Symmetrisation equals a plainly written twin on sets and grids."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.align import Alignment, Symmetrization, symmetrize


@st.composite
def directions(draw):
    """Two sets of links with a shared part, dense enough for every rule to matter."""
    links = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)
    shared = draw(links)
    return shared | draw(links), shared | draw(links)


STRAIGHT = [(-1, 0), (1, 0), (0, -1), (0, 1)]
AROUND = [*STRAIGHT, (-1, -1), (-1, 1), (1, -1), (1, 1)]


def sources(chosen):
    return {s for s, _ in chosen}


def targets(chosen):
    return {t for _, t in chosen}


def one_free(link, chosen):
    return link[0] not in sources(chosen) or link[1] not in targets(chosen)


def both_free(link, chosen):
    return link[0] not in sources(chosen) and link[1] not in targets(chosen)


def adjacent(link, chosen):
    return any((link[0] + ds, link[1] + dt) in chosen for ds, dt in AROUND)


def has_horizontal(link, chosen):
    return any((link[0], link[1] + step) in chosen for step in (-1, 1))


def has_vertical(link, chosen):
    return any((link[0] + step, link[1]) in chosen for step in (-1, 1))


def may_refine(link, chosen):
    if both_free(link, chosen):
        return True
    if not (has_horizontal(link, chosen) or has_vertical(link, chosen)):
        return False
    after = chosen | {link}
    # Elsewhere nothing changes: a link that had both kinds of neighbour before does not forbid this one.
    changed = {link} | {(link[0] + ds, link[1] + dt) for ds, dt in STRAIGHT} & after
    return not any(has_horizontal(other, after) and has_vertical(other, after) for other in changed)


def grow(chosen, candidates, may_add):
    while True:
        before = set(chosen)
        for link in sorted(candidates):
            if link not in chosen and may_add(link, chosen):
                chosen = chosen | {link}
        if chosen == before:
            return chosen


def twin(forward, reverse, method):
    union, both = forward | reverse, forward & reverse
    match method:
        case Symmetrization.INTERSECTION:
            return both
        case Symmetrization.UNION:
            return union
        case Symmetrization.REFINED:
            return grow(both, union, may_refine)
        case Symmetrization.GROW_DIAG_AND:
            return grow(both, union, lambda x, a: both_free(x, a) and adjacent(x, a))
    chosen = grow(both, union, lambda x, a: one_free(x, a) and adjacent(x, a))
    if method is not Symmetrization.GROW_DIAG:
        is_free = both_free if method is Symmetrization.GROW_DIAG_FINAL_AND else one_free
        for direction in (forward, reverse):
            for link in sorted(direction):
                if link not in chosen and is_free(link, chosen):
                    chosen = chosen | {link}
    return chosen


@settings(max_examples=200)
@given(st.lists(directions(), max_size=4), st.sampled_from(Symmetrization), st.integers(1, 3))
def test_equals_the_twin(sentences, method, n_threads):
    forward = Alignment.of(f for f, _ in sentences)
    reverse = Alignment.of(r for _, r in sentences)
    result = symmetrize(forward, reverse, method, n_threads=n_threads)
    assert list(result) == [sorted(twin(f, r, method)) for f, r in sentences]
