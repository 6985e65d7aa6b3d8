"""Weight files of every system."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import InputError, MismatchError
from dragoman.features import (
    FeatureIndex,
    InitOpt,
    WeightFormat,
    Weights,
    describe_fit,
    fitted_values,
    is_init_opt,
    read_init_opt,
    read_weights,
    unite_weights,
    write_weights,
)

MOSES_INI = """[input-factors]
0

[weight]
LM0= 0.5
TM0= 0.2 -0.1 1e-3
Distortion0=0.3

[weight-file]
sparse.txt
"""


def put(tmp_path, text, name="w"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_ours(tmp_path):
    path = put(tmp_path, "# metric: bleu\nlm\t0.1\na b\t-2.5\n#odd\t3\n")
    assert dict(read_weights(path).items()) == {"lm": 0.1, "a b": -2.5, "#odd": 3.0}


def test_moses_ini_with_sparse_file(tmp_path):
    put(tmp_path, "# comment\npl_1,1 0.25\nwt_a=b -1\n", "sparse.txt")
    weights = dict(read_weights(put(tmp_path, MOSES_INI)).items())
    assert weights == {
        "LM0": 0.5, "TM0_1": 0.2, "TM0_2": -0.1, "TM0_3": 0.001, "Distortion0": 0.3, "pl_1,1": 0.25, "wt_a=b": -1.0,
    }  # fmt: skip


def test_moses_dense_numbers_repeated_names(tmp_path):
    weights = dict(read_weights(put(tmp_path, "TM0= 1\nLM0= 2\nTM0= 3\n")).items())
    assert weights == {"TM0_1": 1.0, "TM0_2": 3.0, "LM0": 2.0}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LM0= 2\nTM0= 1 3\nfoo 1\n", {"LM0": 2.0, "TM0_1": 1.0, "TM0_2": 3.0, "foo": 1.0}),  # cat dense sparse
        ("pl_1,1 0.25\nwt_~= 0.5\nLM0=-2e-1\n", {"pl_1,1": 0.25, "wt_~=": 0.5, "LM0": -0.2}),
        ("a=b 0.5\nwt_a~= 1\nLanguageModel 2\n", {"a=b": 0.5, "wt_a~=": 1.0, "LanguageModel": 2.0}),  # cdec
        ("top-n = 300\nlm_0 1\nx=y -1\n", {"lm_0": 1.0, "x=y": -1.0}),  # Joshua
        ("mark_oovs=false\ntop_n=300\nlm_0 1\n", {"lm_0": 1.0}),
    ],
)
def test_no_line_of_a_mixed_file_is_lost(tmp_path, text, expected):
    assert dict(read_weights(put(tmp_path, text)).items()) == expected


def test_files_that_contradict_each_other(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("LM0= 1\n")
    two.write_text("LM0= 2\nfoo 1\n")
    with pytest.raises(InputError, match="the weight of 'LM0' is 2.0 here and 1.0 before"):
        unite_weights([one, two])


@pytest.mark.parametrize("text", ["lm_0 1.0\ntm_pt_0 -2\n", "# Joshua\nlm_0 1\n\ntm_pt_0 -2e0\n"])
def test_cdec_and_joshua(tmp_path, text):
    assert dict(read_weights(put(tmp_path, text)).items()) == {"lm_0": 1.0, "tm_pt_0": -2.0}


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "no weights", None),
        ("# only: headers\n", "no weights", None),
        ("a 1\na 2\n", "duplicate feature 'a'", 2),
        ("a 1\nb nan\n", "'nan' is not a finite number", 2),
        ("a 1\nb 1e999\n", "not a finite number", 2),
        ("a 1\nb 1_000\n", "not a finite number", 2),
        ("a 1\nb\n", "expected 'name value'", 2),
        ("a\t1\nb 2\n", "expected 'name<TAB>value'", 2),
        ("[weight]\nLM0\n", "expected 'Name= value", 2),
        ("[weight]\nLM0= 1\nLM0= 2\n", "duplicate feature", 3),
        ("[weight-file]\nabsent.txt\n", "cannot be read", None),
    ],
)
def test_broken_files_are_refused(tmp_path, text, message, line):
    with pytest.raises(InputError, match=message) as caught:
        read_weights(put(tmp_path, text))
    assert caught.value.line == line
    assert caught.value.path


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Z")), min_size=1, max_size=8)
VALUES = st.floats(allow_nan=False, allow_infinity=False).filter(bool)


@given(values=st.dictionaries(NAMES, VALUES, min_size=1, max_size=6), format_=st.sampled_from(["ours", "cdec"]))
def test_round_trip(tmp_path_factory, values, format_):
    path = tmp_path_factory.getbasetemp() / "weights"
    style = WeightFormat.TSV if format_ == "ours" else WeightFormat.CDEC
    if style is WeightFormat.CDEC and any(name.startswith("#") for name in values):
        return  # a comment, to cdec
    write_weights(Weights.from_dict(values), path, format_=style)
    assert dict(read_weights(path, format_=style).items()) == values


def test_moses_round_trip_keeps_zeros_and_sections(tmp_path):
    put(tmp_path, "pl_1,1 0.25\n", "sparse.txt")
    template = put(tmp_path, MOSES_INI, "moses.ini")
    weights = read_weights(template)
    weights["TM0_2"] = 0.0
    dense = ["LM0", "TM0_1", "TM0_2", "TM0_3", "Distortion0"]
    out = tmp_path / "out.ini"
    write_weights(weights, out, format_=WeightFormat.MOSES_INI, dense=dense, template=template)
    text = out.read_text()
    assert "[input-factors]" in text
    assert "TM0= 0.2 0.0 0.001" in text
    assert text.count("[weight]") == 1
    assert dict(read_weights(out).items()) == dict(weights.items())
    write_weights(weights, tmp_path / "run1.dense", format_=WeightFormat.MOSES_DENSE, dense=dense)
    assert (tmp_path / "run1.dense").read_text().splitlines()[1:3] == ["TM0= 0.2", "TM0= 0.0"]
    assert read_weights(tmp_path / "run1.dense")["TM0_3"] == 0.001


def test_a_lone_numbered_name_is_a_name(tmp_path):
    weights = Weights.from_dict({"x_1": 1.0, "y_1": 2.0, "y_3": 3.0, "z_01": 4.0})
    write_weights(weights, tmp_path / "w", format_=WeightFormat.MOSES_DENSE)
    assert dict(read_weights(tmp_path / "w").items()) == dict(weights.items())


def test_headers_and_names_that_do_not_fit(tmp_path):
    weights = Weights.from_dict({"a b": 1.0})
    write_weights(weights, tmp_path / "w", headers={"metric": "bleu"})
    assert (tmp_path / "w").read_text() == "# metric: bleu\na b\t1.0\n"
    with pytest.raises(InputError, match="has a space"):
        write_weights(weights, tmp_path / "w", format_=WeightFormat.CDEC)
    with pytest.raises(ValueError, match="headers"):
        write_weights(weights, tmp_path / "w", format_=WeightFormat.CDEC, headers={"a": "b"})
    with pytest.raises(ValueError, match="tab"):
        write_weights(weights, tmp_path / "w", headers={"a": "b\tc"})


def test_init_opt(tmp_path):
    init = InitOpt(names=("a", "b"), start=(0.1, -1.0), lower=(0.0, -2.0), upper=(1.0, 2.0))
    (tmp_path / "init.opt").write_text("0.1 -1.0\n0.0 -2.0\n1.0 2.0\n")
    with pytest.raises(InputError, match="as Moses' init.opt: they have no names"):
        read_weights(tmp_path / "init.opt")
    assert read_init_opt(tmp_path / "init.opt", ["a", "b"]) == init
    with pytest.raises(MismatchError, match="2 numbers for 3 features"):
        read_init_opt(tmp_path / "init.opt", ["a", "b", "c"])
    with pytest.raises(InputError, match="three"):
        read_init_opt(put(tmp_path, "1 2\n"), ["a", "b"])
    with pytest.raises(InputError, match="above its maximum"):
        read_init_opt(put(tmp_path, "1 2\n0 3\n1 2\n"), ["a", "b"])


def test_full_precision(tmp_path):
    weights = Weights.from_dict({"a": 0.1 + 0.2, "b": math.pi * 1e-300})
    write_weights(weights, tmp_path / "w.gz")
    assert dict(read_weights(tmp_path / "w.gz").items()) == dict(weights.items())


JOSHUA = """lm = kenlm 5 false false 100 lm.gz
tm=thrax pt 12 grammar.gz
mark_oovs=false
feature-function = WordPenalty

