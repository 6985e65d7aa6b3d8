"""Agreement with alignments that fast_align made (both directions, grow-diag-final-and)."""

from __future__ import annotations

import pytest

from dragoman.align import (
    AlignConfig,
    Direction,
    FastConfig,
    Symmetrization,
    align,
    read_pharaoh,
    symmetrize,
    train_fast,
)
from dragoman.corpus import Side

pytestmark = pytest.mark.realdata
CORPORA = [("enja", "ja", "moses-enja"), ("multi30k", "de", "moses-multi30k-de")]


def load(data, anchors, corpus, language, anchor):
    source, target = (Side.read(data / corpus / f"train.{name}.xz") for name in (language, "en"))
    lengths = source.lengths(), target.lengths()
    return source, target, read_pharaoh(anchors / anchor / "train.align.xz", lengths=lengths)


@pytest.mark.parametrize(
    ("corpus", "tensions", "least"), [(CORPORA[0], (7.0, 1.0), 0.88), (CORPORA[1], (5.5, 5.5), 0.965)]
)
def test_with_its_settings(data, anchors, corpus, tensions, least):
    """Its four updates and null probability, a fixed tension near where its own went: docs/alignment.md says why."""
    source, target, anchor = load(data, anchors, *corpus)
    directions = [
        train_fast(
            source,
            target,
            direction,
            FastConfig(n_iterations=4, null_prob=0.08, tension=tension, fit_tension=False),
            max_length=200,
            n_threads=2,
        )[0]
        for direction, tension in zip(Direction, tensions, strict=True)
    ]
    assert symmetrize(*directions, Symmetrization.GROW_DIAG_FINAL_AND).agreement(anchor).f1 > least


@pytest.mark.parametrize(("corpus", "least", "between"), [(CORPORA[0], 0.70, 0.63), (CORPORA[1], 0.90, 0.83)])
def test_with_ours(data, anchors, corpus, least, between):
    source, target, anchor = load(data, anchors, *corpus)
    result = align(source, target, AlignConfig(), n_threads=2)
    assert result.n_empty == result.n_too_long == 0
    assert result.alignment.agreement(anchor).f1 > least
    assert result.agreement.f1 > between
