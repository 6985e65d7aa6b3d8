"""ARPA text: what is read, and what is refused with its line."""

from __future__ import annotations

import math

import pytest

from dragoman.errors import InputError
from dragoman.lm import LanguageModel

GOOD = """\\data\\
ngram 1=5
ngram 2=4
ngram 3=2

\\1-grams:
-1.0\t<unk>
0\t<s>\t-0.5
-0.9\t</s>
-0.7\ta\t-0.3
-0.8\tb\t-0.2

\\2-grams:
-0.4\t<s> a\t-0.1
-0.3\ta b\t-0.25
-0.6\tb </s>
-0.5\tb b

\\3-grams:
-0.2\t<s> a b
-0.1\ta b </s>

\\end\\
"""


def load(tmp_path, text):
    path = tmp_path / "arpa"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return LanguageModel.load(path)


def log10(model, sentence, **ends):
    return model.score(sentence, **ends) / math.log(10)


def test_scores_by_hand(tmp_path):
    model = load(tmp_path, GOOD)
    assert (model.order, model.n_ngrams) == (3, (5, 4, 2))
    assert log10(model, "a b") == pytest.approx(-0.4 - 0.2 - 0.1)
    assert log10(model, "a a") == pytest.approx(-0.4 + (-0.1 - 0.3 - 0.7) + (-0.3 - 0.9))
    assert log10(model, "b x", bos=False, eos=False) == pytest.approx(-0.8 + (-0.2 - 1.0))
    assert [token.ngram_length for token in model.full_scores("a b")] == [2, 3, 3]


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("\t", " "),
        GOOD.replace("\n", "\r\n"),
        "a comment\n\n" + GOOD,
        "\ufeff" + GOOD,
        GOOD + "\n\n",
        GOOD.replace("ngram 1=5", "ngram  1 = 5"),
        GOOD.replace("<unk>", "<UNK>"),
        GOOD.removesuffix("\n"),
        GOOD.replace("-0.6\tb </s>", "-0.6\tb </s>\t0"),
        GOOD.replace("-0.6\tb </s>", "-0.6\tb </s>\t"),
    ],
    ids=range(10),
)
def test_variants_that_say_the_same(tmp_path, text):
    model = load(tmp_path, text)
    for sentence in ("a b", "a a", "b x b", ""):
        assert model.score(sentence) == load(tmp_path, GOOD).score(sentence)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("-0.7\ta", "0.7\ta", 10, "positive"),
        ("-0.7\ta", "nan\ta", 10, "log probability"),
        ("-0.7\ta", "-inf\ta", 10, "log probability"),
        ("-0.7\ta", "-0,7\ta", 10, "log probability"),
        ("-0.7\ta", "-1e999\ta", 10, "log probability"),
        ("-0.7\ta", "-1e39\ta", 10, "too small"),
        ("a\t-0.3", "a\tinf", 10, "backoff"),
        ("a\t-0.3", "a\tx", 10, "backoff"),
        ("a\t-0.3", "a\t-0.3\t-0.4", 10, "more fields"),
        ("a\t-0.3", "a", 10, "no backoff weight"),
        ("a b\t-0.25", "a b", 15, "no backoff weight"),
        ("-0.8\tb\t-0.2", "-0.8\tnew york\t-0.2", 11, "expected 1 word, found 2"),
        ("a b\t-0.25", "a\t-0.25", 15, "expected 2 words, found 1"),
        ("<s> a b", "<s> a b b", 20, "expected 3 words, found 4"),
        ("<s> a b", "<s> a c", 20, "'c' is not a 1-gram"),
        ("<s> a b", "<s> a b\t-0.1", 20, "highest order"),
        ("-0.8\tb\t-0.2", "-0.8\ta\t-0.2", 11, "'a' is a duplicate"),
        ("-0.5\tb b", "-0.5\ta b", 17, "'a b' is a duplicate"),
        ("a b </s>", "<s> a b", 21, "'<s> a b' is a duplicate"),
        ("ngram 2=4", "ngram 2=5", 19, "announces 5 2-grams, but the section has 4"),
        ("ngram 2=4", "ngram 2=3", 17, "more 2-grams than the 3"),
        ("ngram 2=4", "ngram 2=99999999999999999999", 3, "expected 'ngram ORDER=COUNT'"),
        ("ngram 2=4", "ngram 2=-4", 3, "expected 'ngram ORDER=COUNT'"),
        ("ngram 2=4", "ngram 3=4", 3, "expected the count of order 2"),
        ("ngram 3=2", "ngram 3=2\nngram 4=0", 24, "\\4-grams:"),
        ("\\2-grams:", "\\3-grams:", 13, "expected the section"),
        ("\\2-grams:", "\\junk:", 13, "expected the section"),
        ("\\end\\", "\\4-grams:", 23, "expected \\end\\"),
        ("\\end\\\n", "\\end\\\nmore\n", 24, "after \\end\\"),
        ("\\end\\\n", "", 22, "truncated"),
        ("-0.5\tb b\n", "\n-0.5\tb b\n", 18, "empty line"),
        ("<unk>", "<\xff", 7, "invalid UTF-8"),
        ("\\data\\", "data", 23, "is not a language model"),
        ("0\t<s>\t-0.5\n", "", 12, "announces 5"),
        ("ngram 1=5\nngram 2=4\nngram 3=2\n", "", 3, "no 'ngram"),
    ],
)
def test_malformed_text_is_refused_with_its_line(tmp_path, old, new, line, message):
    assert old in GOOD
    text = GOOD.replace(old, new, 1).encode("latin-1")
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.path) == (line, str(tmp_path / "arpa"))


