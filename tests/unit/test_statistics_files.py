"""Moses' features.dat and scores.dat."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.moses_statistics import write_statistics
from tests.kit.pools import dense_features, random_pool

from dragoman.candidates import read_statistics
from dragoman.errors import InputError, MismatchError
from dragoman.metric import Bleu, Smoothing, Ter

FEATURES = """FEATURES_TXT_BEGIN_0 0 2 2 LM0 TM0_1
-1.5 2 sp_a=3
0 1
FEATURES_TXT_END_0
FEATURES_TXT_BEGIN_0 1 1 2 LM0 TM0_1
1 1
FEATURES_TXT_END_0
"""
SCORES = """SCORES_TXT_BEGIN_0 0 2 9 BLEU
6 14 1 13 0 12 0 11 18
7 14 2 13 1 12 1 11 18
SCORES_TXT_END_0
SCORES_TXT_BEGIN_0 1 1 9 BLEU
4 4 3 3 2 2 1 1 5
SCORES_TXT_END_0
"""


def read(tmp_path, features=FEATURES, scores=SCORES):
    (tmp_path / "f").write_bytes(features.encode() if isinstance(features, str) else features)
    (tmp_path / "s").write_bytes(scores.encode() if isinstance(scores, str) else scores)
    return read_statistics(tmp_path / "f", tmp_path / "s")


def test_text(tmp_path):
    pool = read(tmp_path)
    assert pool.metric == Bleu(smoothing=Smoothing.NONE)
    assert pool.shards[0].stats[0].tolist() == [14, 18, 6, 1, 0, 0, 14, 13, 12, 11]
    assert pool.dense_names() == ["LM0", "TM0_1"]
    assert dense_features(pool).tolist() == [[-1.5, 2, 3], [0, 1, 0], [1, 1, 0]]
    assert pool.shards[0].sentences.tolist() == [0, 2, 3]


@pytest.mark.parametrize(
    ("header", "sparse", "names"),
    [
        ("LM0_0 TM0_0", "x_0", ["LM0", "TM0", "x_0"]),
        ("TM0_0 TM0_1", "x", ["TM0_1", "TM0_2", "x"]),
        ("TM0_1 TM0_0", "x", ["TM0_1", "TM0_0", "x"]),  # not counted from 0
        ("LM0_0 TM0", "x", ["LM0_0", "TM0", "x"]),
        ("LM0_0 TM0_0", "LM0", ["LM0_0", "TM0_0", "LM0"]),  # the name is taken
    ],
)
def test_names_of_moses_extractor_are_those_of_its_lists(tmp_path, header, sparse, names):
    pool = read(tmp_path, FEATURES.replace("LM0 TM0_1", header).replace("sp_a", sparse))
    assert pool.index.names(np.arange(len(pool.index), dtype=np.int32)) == names
    assert pool.dense_names() == names[:2]
    assert dense_features(pool).tolist() == dense_features(read(tmp_path)).tolist()


@pytest.mark.parametrize("told", ["sp_a:3", "sp_a==3"])
def test_sparse_features_of_older_versions(tmp_path, told):
    pool = read(tmp_path, FEATURES.replace("sp_a=3", told))
    assert pool.index.find("sp_a") >= 0
    assert dense_features(pool).tolist() == dense_features(read(tmp_path)).tolist()


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("metric", ["bleu", "ter"])
def test_round_trip(tmp_path, binary, metric):
    pool = random_pool(1, bleu=True)
    if metric == "ter":
        shard = pool.shards[0]
        stats = np.random.default_rng(0).integers(0, 9, (shard.n_candidates, 2)) + 0.5
        pool = type(pool)(
            index=pool.index, words=pool.words, shards=(shard.with_stats(stats),), dense=pool.dense, metric=Ter()
        )
    write_statistics(pool, tmp_path / "f", tmp_path / "s", binary=binary)
    again = read_statistics(tmp_path / "f", tmp_path / "s")
    assert (again.shards[0].stats == pool.shards[0].stats).all()
    assert (dense_features(again) == dense_features(pool)).all()
    assert again.dense_names() == pool.dense_names()


def test_round_trip_with_sparse_features(tmp_path):
    pool = read(tmp_path)
    write_statistics(pool, tmp_path / "f2", tmp_path / "s2")
    assert (tmp_path / "f2").read_text() == FEATURES.replace("-1.5 2 ", "-1.5 2.0 ").replace("=3", "=3.0").replace(
        "\n0 1\n", "\n0.0 1.0\n"
    ).replace("\n1 1\n", "\n1.0 1.0\n")
    assert (tmp_path / "s2").read_text() == SCORES


def test_blocks_of_a_sentence_are_merged(tmp_path):
    pool = read(tmp_path, FEATURES + FEATURES, SCORES + SCORES)
    assert pool.n_candidates == 3


def test_binary_counts_may_be_whole_numbers(tmp_path):
    counts = np.array([[6, 14, 1, 13, 0, 12, 0, 11, 18], [7, 14, 2, 13, 1, 12, 1, 11, 18]])
    last = b"SCORES_TXT_BEGIN_0 1 1 9 BLEU\n4 4 3 3 2 2 1 1 5\nSCORES_TXT_END_0\n"
    for kind in ("<i4", "<f4"):
        scores = b"SCORES_BIN_BEGIN_0 0 2 9 BLEU\n" + counts.astype(kind).tobytes() + b"\nSCORES_BIN_END_0\n" + last
        assert (read(tmp_path, scores=scores).shards[0].stats == read(tmp_path).shards[0].stats).all()


@pytest.mark.parametrize("bad", ["600 14", "-6 14", "0.5 14", "6 13.5"])
def test_counts_that_cannot_be(tmp_path, bad):
    with pytest.raises(InputError, match="cannot be counts of BLEU .hypothesis 0 of sentence 0") as refused:
        read(tmp_path, scores=SCORES.replace("6 14", bad))
    assert refused.value.line == 2


def test_binary_without_a_line_end_before_the_footer(tmp_path):
    numbers = np.array([[1.5, -2.0]], dtype="<f4").tobytes()
    features = b"FEATURES_BIN_BEGIN_0 0 1 2 a b\n" + numbers + b"FEATURES_BIN_END_0\n"
    scores = b"SCORES_BIN_BEGIN_0 0 1 2 TER\n" + np.array([1, 10], "<f4").tobytes() + b"\nSCORES_BIN_END_0\n"
    assert dense_features(read(tmp_path, features, scores)).tolist() == [[1.5, -2.0]]


@pytest.mark.parametrize(
    ("features", "scores", "message"),
    [
        ("", SCORES, "empty"),
        ("hello\n", SCORES, "expected 'FEATURES_TXT_BEGIN_0"),
        (FEATURES.replace("0 2 2", "0 3 2"), SCORES, "numbers, expected 2|expected FEATURES"),
        (FEATURES.replace("0 2 2", "0 99999999 2"), SCORES, "expected"),
        (FEATURES.replace("0 2 2", "0 9999999999 2"), SCORES, "too large"),
        (b"FEATURES_BIN_BEGIN_0 0 2000000000 2 a b\n1234", SCORES, "the file ends before"),
        (FEATURES.replace("-1.5", "nan"), SCORES, "finite"),
        (FEATURES.replace("-1.5", "1e999"), SCORES, "finite"),
        (FEATURES.replace("-1.5", "1e39"), SCORES, "too large for 32"),
        (FEATURES.replace("sp_a=3", "sp_a"), SCORES, "name=value"),
        (FEATURES.replace("sp_a=3", "LM0=3"), SCORES, "duplicate feature"),
        (FEATURES.replace("LM0 TM0_1", "LM0 LM0"), SCORES, "duplicate feature"),
        (FEATURES.replace("LM0 TM0_1", "LM0"), SCORES, "2 dense features but 1 names"),
        (FEATURES.replace("1 1 2 LM0 TM0_1", "1 1 2 LM0 X"), SCORES, "differ from those above"),
        (FEATURES, SCORES.replace("9 BLEU", "9 PER"), "expected BLEU"),
        (FEATURES, SCORES.replace("SCORES_TXT_BEGIN_0 1 1", "SCORES_TXT_BEGIN_0 2 1"), "only one of"),
        (FEATURES, SCORES.replace("0 2 9", "0 1 9").replace("6 14 1 13 0 12 0 11 18\n", ""), "2 hypotheses"),
    ],
)
def test_broken_files(tmp_path, features, scores, message):
    with pytest.raises((InputError, MismatchError), match=message):
        read(tmp_path, features, scores)
