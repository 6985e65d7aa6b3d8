"""Search spaces of other decoders: what they say, how sentences are counted, and what is wrong with them."""

from __future__ import annotations

import bz2
import gzip

import numpy as np
import pytest
from tests.kit.foreign_forests import GRAPH

from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.forest import read_forest, read_forests, write_forest

TRAVATAR = (
    '{"nodes": [{"id": 0, "sym": "S", "span": [0, 2]}, {"id": 1, "span": [1, 2]}], "edges": ['
    '{"id": 0, "head": 0, "tails": [1], "trg": [{"label": -1, "words": ["the", -1]}], "features": {"lm": -0.5}}, '
    '{"id": 1, "head": 1, "trg": [{"words": ["<unk>"]}], "features": {"lm": -1}, "score": 3}], '
    '"words": ["la", "maison"]}\n'
)
CDEC = (
    '{"rules":[1,"[X] ||| a ||| b c ||| f1=1 ||| 0-0",2,"[X] ||| [X,1] d ||| d [1]",3,"lone [1]"],'
    '"features":["f1","f2"],"edges":[{"tail":[],"spans":[0,3,-1,-1],"feats":[0,-2.5],"rule":1}],'
    '"node":{"in_edges":[0],"cat":"X"},"edges":[{"tail":[0],"spans":[0,4,-1,-1],"feats":["f3",1,1,2],"rule":2},'
    '{"tail":[0],"feats":null,"rule":3}],"node":{"in_edges":[1,2]}}\n'
)


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def texts(spaces, **weights):
    best = spaces.kbest(Weights.from_dict(weights), 9)
    return [
        [
            (round(float(best.totals[c]), 4), spaces.vocab.decode(best.tokens_of(c)))
            for c in range(*best.sentences[s : s + 2].tolist())
        ]
        for s in range(best.n_sentences)
    ]


def test_search_graphs_of_moses(tmp_path):
    spaces = read_forests([written(tmp_path / "graphs.gz", gzip.compress(GRAPH.encode()))])
    assert spaces.ids == (0, 7)
    found = texts(spaces, core_1=1.0, tm_a=0.5)
    assert found[0][0] == (-1.5, "the house")
    assert found[0][2] == (-3.5, 'a "small" one house')
    assert found[1] == [(0.5, "yes")]
    assert spaces.source_lengths().tolist() == [2, 1]
    short = "0 hyp=0 stack=0\n0 hyp=4 stack=1 back=0 score=-2 transition=-2 forward=-1 fscore=-2 covered=0-0 out=a b\n"
    assert texts(read_forests([written(tmp_path / "short", short)]), transition=1.0) == [[(-2.0, "a b")]]


def test_a_forest_of_travatar(tmp_path):
    path = written(tmp_path / "forests.json", TRAVATAR + '{"nodes": [{"id": 0}], "edges": [], "words": []}\n')
    spaces = read_forests([path])
    assert spaces.ids == (0, 1)
    assert texts(spaces, lm=1.0) == [[(-1.5, "the maison")], []]
    assert [forest.has_derivation for forest in spaces.forests] == [True, False]
    with pytest.raises(InputError, match="of several sentences"):
        read_forest(path)


def test_a_hypergraph_of_cdec(tmp_path):
    spaces = read_forests([written(tmp_path / "0.json", CDEC)])
    assert texts(spaces, f1=1.0, f3=1.0) == [[(-1.5, "d b c"), (-2.5, "lone b c")]]
    assert spaces.source_lengths().tolist() == [4]
    assert not read_forest(written(tmp_path / "1.json", "{}\n")).has_derivation
    lattice = (
        '{"rules":[1,"[X] ||| [X] a ||| [1] a"],"features":["f"],"edges":[],"node":{"in_edges":[]},'
        '"edges":[{"tail":[0],"feats":[0,-0.5],"rule":1}],"node":{"in_edges":[0]}}'
    )
    assert texts(read_forests([written(tmp_path / "2.json", lattice)]), f=1.0) == [[(-0.5, "a")]]


def test_converted_to_what_moses_reads(tmp_path):
    space = read_forest(written(tmp_path / "0.json", CDEC))
    write_forest(space, tmp_path / "0")
    lines = (tmp_path / "0").read_text().splitlines()
    assert all(line.count(" ||| ") == 2 for line in lines if "|||" in line)
    again = read_forest(tmp_path / "0")
    weights = {"f1": 0.3, "f2": -1.0, "f3": 0.25}
    one, other = (each.kbest(Weights.from_dict(weights), 9) for each in (space, again))
    np.testing.assert_allclose(one.totals, other.totals, rtol=1e-6)


def test_a_folder_is_read_by_number(tmp_path):
    folder = tmp_path / "forests"
    folder.mkdir()
    for number, word in ((10, "ten"), (2, "two")):
        text = f"# target ||| features ||| source-covered\n1 1\n# node 0\n1\n{word} ||| x=1 ||| 1\n"
        written(folder / f"{number}.bz2", bz2.compress(text.encode()))
    (folder / "weights").write_text("x 1\n")
    spaces = read_forests([folder])
    assert spaces.ids == (2, 10)
    assert [row[0][1] for row in texts(spaces, x=1.0)] == ["two", "ten"]
    written(folder / "2.json", CDEC)
    with pytest.raises(InputError, match="has sentence 2, as has"):
        read_forests([folder])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file of a search space, such as"):
        read_forests([tmp_path / "empty"])
    with pytest.raises(InputError, match="bzip2 stream is (damaged|truncated)"):
        read_forests([written(tmp_path / "3.bz2", bz2.compress(b"x" * 99)[:-9])])


