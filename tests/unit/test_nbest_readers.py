"""Candidate lists of every system, and what is wrong with them."""

from __future__ import annotations

import gzip
import json
import math

import numpy as np
import pytest

from dragoman.candidates import (
    NbestFormat,
    format_of_list,
    has_segmentation,
    read_nbest,
    read_pool,
    subword_mark,
    write_nbest,
)
from dragoman.errors import InputError

MOSES = """0 ||| a house ||| LM0= -12.5 TM0= -1.2 -0.7 WordPenalty0= -2 pl_1,1= 2 ||| -3.41
0 ||| the house ||| LM0= -11.5 TM0= -1.0 0 WordPenalty0= -2 ||| -3.5 ||| 0-1=0-1 ||| 0-0 1-1
1 |||  ||| LM0= -1 TM0= 0 0 WordPenalty0= 0 ||| -9
"""
CDEC = "0 ||| a house ||| LanguageModel=-4.2 Glue=1 ||| -3.1\n0 ||| houses ||| LanguageModel=-5 ||| -4 ||| 0.31\n"
TRAVATAR = "0 ||| a house ||| -3.1 ||| lm=-4.2 w=2\n1 ||| b ||| -1 ||| lm=-1 w=1\n"
JSONL = """{"id": 0, "text": "a house", "features": {"logprob": -3.2, "qe": 0.71}, "scores": {"comet": 0.83}}
{"text": "the  \\u0068ouse\\nx", "id": 0, "more": [1, {"a": null}], "features": {"logprob": -1e0}}
"""


