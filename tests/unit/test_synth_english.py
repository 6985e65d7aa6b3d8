"""English inflection against hand-written truth."""

from __future__ import annotations

from dragoman_synth.draw import Draw
from dragoman_synth.english import article, comparative, conjugate, contract_not, plural, superlative
from dragoman_synth.verbgroups import Modal, Plan, Tense, english_group, join_subject


def test_plurals() -> None:
    ones = "book, box, story, boy, child, wife, washing machine, potato, match, sheep, bunch of flowers"
    assert ", ".join(plural(one) for one in ones.split(", ")) == (
        "books, boxes, stories, boys, children, wives, washing machines, potatoes, matches, sheep, bunches of flowers"
    )


def test_articles() -> None:
    for phrase in ("an apple", "a house", "an hour", "a university", "an honest man", "an old"):
        expected, _, word = phrase.partition(" ")
        assert article(word) == expected


VERBS = """
play plays played playing
watch watches watched watching
carry carries carried carrying
stop stops stopped stopping
use uses used using
go goes went going
lie lies lay lying
have has had having
begin begins began beginning
skip skips skipped skipping
"""


def test_verbs() -> None:
    irregular = {"go": "went gone", "lie": "lay lain", "have": "had had", "begin": "began begun"}
    for row in VERBS.split("\n")[1:-1]:
        base = row.split()[0]
        verb = conjugate(base, irregular)
        assert f"{base} {verb.present[2]} {verb.past[2]} {verb.ing}" == row
        assert verb.present[0] == verb.present[5] == base


def test_comparison() -> None:
    words = "big, good, happy, expensive, nice, old, clever, boring, tired"
    assert ", ".join(comparative(word) for word in words.split(", ")) == (
        "bigger, better, happier, more expensive, nicer, older, cleverer, more boring, more tired"
    )
    assert superlative("famous") == "most famous"
    assert superlative("large") == "largest"


def test_contractions_are_split_as_moses_does() -> None:
    made = ", ".join(contract_not(word) for word in ("does", "will", "can", "am", "is"))
    assert made == "doesn 't, won 't, can 't, am not, isn 't"


def group(
    plan: Plan, *, negated: bool = False, question: bool = False, person: int = 2, verb: str = "read"
) -> set[tuple[str, str]]:
    lexeme = conjugate(verb, {"read": "read read"})
    r = Draw()
    r.restart(0, 0)
    return {
        english_group(lexeme, plan, person, r, negated=negated, question=question, stative=False) for _ in range(60)
    }


def test_do_support() -> None:
    assert group(Plan(Tense.PAST)) == {("", "read")}
    assert group(Plan(Tense.PAST), negated=True) == {("didn 't", "read"), ("did not", "read")}
    assert group(Plan(Tense.HABIT), question=True) == {("does", "read")}
    assert group(Plan(Tense.STATE), verb="be", negated=True) == {("isn 't", ""), ("is not", "")}


def test_tenses_and_modals() -> None:
    assert group(Plan(Tense.NOW)) == {("is", "reading")}
    assert group(Plan(Tense.PERFECT), person=0) == {("have", "read")}
    assert group(Plan(Tense.SINCE)) == {("has", "read"), ("has", "been reading")}
    assert group(Plan(Tense.WILL)) == {("will", "read"), ("is", "going to read")}
    must_not = group(Plan(Tense.HABIT, Modal.MUSS), negated=True)
    assert must_not == {("doesn 't", "have to read"), ("does not", "have to read")}
    assert group(Plan(Tense.HABIT, Modal.DARF, past=True)) == {("was", "allowed to read")}
    assert group(Plan(Tense.HABIT, Modal.KANN), negated=True) == {("can 't", "read"), ("cannot", "read")}


def test_only_pronouns_contract_with_auxiliaries() -> None:
    r = Draw()
    r.restart(0, 0)
    assert {join_subject("he", "is", r) for _ in range(50)} == {"he is", "he 's"}
    assert {join_subject("the man", "is", r) for _ in range(50)} == {"the man is"}
