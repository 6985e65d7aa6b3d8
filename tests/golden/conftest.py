"""Real text with the alignment that Moses' tables were made from."""

from __future__ import annotations

import pytest

from dragoman.align import read_pharaoh
from dragoman.corpus import Bitext


@pytest.fixture(scope="module")
def corpus(data, anchors, tmp_path_factory):
    folder = tmp_path_factory.mktemp("moses")
    bitext = Bitext.build(data / "enja/train.ja.xz", data / "enja/train.en.xz", folder / "bitext", n_folds=5)
    lengths = bitext.source.lengths(), bitext.target.lengths()
    return folder, bitext, read_pharaoh(anchors / "moses-enja/train.align.xz", lengths=lengths)