def put(tmp_path, text, name="list"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def rows(pool):
    """(sentence, text, features by name, total) of each candidate."""
    result = []
    for shard in pool.shards:
        sentence = shard.sentence_ids[shard.sentence_of_each()]
        for c in range(shard.n_candidates):
            row = slice(shard.feature_rows[c], shard.feature_rows[c + 1])
            names = pool.index.names(np.ascontiguousarray(shard.feature_ids[row]))
            values = [float(v) for v in shard.feature_values[row]]
            result.append(
                (int(sentence[c]), pool.text(shard, c), dict(zip(names, values, strict=True)), float(shard.totals[c]))
            )
    return result


def f32(x):
    return float(np.float32(x))


def test_moses(tmp_path):
    pool = read_nbest(put(tmp_path, MOSES))
    assert rows(pool)[0] == (
        0,
        "a house",
        {"LM0": -12.5, "TM0_1": f32(-1.2), "TM0_2": f32(-0.7), "WordPenalty0": -2.0, "pl_1,1": 2.0},
        -3.41,
    )
    assert rows(pool)[1][2] == {"LM0": -11.5, "TM0_1": -1.0, "WordPenalty0": -2.0}
    assert rows(pool)[2] == (1, "", {"LM0": -1.0}, -9.0)
    assert pool.dense_names() == ["LM0", "TM0_1", "TM0_2", "WordPenalty0"]


def test_the_user_names_the_dense_set(tmp_path):
    pool = read_nbest(put(tmp_path, MOSES), dense=["LM0", "pl_1,1"])
    assert pool.dense_names() == ["LM0", "pl_1,1"]
    with pytest.raises(InputError, match="no candidate has the dense feature 'absent'"):
        read_nbest(put(tmp_path, MOSES), dense=["absent"])


def test_a_dense_name_may_have_an_underscore(tmp_path):
    pool = read_nbest(put(tmp_path, "0 ||| a ||| my_lm= -1 sp_x= 1 ||| 0\n0 ||| b ||| my_lm= -2 ||| 0\n"))
    assert pool.dense_names() == ["my_lm"]


def test_cdec(tmp_path):
    assert rows(read_nbest(put(tmp_path, CDEC)))[1] == (0, "houses", {"LanguageModel": -5.0}, -4.0)


def test_few_features_are_dense_though_zeros_are_left_out(tmp_path):
    assert read_nbest(put(tmp_path, CDEC)).dense_names() == ["LanguageModel", "Glue"]
    assert read_nbest(put(tmp_path, JSONL), allow_missing=True).dense_names() == ["logprob", "qe"]
    many = "".join(f"0 ||| a ||| lm=-{i + 1} s{i}=1 ||| 0\n" for i in range(100))
    assert read_nbest(put(tmp_path, many)).dense_names() == ["lm"]


def test_joshua_with_a_template(tmp_path):
    text = "-3.1 ||| 0 ||| lm_0=-4.2 tm_pt_0=-1.0 ||| a house\n"
    pool = read_nbest(put(tmp_path, text), format_=NbestFormat.JOSHUA, fields=["total", "id", "features", "text"])
    assert rows(pool) == [(0, "a house", {"lm_0": f32(-4.2), "tm_pt_0": -1.0}, -3.1)]
    with pytest.raises(InputError, match="must include 'text'"):
        read_nbest(put(tmp_path, text), format_=NbestFormat.JOSHUA, fields=["id", "features"])
    with pytest.raises(InputError, match="'x' is not a field"):
        read_nbest(put(tmp_path, text), format_=NbestFormat.JOSHUA, fields=["x"])


def test_travatar(tmp_path):
    assert rows(read_nbest(put(tmp_path, TRAVATAR)))[0] == (0, "a house", {"lm": f32(-4.2), "w": 2.0}, -3.1)


def test_phrasal_and_old_moses(tmp_path):
    pool = read_nbest(put(tmp_path, "0|||a b|||lm: -1 tm: -2 -3|||-6\n"))
    assert rows(pool) == [(0, "a b", {"lm": -1.0, "tm_1": -2.0, "tm_2": -3.0}, -6.0)]


def test_json_lines(tmp_path):
    pool = read_nbest(put(tmp_path, JSONL), allow_missing=True)
    assert [row[1] for row in rows(pool)] == ["a house", "the house x"]
    assert pool.score_names == ("comet",)
    assert pool.shards[0].scores[0, 0] == 0.83
    assert np.isnan(pool.shards[0].scores[1, 0])


def test_compressed_and_carriage_returns(tmp_path):
    path = put(tmp_path, gzip.compress(MOSES.replace("\n", "\r\n").encode()))
    assert rows(read_nbest(path)) == rows(read_nbest(put(tmp_path, MOSES, "other")))


def test_markup_as_words(tmp_path):
    pool = read_nbest(put(tmp_path, "0 ||| <s> [X,1] \\p ||| a=1\n"))
    assert rows(pool)[0][1] == "<s> [X,1] \\p"
    assert pool.words.find(b"<s>") == 1  # the reserved one, which the corpus word is not
    assert 1 not in pool.shards[0].tokens


def test_runs_of_a_sentence_are_put_together(tmp_path):
    text = "".join(f"{i} ||| w{n} ||| a={n + 1}\n" for n, i in enumerate([3, 1, 1, 3, 0, 3]))
    pool = read_nbest(put(tmp_path, text))
    assert [(r[0], r[1]) for r in rows(pool)] == [(0, "w4"), (1, "w1"), (1, "w2"), (3, "w0"), (3, "w3"), (3, "w5")]
    assert pool.shards[0].sentence_ids.tolist() == [0, 1, 3]


def test_rounds_are_merged_without_repetitions(tmp_path):
    one = put(tmp_path, "0 ||| a ||| f=1\n0 ||| b ||| f=1\n", "1")
    two = put(
        tmp_path, "1 ||| c ||| g=2\n0 ||| a ||| f=1\n0 ||| a ||| f=2\n0 ||| a ||| f=1 g=1\n0 ||| a  ||| f=1.0\n", "2"
    )
    pool = read_pool([one, two])
    assert [row[:3] for row in rows(pool)] == [
        (0, "a", {"f": 1.0}),
        (0, "b", {"f": 1.0}),
        (0, "a", {"f": 2.0}),
        (0, "a", {"f": 1.0, "g": 1.0}),
        (1, "c", {"g": 2.0}),
    ]
    assert pool.shards[0].rounds.tolist() == [0, 0, 1, 1, 1]


BROKEN = [
    ("", "empty", None),
    ("\n \n", "not a candidate list", 1),
    ("hello\n", "not a candidate list", 1),
    ("0 ||| a ||| f= 1\n1 ||| b\n", "2 fields", 2),
    ("x ||| a ||| f= 1\n", "expected a sentence number", 1),
    ("-1 ||| a ||| f= 1\n", "expected a sentence number", 1),
    ("99999999999 ||| a ||| f= 1\n", "expected a sentence number", 1),
    ("0 ||| a ||| f= nan\n", "not finite", 1),
    ("0 ||| a ||| f= 1\n0 ||| a ||| f=-inf\n", "not finite", 2),
    ("0 ||| a ||| f= 1e400\n", "too large", 1),
    ("0 ||| a ||| f= 1" + "0" * 400 + ".5\n", "too large", 1),
    ("0 ||| a ||| f= 0.1e+999999999999999999999\n", "too large", 1),
    ("0 ||| a ||| f= 1e39\n", "too large for 32 bits", 1),
    ("0 ||| a ||| f=\n", "'f' has no value", 1),
    ("0 ||| a ||| f= g= 1\n", "'f' has no value", 1),
    ("0 ||| a ||| = 1\n", "name is empty", 1),
    ("0 ||| a ||| =1\n", "expected a feature", 1),
    ("0 ||| a ||| f=x\n", "expected a number after '='", 1),
    ("0 ||| a ||| 1 2 3\n", "expected a feature", 1),
    ("0 ||| a ||| f=1 f=2\n", "duplicate feature 'f'", 1),
    ("0 ||| a ||| f= 1 2\n0 ||| a ||| f= 1\n", "1 values here and 2 before", 2),
    ("0 ||| a ||| f=1 ||| x\n", "expected the total score", 1),
    ("0 ||| \xff ||| f=1\n".encode("latin-1"), "invalid UTF-8", 1),
    ('{"id": 0}\n', '"text" is missing', 1),
    ('{"text": ""}\n', '"id" is missing', 1),
    ('{"id": 0, "id": 1, "text": ""}\n', "duplicate key 'id'", 1),
    ('{"id": 0.5, "text": ""}\n', "expected a sentence number", 1),
    ('{"id": "0", "text": ""}\n', "expected a number", 1),
    ('{"id": 0, "text": "", "features": {"a": NaN}}\n', "not finite", 1),
    ('{"id": 0, "text": "", "features": {"a": -Infinity}}\n', "not finite", 1),
    ('{"id": 0, "text": "", "features": {"a": "1"}}\n', "expected a number", 1),
    ('{"id": 0, "text": "", "features": {"a": 1, "a": 2}}\n', "duplicate feature 'a'", 1),
    ('{"id": 0, "text": "", "features": {"": 1}}\n', "name is empty", 1),
    ('{"id": 0, "text": "", "features": {"a\\tb": 1}}\n', "control character", 1),
    ('{"id": 0, "text": "", "scores": {"a": 1, "a": 2}}\n', "duplicate score 'a'", 1),
    ('{"id": 0, "text": "\\ud800"}\n', "surrogate", 1),
    ('{"id": 0, "text": "a"} x\n', "the end of the line", 1),
    ('{"id": 0, "text": "a",}\n', "invalid JSON", 1),
    ('{"id": 01, "text": "a"}\n', "expected a number", 1),
    ('{"id": 0, "text": "a", "x": ' + "[" * 100 + "\n", "nested", 1),
    ('{"id": 0, "text": "a"', "invalid JSON", 1),
]


@pytest.mark.parametrize(("text", "message", "line"), BROKEN)
def test_broken_lists_are_refused(tmp_path, text, message, line):
    with pytest.raises(InputError, match=message) as caught:
        read_nbest(put(tmp_path, text))
    assert caught.value.line == line
    assert str(tmp_path / "list") in str(caught.value)


FULL = '{"id": 0, "text": "a", "features": {"logprob": -3.2, "lm": -7.5}}\n'


@pytest.mark.parametrize(
    ("text", "line", "feature"),
    [
        (FULL + '{"id": 0, "text": "b", "features": {"logprob": -9.9}}\n', 2, "lm"),
        ('\n{"id": 4, "text": "b", "features": {"logprob": -9.9}}\n' + FULL, 2, "lm"),
        (FULL + '{"id": 7, "text": "b", "feature": {"logprob": -9.9, "lm": -1}}\n' + FULL, 2, "logprob"),
        ("0 ||| a ||| LM= -1.5 P= 2 ||| 0\n0 ||| b ||| P= 1 ||| 0\n", 2, "LM"),
    ],
)
def test_a_score_that_a_candidate_lacks_is_no_zero(tmp_path, text, line, feature):
    path = put(tmp_path, text)
    with pytest.raises(InputError, match=f"has no '{feature}'") as refused:
        read_nbest(path)
    assert refused.value.line == line
    assert read_nbest(path, allow_missing=True).n_candidates == text.count("\n") - text.startswith("\n")


@pytest.mark.parametrize(
    "text",
    [
        "0 ||| a ||| lm=-1.5 w=2 ||| 0\n0 ||| b ||| w=1 ||| 0\n",  # cdec leaves out zeros
        "0 ||| a ||| 1 ||| lm=-1.5 w=2\n0 ||| b ||| 0 ||| w=1\n",  # so does Travatar
        "0 ||| a ||| lm: -1.5 w: 2 ||| 0\n0 ||| b ||| w: 1 ||| 0\n",  # and Phrasal
        "0 ||| a ||| LM= -1.5 pl_1,1= 2 ||| 0\n0 ||| b ||| LM= -1 ||| 0\n",  # counts may be sparse
        FULL + FULL.replace('"lm"', '"lm": -2, "rare"') + FULL,  # few candidates have it
    ],
)
def test_features_that_may_be_left_out(tmp_path, text):
    assert read_nbest(put(tmp_path, text)).n_sentences == 1


def test_sentence_numbers_are_line_numbers(tmp_path):
    for text in ("1718000000 ||| a ||| x=1 ||| 0\n", '{"id": 1718000000, "text": "a"}\n'):
        with pytest.raises(InputError, match="sentence 1718000000 after 0 candidates; .* from 0") as refused:
            read_nbest(put(tmp_path, text))
        assert refused.value.line == 1
    assert read_nbest(put(tmp_path, "900000 ||| a ||| x=1 ||| 0\n")).n_sentences == 1


def test_a_sentence_number_has_no_quotes(tmp_path):
    with pytest.raises(InputError, match="expected a number as the id, such as 0, without quotes"):
        read_nbest(put(tmp_path, '{"id": "0", "text": "a"}\n'))


def test_segmentation_is_noticed(tmp_path):
    plain, marked = "0 ||| a |b| c ||| x=1 ||| 0\n", "0 ||| der |0-0| mann |1-1| ||| x=1 ||| 0\n"
    assert not has_segmentation(read_nbest(put(tmp_path, plain)).words)
    assert has_segmentation(read_nbest(put(tmp_path, marked)).words)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_nbest(tmp_path / "absent")
    with pytest.raises(InputError, match="no candidate lists"):
        read_pool([])


def test_tiny_numbers_are_zero(tmp_path):
    small = "f=1e-400 h=1e-46 i=0." + "0" * 400 + "1 j=-12.5e-4000"
    assert rows(read_nbest(put(tmp_path, f"0 ||| a ||| {small} g=+2\n")))[0][2] == {"g": 2.0}


FAIRSEQ = """S-1\tein haus
T-1\ta house
H-1\t-0.5\ta ho@@ use |||
D-1\t-0.5\ta house |||
P-1\t-0.5 -0.5
H-1\t-2\t"the" house\\
D-1\t-2\t"the" house\\

S-0\tja
H-0\t-1e-1\t
D-0\t-1e-1\t
Generate test with beam=2: BLEU4 = 12.00
"""


def test_output_of_fairseq(tmp_path):
    pool = read_nbest(put(tmp_path, FAIRSEQ))
    found = [(s, text, features["score"], total) for s, text, features, total in rows(pool)]
    scores = [score * math.log(2) for score in (-0.1, -0.5, -2)]
    assert [(s, text) for s, text, *_ in found] == [(0, ""), (1, "a house |||"), (1, '"the" house\\')]
    assert [score for *_, score, _ in found] == pytest.approx(scores)
    assert [total for *_, total in found] == pytest.approx(scores)
    assert pool.dense_names() == ["score"]
    of_subwords = "".join(line + "\n" for line in FAIRSEQ.split("\n") if line.startswith("H"))
    texts = [text for _, text, *_ in rows(read_nbest(put(tmp_path, of_subwords)))]
    assert texts == ["", "a ho@@ use |||", '"the" house\\']
    logged = read_nbest(put(tmp_path, "2026-01-01 | INFO | model\n" + FAIRSEQ), format_=NbestFormat.FAIRSEQ)
    np.testing.assert_equal(rows(logged), rows(pool))
    for kind in "HD":
        for wrong in ("-1\t-0.5", "-1\tnan\ta", "-1\tx\ta", "-x\t1\ta"):
            with pytest.raises(InputError, match=f"expected '{kind}-0<TAB>score<TAB>text'") as raised:
                read_nbest(put(tmp_path, f"{kind}-0\t-1\ta\n{kind}{wrong}\n"))
            assert raised.value.line == 2
    with pytest.raises(InputError, match="read, not written; write jsonl"):
        write_nbest(pool, tmp_path / "out", format_=NbestFormat.FAIRSEQ)


GENERATED = """\
2026-11-19 10:21:05 | INFO | fairseq_cli.generate | {'_name': None, 'common': {'no_progress_bar': False}, 'bpe': 'x'}
2026-11-19 10:21:06 | INFO | fairseq.tasks.translation | [de] dictionary: 8848 types
2026-11-19 10:21:06 | INFO | fairseq.data.data_utils | loaded 2 examples from: data-bin/test.de-en.de
S-1\tein ho@@ hes haus
T-1\ta high house
H-1\t-0.30859375\ta hi@@ gh house
D-1\t-0.30859375\ta high house
P-1\t-0.2105 -0.4512 -0.1001 -0.4726
H-1\t-0.9121\tthe hi@@ gh house
D-1\t-0.9121\tthe high house
P-1\t-1.3 -0.9 -0.5 -0.9
2026-11-19 10:21:07 | INFO | fairseq_cli.generate | NOTE: hypothesis and token counts below also include the eos token
S-0\tja
T-0\tyes
H-0\t-0.05\tyes
D-0\t-0.05\tyes
P-0\t-0.05
2026-11-19 10:21:07 | INFO | fairseq_cli.generate | Translated 2 sentences (8 tokens) in 0.1s (20.00 sentences/s)
Generate test with beam=2: BLEU4 = 50.00, 80.0/60.0/50.0/40.0 (BP=1.000, ratio=1.000, syslen=4, reflen=4)
"""
"""The whole of a file `generate-test.txt`: what is logged, and records in order of length."""


def test_a_file_of_fairseq_generate_as_it_is(tmp_path):
    pool = read_nbest(put(tmp_path, GENERATED, "generate-test.txt"))
    found = rows(pool)
    assert [(s, text) for s, text, *_ in found] == [(0, "yes"), (1, "a high house"), (1, "the high house")]
    scores = [score * math.log(2) for score in (-0.05, -0.30859375, -0.9121)]
    assert [total for *_, total in found] == pytest.approx(scores)
    assert [features["score"] for _, _, features, _ in found] == pytest.approx(scores)
    assert format_of_list(tmp_path / "generate-test.txt") is NbestFormat.FAIRSEQ
    for number, text in enumerate(("a b c\n2026 | INFO | x\n", "1 ||| a ||| b=1 ||| 0\nD-1\t-1\tx\n")):
        path = put(tmp_path, text, f"other-{number}")
        assert format_of_list(path) is not NbestFormat.FAIRSEQ


@pytest.mark.parametrize(
    ("word", "mark"),
    [("ho@@ use", "@@"), ("\u2581house", "\u2581"), ("@@", None), ("house@", None), ("a\u2581b", None)],
)
def test_marks_of_subwords(tmp_path, word, mark):
    words = read_nbest(put(tmp_path, f"0 ||| the {word} ||| lm=1 ||| 0\n")).words
    assert subword_mark(words, ["the house", "yes"]) == mark
    assert subword_mark(words, ["the house", f"with {mark} of its own"]) is None
    many = "".join(f"0 ||| w{i} ||| lm=1 ||| 0\n" for i in range(300))
    assert subword_mark(read_nbest(put(tmp_path, f"0 ||| {word} ||| lm=1 ||| 0\n{many}")).words, ["a"]) is None


@pytest.mark.parametrize("format_", sorted(set(NbestFormat) - {NbestFormat.FAIRSEQ}))
def test_every_format_survives_a_round_trip(tmp_path, format_):
    text = MOSES + "7 ||| <s> é a ||| LM0= 0.1 TM0= 1e-30 3 WordPenalty0= -0 zz= 0.3333333\n"
    pool = read_nbest(put(tmp_path, text))
    write_nbest(pool, tmp_path / "out.xz", format_=format_)
    again = read_nbest(tmp_path / "out.xz", format_=None if format_ is not NbestFormat.JOSHUA else format_)
    expected = rows(pool)
    if format_ is NbestFormat.TRAVATAR:  # it has no way to say that there is no total
        expected[-1] = (*expected[-1][:3], 0.0)
        assert rows(again) == expected
    else:
        np.testing.assert_equal(rows(again), expected)
    every = pool.index.names(np.arange(len(pool.index), dtype=np.int32))
    assert set(again.dense_names()) == set(pool.dense_names() if format_ is NbestFormat.MOSES else every)


def test_json_lines_round_trip_with_scores_and_odd_words(tmp_path):
    lines = [
        {"id": 2, "text": 'a ||| "q" \\ \u2028 \x01', "features": {"a b": 1.5, "ü": -2}, "scores": {"x y": 0.1}},
        {"id": 2, "text": "", "features": {"a b": 0.25}, "total": 1e-9},
    ]
    path = put(tmp_path, "".join(json.dumps(line) + "\n" for line in lines))
    pool = read_nbest(path, allow_missing=True)
    write_nbest(pool, tmp_path / "out", format_=NbestFormat.JSONL)
    again = read_nbest(tmp_path / "out", allow_missing=True)
    np.testing.assert_equal(rows(again), rows(pool))
    np.testing.assert_equal(again.shards[0].scores, pool.shards[0].scores)
    assert json.loads((tmp_path / "out").read_text("utf-8").split("\n")[0])["text"] == lines[0]["text"]
    with pytest.raises(InputError, match="no named scores"):
        write_nbest(pool, tmp_path / "out", format_=NbestFormat.MOSES)


def test_what_fields_cannot_hold_is_refused(tmp_path):
    odd_word = read_nbest(put(tmp_path, '{"id": 0, "text": "a||| b", "features": {"f": 1}}\n'))
    odd_name = read_nbest(put(tmp_path, '{"id": 0, "text": "a", "features": {"f g": 1}}\n'))
    for pool in (odd_word, odd_name):
        with pytest.raises(InputError, match="use JSON Lines"):
            write_nbest(pool, tmp_path / "out", format_=NbestFormat.CDEC)
    assert not (tmp_path / "out").exists()
