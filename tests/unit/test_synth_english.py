"""English inflection against hand-written truth."""

from __future__ import annotations

import pytest

from dragoman.synth.draw import Draw
from dragoman.synth.english import article, comparative, conjugate, contract_not, plural, superlative
from dragoman.synth.verbgroups import Modal, Plan, Tense, english_group, join_subject


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("book", "books"),
        ("box", "boxes"),
        ("story", "stories"),
        ("boy", "boys"),
        ("child", "children"),
        ("wife", "wives"),
        ("washing machine", "washing machines"),
        ("potato", "potatoes"),
        ("match", "matches"),
        ("sheep", "sheep"),
        ("bunch of flowers", "bunches of flowers"),
    ],
)
def test_plurals(one: str, many: str) -> None:
    assert plural(one) == many


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("apple", "an"),
        ("house", "a"),
        ("hour", "an"),
        ("university", "a"),
        ("honest man", "an"),
        ("old", "an"),
    ],
)
def test_articles(word: str, expected: str) -> None:
    assert article(word) == expected


@pytest.mark.parametrize(
    ("base", "third", "past", "ing"),
    [
        ("play", "plays", "played", "playing"),
        ("watch", "watches", "watched", "watching"),
        ("carry", "carries", "carried", "carrying"),
        ("stop", "stops", "stopped", "stopping"),
        ("use", "uses", "used", "using"),
        ("go", "goes", "went", "going"),
        ("lie", "lies", "lay", "lying"),
        ("have", "has", "had", "having"),
        ("begin", "begins", "began", "beginning"),
        ("skip", "skips", "skipped", "skipping"),
    ],
)
def test_verbs(base: str, third: str, past: str, ing: str) -> None:
    irregular = {"go": "went gone", "lie": "lay lain", "have": "had had", "begin": "began begun"}
    verb = conjugate(base, irregular)
    assert (verb.present[2], verb.past[2], verb.ing) == (third, past, ing)
    assert verb.present[0] == verb.present[5] == base


def test_comparison() -> None:
    assert [
        comparative(w) for w in ("big", "good", "happy", "expensive", "nice", "old", "clever", "boring", "tired")
    ] == [
        "bigger",
        "better",
        "happier",
        "more expensive",
        "nicer",
        "older",
        "cleverer",
        "more boring",
        "more tired",
    ]
    assert superlative("famous") == "most famous"
    assert superlative("large") == "largest"


def test_contractions_are_split_as_moses_does() -> None:
    assert [contract_not(w) for w in ("does", "will", "can", "am", "is")] == [
        "doesn 't",
        "won 't",
        "can 't",
        "am not",
        "isn 't",
    ]


def group(
    plan: Plan, *, negated: bool = False, question: bool = False, person: int = 2, verb: str = "read"
) -> set[tuple[str, str]]:
    r = Draw()
    made = set()
    for seed in range(60):
        r.restart(0, seed)
        lexeme = conjugate(verb, {"read": "read read"})
        made.add(english_group(lexeme, plan, person, r, negated=negated, question=question, stative=False))
    return made


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
    assert group(Plan(Tense.HABIT, Modal.MUSS), negated=True) == {
        ("doesn 't", "have to read"),
        ("does not", "have to read"),
    }
    assert group(Plan(Tense.HABIT, Modal.DARF, past=True)) == {("was", "allowed to read")}
    assert group(Plan(Tense.HABIT, Modal.KANN), negated=True) == {("can 't", "read"), ("cannot", "read")}


def test_only_pronouns_contract_with_auxiliaries() -> None:
    r = Draw()
    r.restart(0, 0)
    assert {join_subject("he", "is", r) for _ in range(50)} == {"he is", "he 's"}
    assert {join_subject("the man", "is", r) for _ in range(50)} == {"the man is"}