def test_files_without_numbers_are_counted(tmp_path):
    paths = [written(tmp_path / name, text) for name, text in (("b.json", CDEC), ("a.json", TRAVATAR))]
    assert [row[0][1] for row in texts(read_forests(paths), lm=1.0, f3=1.0)] == ["d b c", "the maison"]


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (CDEC, '"rule":2', '"rule":9', "edge 1: there is no rule 9"),
        (CDEC, '"rule":2', '"rule":null', "edge 1: has no rule"),
        (CDEC, '"tail":[0],"spans"', '"tail":[1],"spans"', "a tail is 1, but there are only 1"),
        (CDEC, '"tail":[0],"spans"', '"tail":[],"spans"', r"edge 1: 0 tails, but the target side has \[1\]"),
        (CDEC, "[0,-2.5]", "[7,-2.5]", "the place of a feature is 7, but there are only 2"),
        (CDEC, "[0,-2.5]", "[0,-2.5,0,1]", "a feature occurs twice"),
        (CDEC, "[0,-2.5]", "[0,1e300]", "a value of the feature 'f1' is not a finite 32-bit number"),
        (CDEC, "[0,-2.5]", "[0]", "features and values in turn"),
        (CDEC, '"in_edges":[1,2]', '"in_edges":[1,1]', "edge 1 has two heads"),
        (CDEC, '"in_edges":[1,2]', '"in_edges":[1,5]', "an edge of in_edges is 5, but there are only 3"),
        (CDEC, '"node":{"in_edges":[0]', '"knot":{"in_edges":[0]', "the key 'edges' occurs twice"),
        (TRAVATAR, '"words": ["the", -1]', '"words": ["the"]', r"edge 0: 1 tails, but the target side has \[\]"),
        (TRAVATAR, '"words": ["the", -1]', '"words": [4, -1]', "a word must be a string, not 4"),
        (TRAVATAR, '"trg": [{"words": ["<unk>"]}]', '"x": 0', "is this a parse forest of the source"),
        (TRAVATAR, '"trg": [{"words": ["<unk>"]}]', '"trg_words": [3]', "a later Travatar writes words"),
        (TRAVATAR, '"head": 1, ', '"head": 0, "tails": [0], ', "1 tails"),
        (TRAVATAR, '"tails": [1]', '"tails": [0]', "node 0 is below itself"),
        (TRAVATAR, '{"lm": -0.5}', '{"lm": "x"}', "'lm' must be a number"),
        (GRAPH, "back=1 score=-3 ", "back=9 score=-3 ", "there is no hypothesis 9 in sentence 0"),
        (GRAPH, "back=1 score=-3 ", "score=-3 ", "expected back=N and, at the end, out=WORDS"),
        (GRAPH, "back=1 score=-3 ", "back=3 score=-3 ", "is below itself"),
        (GRAPH, "recombined=1", "recombined=2", "was recombined with itself"),
        (GRAPH, "core=(-2,0.5)", "core=(-2,nan)", "a score must be a number, not 'nan'"),
        (GRAPH, "tm_a=3 ", "tm_a ", "expected 'name=value' in the scores"),
        (GRAPH, "7 hyp=0 stack=0", "x", "expected a search graph's"),
        (GRAPH, "7 hyp=1 ", "0 hyp=1 ", "sentence 0 comes again"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, old, new, message):
    assert old in text
    with pytest.raises(InputError, match=message) as caught:
        read_forests([written(tmp_path / "0", text.replace(old, new))])
    assert caught.value.path == str(tmp_path / "0")
    assert (caught.value.line is not None) == (text is GRAPH)


@pytest.mark.parametrize("name", ["cdec", "travatar"])
def test_lone_surrogates_are_refused_with_their_line(tmp_path, name):
    """JSON can escape them, and what others call UTF-8 can hold them; no text of ours does."""
    whole = {"cdec": CDEC, "travatar": TRAVATAR}[name]
    feature, word = {"cdec": ('"f3"', "b c"), "travatar": ('"lm"', '"the"')}[name]
    for number, damaged, message in (
        (None, whole.replace(feature, '"\\ud800lm"'), "the feature name .*ud800lm' is not valid Unicode"),
        (2, whole + whole.replace(feature, '"\\ud800lm"'), "the feature name .*ud800lm' is not valid Unicode"),
        (2, whole + whole.replace(word, word.replace("b c", "b\\ud800 c").replace("the", "\\ud800")), "Unicode"),
        (1, whole.encode().replace(b"lm" if name == "travatar" else b"f3", b"\xed\xa0\x80"), "not JSON: invalid UTF-8"),
        (2, whole.encode() + whole.encode().replace(word.encode(), b"\xed\xa0\x80"), "not JSON: invalid UTF-8"),
    ):
        with pytest.raises(InputError, match=message) as caught:
            read_forests([written(tmp_path / "forest.json", damaged)])
        assert (caught.value.path, caught.value.line) == (str(tmp_path / "forest.json"), number)
