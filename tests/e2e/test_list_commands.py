"""`rerank`, `oracle`, `forest best`: what does not fit is said, and no input is overwritten."""

from __future__ import annotations

import json
import math
import os

import numpy as np
import pytest

LIST = """0 ||| the house ||| lm= -1.5 tm= -1 ||| 0
0 ||| a house ||| lm= -1 tm= -2.5 ||| 0
1 ||| yes ||| lm= -2 tm= -0.5 ||| 0
"""
FILES = {
    "list": LIST,
    "weights": "lm 1\ntm 1\n",
    "ref": "the house\nyes\n",
    "forest.txt": "2 2\n1\n<s> |||  ||| 0\n1\n[0] house ||| LM0=-1.5 ||| 1\n",
}


@pytest.fixture
def run(inside, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return lambda words, status=0: inside(*words.split(), status=status)


def test_weights_that_fit_nothing_and_features_without_weights(run, tmp_path):
    (tmp_path / "typo").write_text("lm 1\ntmm 1\n")
    done = run("rerank --nbest list --weights typo -o out --summary s.json")
    expected = "1 weight fits no feature (tmm), 1 feature has no weight (tm)"
    assert f"warning: {expected}" in done.err
    assert json.loads((tmp_path / "s.json").read_text())["notes"] == [expected]
    assert "warning" not in run("rerank --nbest list --weights weights -o out").err


def test_two_weight_files_are_united(run, tmp_path):
    (tmp_path / "dense").write_text("lm= 1\n")
    (tmp_path / "sparse").write_text("tm 1\n")
    assert run("rerank --nbest list --weights dense --weights sparse").out == "the house\nyes\n"
    (tmp_path / "other").write_text("tm 2\n")
    assert "'tm' is 2.0 here and 1.0 before" in run("rerank --nbest list --weights weights --weights other", 2).err


def test_the_choice_is_scored(run, tmp_path):
    done = run("rerank --nbest list --weights weights -r ref -m ter -o out --summary s.json")
    assert "ter ↓: 0.00" in done.err
    assert json.loads((tmp_path / "s.json").read_text())["score"] == 0


def test_scores_of_the_file_are_shown_as_they_are(run, tmp_path):
    line = '{"id": 0, "text": "a", "features": {"lm": -1.5}, "scores": {"q": 0.79}}\n'
    (tmp_path / "json").write_text(line + line.replace("0.79", "0.5"))
    assert run("oracle --nbest json --external q").out == "q: 0.79\n"


def test_a_tokeniser_for_plain_text(run, tmp_path):
    (tmp_path / "plain").write_text("0 ||| Yes, the house is big. ||| lm= -1 ||| 0\n")
    (tmp_path / "plain.ref").write_text("Yes , the house is big .\n")
    assert "bleu: 0.00" in run("oracle --nbest plain -r plain.ref").out
    assert "bleu: 100.00" in run("oracle --nbest plain -r plain.ref --tokenize 13a").out


def test_fields_and_missing_features(run, tmp_path):
    (tmp_path / "odd").write_text("a ||| lm=-1 ||| x ||| 0\nb ||| lm=-2 ||| x ||| 0\n")
    assert run("rerank --nbest odd --fields text,features,,id --weights weights").out == "a\n"
    (tmp_path / "gap").write_text(LIST + "1 ||| no ||| tm= -0.5 ||| 0\n")
    refused = run("rerank --nbest gap --weights weights", 2).err
    assert "gap, line 4: a candidate of sentence 1 has no 'lm'" in refused
    assert run("rerank --nbest gap --weights weights --allow-missing").out == "the house\nno\n"


TUNE = """0 ||| Yes, a house. ||| lm= -1 tm= -1 ||| 0
0 ||| Yes, the big house is here. ||| lm= -1.5 tm= -1 ||| 0
"""


def test_tuning_says_what_does_not_fit(run, tmp_path):
    (tmp_path / "plain").write_text(TUNE)
    (tmp_path / "plain.ref").write_text("Yes , the big house is here .\n")
    (tmp_path / "typo").write_text("lm 1\ntmm 1\n")
    done = run("tune --nbest plain -r plain.ref --tokenize 13a --weights typo -o w --json")
    assert done.json["notes"][0] == "1 weight fits no feature (tmm), 1 feature has no weight (tm)"
    assert done.json["score_after"] == pytest.approx(100)
    gap = TUNE + "0 ||| Yes. ||| tm= -0.5 ||| 0\n"
    (tmp_path / "plain").write_text(gap)
    assert "line 3: a candidate of sentence 0 has no 'lm'" in run("tune --nbest plain -r plain.ref -o w", 2).err


def test_init_of_any_name(run, tmp_path):
    (tmp_path / "f").write_text("FEATURES_TXT_BEGIN_0 0 2 2 LM TM\n1 0\n0 1\nFEATURES_TXT_END_0\n")
    (tmp_path / "s").write_text(
        "SCORES_TXT_BEGIN_0 0 2 9 BLEU\n4 5 3 4 2 3 1 2 5\n5 5 4 4 3 3 2 2 5\nSCORES_TXT_END_0\n"
    )
    (tmp_path / "INIT").write_text("0.5 0.25\n0 0\n1 1\n")
    done = run("tune --stats f s --weights INIT -o w --json")
    assert "its bounds are not" in done.err
    assert done.json["score_after"] == pytest.approx(100)


def test_segmentation_marks_are_noticed(run, tmp_path):
    (tmp_path / "marked").write_text("0 ||| the |0-0| house |1-1| ||| lm= -1 ||| 0\n")
    assert "segmentation marks" in run("oracle --nbest marked -r ref --allow-missing").err


OVERWRITING = [
    "rerank --nbest list --weights weights -o list",
    "rerank --nbest list --weights weights -o hard",
    "rerank --nbest list --weights weights -o soft",
    "rerank --nbest list --weights weights -o out --summary weights",
    "oracle --nbest list -r ref -o ref",
    "tune --nbest list -r ref -o ref",
    "tune --nbest list -r ref --weights weights -o soft",
    "corpus tokenize -l en -i ref -o ref",
    "corpus detokenize -l en -i ref -o ref",
    "corpus clean -s ref -t ref --out-source ref --out-target out",
    "align -s ref -t ref -o out --forward ref",
    "lm train -i ref -o ref",
    "lm train -i ref -o out --arpa ref",
    "lm export ref -o ref",
    "lm query ref -i ref --per-sentence ref",
]


@pytest.mark.parametrize("words", OVERWRITING)
def test_no_input_is_overwritten(run, tmp_path, words):
    os.link(tmp_path / "list", tmp_path / "hard")
    (tmp_path / "soft").symlink_to("list")
    assert "would be overwritten" in run(words, 2).err
    assert {name: (tmp_path / name).read_text() for name in FILES} == FILES


def test_places_are_checked_before_the_work(run):
    for words in ("rerank --nbest list --weights weights -o no/out", "oracle --nbest list -r ref -o no/out"):
        done = run(words, 2)
        assert "no/out: its folder does not exist" in done.err
        assert "reading" not in done.err


def test_search_spaces_and_weights_that_have_nothing_in_common(run, tmp_path):
    refused = run("forest best forest.txt -w weights", 2).err
    assert "forest.txt: no weight belongs to a feature of the search space" in refused
    (tmp_path / "w").write_text("LM0 1\nother 1\n")
    done = run("forest best forest.txt -w w")
    assert done.out == "-1.500000\thouse\n"
    assert "1 weight fits no feature (other)" in done.err


def test_reference_lengths(run, tmp_path):
    (tmp_path / "one").write_text("0 ||| a b c d ||| x= 1 ||| 0\n")
    (tmp_path / "r0").write_text("a b c d\n")
    (tmp_path / "r1").write_text("a b c d e f\n")
    for length, score in (("closest", 100), ("shortest", 100), ("average", 100 * math.exp(1 - 5 / 4))):
        done = run(f"oracle --nbest one -r r0 -r r1 --reference-length {length} --json")
        assert done.json["score"] == pytest.approx(score)


def many_lists(n=24):
    """Lists in which `good` tells the better candidate, and `noise` does not."""
    rng = np.random.default_rng(1)
    lines, refs = [], []
    for s in range(n):
        words = [f"w{rng.integers(40)}" for _ in range(8)]
        refs.append(" ".join(words))
        for n_wrong in range(4):
            text = " ".join(["x"] * n_wrong + words[n_wrong:])
            lines.append(f"{s} ||| {text} ||| good= {-n_wrong - rng.random():.3f} noise= {rng.normal():.3f} ||| 0")
    return "\n".join(lines) + "\n", "\n".join(refs) + "\n"


def test_what_a_gain_is_worth(run, tmp_path):
    lists, refs = many_lists()
    (tmp_path / "many").write_text(lists)
    (tmp_path / "many.ref").write_text(refs)
    (tmp_path / "start").write_text("noise 1\n")
    done = run("tune --nbest many -r many.ref --weights start -o w --folds 4 --bootstrap 3 --json")
    held_out = done.json["held_out"]
    assert held_out["low"] <= held_out["score"] <= held_out["high"]
    assert held_out["p_start"] < 0.05
    assert held_out["holds"] > 0.9
    assert done.json["warnings"] == []
    assert {weight["name"] for weight in done.json["bootstrap"]["weights"]} == {"good", "noise"}
    shown = run("tune --nbest many -r many.ref --weights start --method all --folds 3")
    assert "held out: 100.00 (95% 100.00 to 100.00)" in shown.out
    assert "not distinguishable from" in shown.out
    to_stdout = run("tune --nbest many -r many.ref --weights start -o - --folds 3 --bootstrap 2")
    assert "held out" not in to_stdout.out
    assert "held out" in to_stdout.err


def test_chosen_methods_are_compared(run, tmp_path):
    lines = [
        f"{s} ||| {' '.join(['w'] * n + ['x'] * (9 - n))} ||| good= {n} noise= {n % 2} ||| 0"
        for s in range(9)
        for n in (3, 8, 5)
    ]
    (tmp_path / "many").write_text("\n".join(lines) + "\n")
    (tmp_path / "many.ref").write_text("w w w w w w w w w\n" * 9)
    told = "tune --nbest many -r many.ref --folds 2"
    done = run(f"{told} --method pro --method mira --json")
    assert {row["method"] for row in done.json["methods"]} == {"start", "pro", "mira"}
    assert "hols cannot be compared on lists" in run(f"{told} --method pro --method hols", status=2).err
    assert "given 2 times (pro, pro)" in run(f"{told} --method pro --method pro", status=2).err


def test_plain_text_with_a_table_of_numbers(run, tmp_path):
    """As the same candidates in JSON Lines."""
    rng = np.random.default_rng(5)
    texts, numbers, refs = [], [], []
    for _ in range(20):
        words = [f"w{rng.integers(30)}" for _ in range(7)]
        refs.append(" ".join(words))
        for n_wrong in rng.permutation(4):
            texts.append(" ".join(["x"] * n_wrong + words[n_wrong:]))
            numbers.append((round(-n_wrong + rng.normal(), 3), round(rng.normal(), 3)))
    texts[1], numbers[1] = texts[0], (9.0, 0.0)  # a duplicate with numbers of its own
    rows = [
        {"id": i // 4, "text": text, "features": {"good": a, "noise": b}}
        for i, (text, (a, b)) in enumerate(zip(texts, numbers, strict=True))
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (tmp_path / "texts").write_text("\n".join(texts) + "\n")
    (tmp_path / "numbers").write_text("\n".join(["good\tnoise", *(f"{a}\t{b}" for a, b in numbers)]) + "\n")
    (tmp_path / "refs").write_text("\n".join(refs) + "\n")
    plain = "--nbest texts --per-sentence 4 --scores numbers"
    results = []
    for lists in (plain, "--nbest rows.jsonl"):
        run(f"tune {lists} -r refs --method pro -o w.tsv")
        run(f"rerank {lists} --weights w.tsv -o out")
        results.append(((tmp_path / "w.tsv").read_text(), (tmp_path / "out").read_text()))
    assert results[0] == results[1]
    assert "for one list of plain text" in run("tune --nbest rows.jsonl --scores numbers -r refs -o w", status=2).err
    (tmp_path / "numbers").write_text("good\n1\n")
    assert "ends after 1 candidates" in run(f"tune {plain} -r refs -o w", status=2).err


def test_a_gain_that_does_not_hold(run, tmp_path):
    """Every feature is noise; among many of them some fit by chance."""
    rng = np.random.default_rng(3)
    lines, refs = [], []
    for s in range(12):
        words = [f"w{rng.integers(40)}" for _ in range(8)]
        refs.append(" ".join(words))
        for n_wrong in rng.permutation(4):
            text = " ".join(["x"] * n_wrong + words[n_wrong:])
            noise = " ".join(f"noise{i}= {rng.normal():.3f}" for i in range(12))
            lines.append(f"{s} ||| {text} ||| {noise} ||| 0")
    (tmp_path / "many").write_text("\n".join(lines) + "\n")
    (tmp_path / "many.ref").write_text("\n".join(refs) + "\n")
    done = run("tune --nbest many -r many.ref -o w --folds 4 --json")
    assert "warning: the gain of mert does not hold" in done.err
    assert len(done.json["warnings"]) == 1


def test_a_score_of_what_was_learned_is_called_so(run, tmp_path):
    """Once there are sentences enough for folds, unless folds were asked for."""
    rng = np.random.default_rng(4)
    hint = "note: this is the score on the sentences that it learned from; --folds 5"
    for n_sentences, is_hinted in ((60, True), (20, False)):
        lines, refs = [], []
        for s in range(n_sentences):
            words = [f"w{rng.integers(40)}" for _ in range(8)]
            refs.append(" ".join(words))
            texts = {n_wrong: " ".join(["x"] * n_wrong + words[n_wrong:]) for n_wrong in (3, 0, 1)}
            lines += [f"{s} ||| {text} ||| good= {-n_wrong} ||| 0" for n_wrong, text in texts.items()]
        (tmp_path / "own").write_text("\n".join(lines) + "\n")
        (tmp_path / "own.ref").write_text("\n".join(refs) + "\n")
        assert (hint in run("tune --nbest own -r own.ref -o w").err) == is_hinted
    assert hint not in run("tune --nbest own -r own.ref --folds 2 -o w").err
