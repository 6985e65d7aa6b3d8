"""Search spaces in files: the hypergraph text of Moses, and what is wrong with it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dragoman.corpus import Vocab
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Weights
from dragoman.forest import Application, Derivation, Forest, ForestArrays, read_forest, write_forest

HEAD = "# target ||| features ||| source-covered\n"
SMALL = (
    HEAD
    + """4 6
1
<s> |||  ||| 0
2
[0] the ||| LM0=-1.5 TM0_1=-0.25 ||| 1
[0] a  ||| LM0=-1 TM0_1=-1 ||| 1
2
[1] house ||| LM0=-2 ||| 2
[0] home ||| LM0=-4 TM0_1=-0.5 ||| 2
1
[2] </s> ||| LM0=-0.5 ||| 2
"""
)


EMPTY = {"format": "dragoman forest 1", "words": [], "features": [], "labels": [], "instances": [], "nodes": []}
INSTANCE = {"rule": 1, "span": [0, 1], "symbols": [-1], "features": []}
LOOP = {"instance": 0, "tails": [0], "features": []}


def write(tmp_path, text):
    path = tmp_path / "forest.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_moses_hypergraph(tmp_path):
    index = FeatureIndex()
    forest = read_forest(write(tmp_path, SMALL), index=index)
    weights = Weights.from_dict({"LM0": 1.0, "TM0_1": 1.0}, index)
    got = forest.kbest(weights, 10)
    assert [forest.text(got.tokens_of(c)) for c in range(len(got))] == ["the house", "a house", "home"]
    np.testing.assert_allclose(got.totals, [-4.25, -4.5, -5.0])
    best = forest.best(weights)
    assert best is not None
    assert best.features() == {"LM0": -4.0, "TM0_1": -0.25}
    assert best.target_positions() == [[], [1], [0], []]


def test_writing_what_was_read(tmp_path):
    forest = read_forest(write(tmp_path, SMALL))
    again = tmp_path / "again.txt"
    write_forest(forest, again)
    assert again.read_text() == SMALL.replace("a  |||", "a |||")


def test_comments_of_moses(tmp_path):
    lines = SMALL.splitlines(keepends=True)
    text = "".join([*lines[:2], "# node 0\n", *lines[2:4], "# node 1\n", *lines[4:], "# end\n"])
    assert read_forest(write(tmp_path, text)).n_edges == 6
    word = HEAD + "1 1\n1\n# 1 ||| LM0=1 ||| 2\n"
    best = read_forest(write(tmp_path, word)).best(Weights(FeatureIndex()))
    assert [part.symbols for part in best.applications] == [("#", "1")]


def test_a_derivation_beyond_memory_is_refused(tmp_path):
    n = 60
    vertices = "".join(f"1\n[{v - 1}] [{v - 1}] |||  ||| 1\n" for v in range(1, n))
    forest = read_forest(write(tmp_path, f"{HEAD}{n} {n}\n1\na |||  ||| 1\n{vertices}"))
    with pytest.raises(InputError, match="more than 1000000 edges"):
        forest.kbest(np.zeros(0), 1)


def test_the_head_line_may_be_missing_and_lines_may_end_in_cr(tmp_path):
    text = SMALL.removeprefix(HEAD).replace("\n", "\r\n")
    assert read_forest(write(tmp_path, text)).n_edges == 6


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "truncated"),
        (HEAD, 2, "truncated"),
        (HEAD + "x 1\n", 2, "numbers of vertices"),
        (HEAD + "1 1 1\n", 2, "numbers of vertices"),
        (HEAD + "0 0\n", 2, "at least one vertex"),
        (HEAD + "99999999999 1\n", 2, "numbers of vertices"),
        (HEAD + "2000000000 2000000000\n1\n", 4, "truncated"),
        (HEAD + "1 1\n2\n", 3, "more edges"),
        (HEAD + "1 2\n1\na ||| ||| 1\n", 4, "announces 2 edges"),
        (HEAD + "1 1\n1\na ||| ||| 1\n7\n", 5, "more than one"),
        (HEAD + "1 1\n1\n[0] a ||| ||| 1\n", 4, "does not come before"),
        (HEAD + "2 2\n1\n[1] a ||| ||| 1\n1\n[0] b ||| ||| 1\n", 4, "does not come before"),
        (HEAD + "1 1\n1\na b c\n", 4, "expected 'target"),
        (HEAD + "1 1\n1\na ||| LM0 ||| 1\n", 4, "name=value"),
        (HEAD + "1 1\n1\na ||| =1 ||| 1\n", 4, "name=value"),
        (HEAD + "1 1\n1\na ||| LM0=nan ||| 1\n", 4, "finite"),
        (HEAD + "1 1\n1\na ||| LM0=1e99 ||| 1\n", 4, "too large"),
        (HEAD + "1 1\n1\na ||| LM0=0,5 ||| 1\n", 4, "is not a number"),
        (HEAD + "1 1\n1\na ||| LM0=1 ||| -1\n", 4, "covered"),
        (HEAD + "-1 1\n", 2, "numbers of vertices"),
        (HEAD.encode() + b"1 1\n1\n\xff ||| ||| 1\n", 4, "UTF-8"),
    ],
)
def test_broken_hypergraphs_are_named(tmp_path, text, line, message):
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=message) as caught:
        read_forest(path)
    assert caught.value.line == line
    assert caught.value.path == str(path)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"format": "dragoman forest 1"}',
        EMPTY | {"nodes": [{}]},
        EMPTY | {"instances": [{"rule": 1e99, "span": [0, 1], "symbols": [], "features": []}]},
        EMPTY | {"instances": [{"rule": 1, "span": [0, 1], "symbols": [5], "features": []}]},
        EMPTY | {"instances": [INSTANCE], "nodes": [{"label": 0, "span": [0, 0], "covered": 0, "edges": [LOOP]}]},
        '{"format":' + "[" * 100_000,
    ],
)
def test_broken_json_is_named(tmp_path, text):
    with pytest.raises(InputError):
        read_forest(write(tmp_path, text if isinstance(text, str) else json.dumps(text)))


def test_words_that_look_like_markup(tmp_path):
    vocab = Vocab.of(["[1] ||| <s> \\x"])
    index = FeatureIndex()
    words = np.array([3, 4, 5, 6], np.int32)
    none = np.zeros(0, np.int32)
    arrays = ForestArrays(
        nodes=np.array([[-1, 0, 1, 1]], np.int32),
        rules=np.array([-1]),
        spans=np.array([[0, 1]], np.int32),
        symbol_offsets=np.array([0, 5]),
        symbols=np.append(words, np.int32(len(vocab))),
        local_offsets=np.array([0, 0]),
        local_ids=none,
        local_values=np.zeros(0, np.float32),
        node_edges=np.array([0, 1]),
        instances=np.array([0], np.int32),
        tail_offsets=np.array([0, 0]),
        tails=none,
        feature_offsets=np.array([0, 0]),
        feature_ids=none,
        feature_values=np.zeros(0, np.float32),
    )
    forest = Forest(arrays.build(), vocab.extended(["</s>"]), index)
    for name in ("forest.txt", "forest.json.xz"):
        write_forest(forest, tmp_path / name)
        again = read_forest(tmp_path / name)
        assert again.text(again.kbest(np.zeros(0), 1).tokens) == "[1] ||| <s> \\x </s>"
    best = forest.best(np.zeros(0))
    assert best is not None
    assert best.tokens() == ["[1]", "|||", "<s>", "\\x", "</s>"]


def test_a_very_deep_forest(tmp_path):
    n = 20_000
    lines = [f"1\n[{v - 1}] w ||| f=1 ||| 1" for v in range(1, n)]
    path = write(tmp_path, f"{HEAD}{n} {n}\n1\n<s> ||| ||| 0\n" + "\n".join(lines) + "\n")
    forest = read_forest(path)
    got = forest.kbest(np.ones(1), 5, distinct=True)
    assert got.totals.tolist() == [n - 1]
    assert len(got.tokens) == n - 1
    best = forest.best(np.ones(1))
    assert best is not None
    assert len(best.tokens()) == n - 1


def test_derivations_must_be_trees():
    leaf = Application(symbols=("a",))
    with pytest.raises(ValueError, match="children"):
        Application(symbols=(0, 0), children=(1,))
    with pytest.raises(ValueError, match="exactly one"):
        Derivation((leaf, leaf))
    with pytest.raises(ValueError, match="after their parents"):
        Derivation((Application(symbols=(0,), children=(2,)), Application(symbols=(0,), children=(1,)), leaf))
    with pytest.raises(InputError):
        Derivation.from_json([{"symbols": []}])
