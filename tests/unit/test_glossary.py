"""Terms and marked words: where they are found, whatever is cut or split around them."""

from __future__ import annotations

import pytest

from dragoman.corpus.tokens import MosesLines, RawLines, TextSettings, TextSide, TokenLines, WordSplitter
from dragoman.corpus.tokens.forced import Glossary, Masks
from dragoman.system.text import LineTranslation

SPLITTER = WordSplitter({"himmel": 9, "feste": 9, "haus": 9})


def raw_lines(language="de", segments=None):
    source = TextSide(language=language, segments=segments)
    return RawLines(source, TextSide(language="en", case=()), TextSettings(raw=True), SPLITTER)


def through(line, terms, text=None):
    """The line through a decoder that copies everything, and the sentences that it got."""
    decoded = []

    def decode(sentences):
        decoded.extend(sentences)
        return sentences

    def linked(tokens):
        decoded.append(tokens)
        return tokens, [(i, i) for i in range(len(tokens.split()))]

    job = LineTranslation(text=text or raw_lines(), terms=terms, protect=True)
    return job.translate([line], decode, linked)[0], decoded


def test_terms_come_before_sentences_and_unknown_words():
    terms = {"Himmelsfeste": "firmament", "Vol. Eins": "first volume"}
    assert through("die Himmelsfeste.", {})[0] == "die himmel feste."
    assert through("die Himmelsfeste.", terms)[0] == "die firmament."
    found, sentences = through("Ein Haus. Das vol. Eins. Dort. Himmelsfeste da.", terms)
    assert found == "Ein haus. Das first volume. Dort. Firmament da."
    assert len(sentences) == 4


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("das TOR, ein Tor", "das gate, ein gate"),
        ("Burg-Tor, Tor-Haus, Tore, TorX, x.tor", None),
        ("(Tor) Tor-", "(gate) gate-"),
        ("rotes  Tor am http://tor/tor", "red door am http://tor/tor"),
        ('<a href="tor">Tor</a>', '<a href="tor">gate</a>'),
        ("drücken Sie %s", "press %s now"),
    ],
)
def test_terms_are_whole_words(line, found):
    terms = {"Tor": "gate", "rotes Tor": "red door", "drücken Sie %s": "press %s now"}
    text = RawLines(TextSide(language="de"), TextSide(language="en"), TextSettings(raw=True))
    assert through(line, terms, text)[0] == (found or line)


def test_terms_of_a_script_without_spaces_are_letters_in_a_row():
    text = raw_lines("zh", {"我喜": 9, "欢你": 9})
    assert through("我喜欢你。", {"喜欢": "adore"}, text)[0] == "我 adore 你。"


def test_terms_of_tokens_are_whole_tokens():
    text = TokenLines(SPLITTER)
    assert through("der himmelsfeste himmelsfeste. feste", {"Himmelsfeste": "the firmament"}, text)[0] == (
        "der the firmament himmelsfeste. feste"
    )
    masks = Masks("")
    masked = Glossary({"haus": "house"}, text).masked("(￭ haus￭ ￭ haus", masks)
    one, two = masks.targets
    assert masked == f"(￭ {one}￭ ￭ {two}"
    assert masks.resolved(masked) == "(￭ house￭ ￭ house"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('ein <t translation="x">himmelsfeste</t>', "ein x"),
        ("ein <t translation='the \"x\"'>haus</t>", 'ein the "x"'),
        ('ein <t id="3" translation="a&lt;b" class="y">Haus. Das</t> dort', "ein a<b dort"),
        ('ein Garten<t translation="x">haus</t>tür', "ein Gartenxtür"),
        ('http://a.b/<t translation="x">haus</t>/y', "http://a.b/x/y"),
        ('ein <t translation="x">a</t><t translation="y">b</t>', "ein xy"),
        ('ein <t translation="">sehr</t> haus', "ein haus"),
        ('ein <t translation="x"/>haus', 'ein <t translation="x"/>haus'),
    ],
)
def test_marks(line, found):
    assert through(line, {})[0] == found


def test_marks_in_tokens_are_tokens():
    assert through('ein garten<t translation="x y">haus</t>tür .', {}, TokenLines())[0] == "ein garten x y tür ."


def test_what_tokenisers_of_others_break_is_hidden():
    text = MosesLines(TextSettings(source_language="de", target_language="en", lowercase=True))
    line = "um 20:30 Uhr am 24/12/2020 (Foo_bar_X), %s: 1.234,5."
    assert through(line, {}, text)[0] == "um 20:30 Uhr am 24/12/2020 (Foo_bar_X), %s: 1.234,5."