@pytest.mark.parametrize("cut", range(0, len(GOOD) - 1, 7))
def test_a_file_cut_off_anywhere_is_refused(tmp_path, cut):
    with pytest.raises(InputError):
        load(tmp_path, GOOD[: min(cut, len(GOOD) - 7)])


@pytest.mark.parametrize("symbol", ["<s>", "</s>"])
def test_sentence_ends_must_be_listed(tmp_path, symbol):
    with pytest.raises(InputError, match="lack"):
        load(tmp_path, f"\\data\\\nngram 1=2\n\n\\1-grams:\n-1\ta\n-1\t{symbol}\n\n\\end\\\n")


def test_an_order_that_is_too_high_is_refused_by_name(tmp_path):
    text = "\\data\\\n" + "".join(f"ngram {n}=1\n" for n in range(1, 12))
    with pytest.raises(InputError, match="greater than 10") as caught:
        load(tmp_path, text)
    assert caught.value.line == 12


def test_without_unk_unknown_words_get_ten_to_the_minus_100(tmp_path):
    text = GOOD.replace("ngram 1=5", "ngram 1=4").replace("-1.0\t<unk>\n", "")
    model = load(tmp_path, text)
    assert log10(model, "x", bos=False, eos=False) == pytest.approx(-100)


def test_ngrams_missing_below_change_no_score(tmp_path):
    # "b a b" has neither its first nor its last two words in the order below.
    pruned = GOOD.replace("ngram 3=2", "ngram 3=3").replace("-0.1\ta b </s>\n", "-0.1\ta b </s>\n-0.05\tb a b\n")
    pruned = pruned.replace("ngram 2=4", "ngram 2=3").replace("-0.3\ta b\t-0.25\n", "")
    model = load(tmp_path, pruned)
    assert log10(model, "b a b", bos=False, eos=False) == pytest.approx(-0.8 + (-0.2 - 0.7) - 0.05)
    assert log10(model, "a b", eos=False) == pytest.approx(-0.4 - 0.2)
    assert log10(model, "a b b", bos=False, eos=False) == pytest.approx(-0.7 + (-0.3 - 0.8) + -0.5)
    inner = model.join(["b"])
    assert model.join(["b", "a", inner]).score == pytest.approx(model.score("b a b", bos=False, eos=False), abs=1e-5)
    model.export_arpa(tmp_path / "closed")
    closed = LanguageModel.load(tmp_path / "closed")
    assert closed.score("b a b b a b") == pytest.approx(model.score("b a b b a b"), abs=1e-5)


def test_foreign_words_are_read_plain_and_ours_escaped(tmp_path):
    for word, stored in [("<num>", "\\<num>"), ("[X,1]", "\\[X,1]"), ("\\x", "\\\\\\x"), ("c|||d", "\\c\\p\\p\\pd")]:
        for form in (word, stored):
            model = load(tmp_path, GOOD.replace("b", form))
            assert not model.full_scores(word)[0].oov
            model.export_arpa(tmp_path / "out")
            assert f"\t{stored}\t" in (tmp_path / "out").read_text(encoding="utf-8")