# weights
lm_0 1.0
tm_pt_0 -0.5
WordPenalty -2.8
"""
OLD_MOSES = """[ttable-file]
0 0 0 5 phrase-table

[weight-d]
0.6

[weight-l]
0.5

[weight-t]
0.2
-0.1

[weight-w]
-1
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (JOSHUA, {"lm_0": 1.0, "tm_pt_0": -0.5, "WordPenalty": -2.8}),
        (OLD_MOSES, {"d": 0.6, "lm": 0.5, "tm_1": 0.2, "tm_2": -0.1, "w": -1.0}),
    ],
)
def test_configurations_of_decoders(tmp_path, text, expected):
    assert dict(read_weights(put(tmp_path, text)).items()) == expected


def test_dense_and_sparse_files_together(tmp_path):
    dense, sparse = put(tmp_path, "LM0= 0.5\nD= 0\n", "dense"), put(tmp_path, "pl_1,1 0.25\nD 0\n", "sparse")
    united = unite_weights([dense, sparse])
    assert dict(united.items()) == {"LM0": 0.5, "pl_1,1": 0.25}
    with pytest.raises(InputError, match="'D' is 2.0 here and 0.0 before"):
        unite_weights([dense, put(tmp_path, "D 2\n", "other")])


def test_init_opt_is_known_by_its_content(tmp_path):
    assert is_init_opt(put(tmp_path, "0.5 1\n0 -1\n1 1\n", "INIT"))
    assert not is_init_opt(put(tmp_path, "LM0 0.5\nTM 1\nW 2\n"))
    assert not is_init_opt(put(tmp_path, "0.5 1\n0 -1\n"))


def test_what_does_not_fit_is_described():
    index = FeatureIndex()
    for name in ("logprob", "lm", "rare"):
        index.intern(name)
    weights = Weights.from_dict({"logprobb": 1.0, "lm": 0.0, "zero": 0.0})
    assert (
        describe_fit(weights, index, [0, 1]) == "1 weight fits no feature (logprobb), 1 feature has no weight (logprob)"
    )
    assert describe_fit(weights, index) == (
        "1 weight fits no feature (logprobb), 2 features have no weight (logprob, rare)"
    )
    assert describe_fit(Weights.from_dict({"logprob": 1.0, "lm": 0.0}), index, [0, 1]) is None
    with pytest.raises(InputError, match="no weight belongs to a feature of the candidates"):
        fitted_values(weights, index)
