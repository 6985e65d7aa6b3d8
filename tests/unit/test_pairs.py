"""Brackets and quotation marks that come in pairs, and stay so in a translation."""

from __future__ import annotations

import pytest
from tests.kit.small_raw import write_raw_splits

from dragoman.corpus.tokens import TextTokenizer, TokenLines
from dragoman.corpus.tokens.pairs import QUOTATION, broken_pairs, closes, kind_of, pairs_of, without_strays
from dragoman.corpus.tokens.tags import put_tags, take_tags
from dragoman.lm import EstimateConfig
from dragoman.system import LineTranslation, TrainConfig, train


def words(text):
    return text.split(" ")


@pytest.mark.parametrize(
    ("token", "kind", "ends"),
    [
        ('"￭', QUOTATION, False),
        ('￭"', QUOTATION, True),
        ('"', QUOTATION, None),
        ("￭“", QUOTATION, True),  # as in German
        ("“", QUOTATION, False),
        ("»￭", QUOTATION, False),
        ("»", QUOTATION, True),
        ("」", QUOTATION, True),
        ("￭(￭", "(", False),
        ("￭)￭", "(", True),
        ("￭«￭", QUOTATION, None),
        ("(a)", None, None),
        ("￭", None, None),
        ("a", None, None),
    ],
)
def test_what_a_sign_does(token, kind, ends):
    assert kind_of(token) == kind
    assert closes(token) is ends


def test_pairs_of_a_sentence():
    tokens = words("a (￭ “￭ b ￭” (￭ c ￭) ￭) ￭.")
    assert sorted(pairs_of(tokens, ("(", QUOTATION))) == [(1, 8), (2, 4), (5, 7)]
    assert pairs_of(tokens, (QUOTATION,)) == [(2, 4)]
    assert pairs_of(words("a ￭) b (￭ c"), ("(",)) is None
    assert pairs_of(words("(￭ “￭ a ￭) ￭”"), ("(", QUOTATION)) is None
    assert pairs_of(words("a b"), ("(",)) == []
    assert pairs_of(words('"￭ a ￭"￭ -￭ b " c "'), (QUOTATION,)) == [(0, 2), (5, 7)]


def test_what_is_broken():
    source = words("a (￭ „￭ b ￭“ ￭)")
    assert not broken_pairs(source, words("x “￭ y ￭” (￭ z ￭)"))
    assert not broken_pairs(source, words("x y"))  # a pair that is gone is no half of one
    assert broken_pairs(source, words("x “￭ y (￭ z ￭)")) == {QUOTATION}
    assert broken_pairs(source, words("￭) x (￭ ￭” z")) == {"(", QUOTATION}
    assert broken_pairs(source, words("x (￭ “￭ y ￭) z ￭”")) == {"(", QUOTATION}
    assert not broken_pairs(words("a ￭)"), words("x ￭)"))  # as in the source
    assert not broken_pairs(words("a"), words("x (￭"))


def test_halves_of_brackets_that_nobody_asked_for():
    assert without_strays(words("a b"), words("x (￭ y")) == ["x", "y"]
    assert without_strays(words("a b"), words("x (￭ y ￭)")) == words("x (￭ y ￭)")
    assert without_strays(words("1 ￭) b"), words("1 ￭) x [￭ y")) == words("1 ￭) x y")
    assert without_strays(words("a"), words("“￭ x")) == words("“￭ x")  # may end in another line


def test_pairs_are_put_back_as_tags_are():
    found, tags = take_tags(words("<b>￭ (￭ a b ￭) ￭</b> c"), [(1, 4)])
    assert found == ["a", "b", "c"]
    assert [tag.partner for tag in tags] == [3, 2, 1, 0]
    assert put_tags(["C", "A", "B"], [(0, 1), (1, 2), (2, 0)], tags) == words("C <b>￭ (￭ A B ￭) ￭</b>")


def test_a_translation_without_half_a_pair():
    """What the decoder breaks is decoded without the signs, and without those it makes up."""
    asked = []

    def decode(sentences):
        return [sentence.upper().replace("￭) ", "") for sentence in sentences]

    def linked(sentence):
        asked.append(sentence)
        n_words = len(words(sentence))
        return f"(￭ {sentence.upper()}", [(i, i + 1) for i in range(n_words)]

    job = LineTranslation(text=TokenLines(), protect=True)
    lines = ["a (￭ b c ￭) d", "a (￭ b c", "a [￭ b ￭] (￭ %s ￭) d"]
    assert job.translate(lines, decode, linked) == ["A (￭ B C ￭) D", "A (￭ B C", "A [￭ B ￭] (￭ %s ￭) D"]
    assert asked[0] == "a b c d"
    assert LineTranslation(text=TokenLines()).translate(lines[:1], decode, linked) == ["A (￭ B C D"]


def test_quotation_marks_of_the_target(tmp_path):
    """A mark that is put back is the one that the target's text has."""
    write_raw_splits(tmp_path, 60, 0, 1, seed=3)
    for name, left, right in (("train.de", "»", "«"), ("train.en", "“", "”")):
        lines = (tmp_path / name).read_text(encoding="utf-8").splitlines()
        (tmp_path / name).write_text("".join(f"{left}{line}{right}\n" for line in lines), encoding="utf-8")
    system = train(
        tmp_path / "train.de", tmp_path / "train.en", tmp_path / "s", config=TrainConfig(lm=EstimateConfig(order=2))
    )
    text = system.lines()
    assert [text.paired(token, False) for token in ("„￭", "«", "(￭", "<b>￭")] == ["“￭", "“￭", "(￭", "<b>￭"]
    assert [text.paired(token, True) for token in ("￭“", "￭«￭", "￭)", "￭</b>")] == ["￭”", "￭”", "￭)", "￭</b>"]
    (found,) = system.translate(["»Der Hund (»sehr alt«) schläft«."])
    assert pairs_of(TextTokenizer("en").tokenize(found).split(), ("(", QUOTATION)) is not None


def test_a_mark_before_a_full_stop_begins_nothing():
    tokenize = TextTokenizer("fr").tokenize
    assert tokenize("dit « oui ». Et « non », dit-il.") == "dit « oui » ￭. Et « non » ￭, dit-il ￭."
    assert tokenize("«oui».") == "«￭ oui ￭» ￭."
    assert tokenize("»..» ».directory«") == "»￭ .. ￭» »￭ .￭ directory ￭«"
