"""Another spelling of text that a system knows more words of."""

from __future__ import annotations

import pytest
from tests.kit.small_systems import make_systems, sentences_of

from dragoman.system import System
from dragoman.view.serve import Explorer
from dragoman.view.serve.explorer import Search
from dragoman.view.serve.suggestion import suggested


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_systems(tmp_path_factory.mktemp("suggestion"))


@pytest.fixture(scope="module")
def vocab(made):
    return System.load(made / "phrase").grammar.source_vocab


@pytest.fixture(scope="module")
def sentence(made):
    return next(line for line in sentences_of(made) if line.endswith(" .") and line.count(" ") > 4)


def test_signs_come_apart_and_capitals_go(vocab, sentence):
    written = sentence.removesuffix(" .") + "."
    assert suggested(written, vocab) == sentence
    assert suggested(written.upper(), vocab) == sentence
    assert suggested(f"({written}\n{sentence.title()}", vocab) == f"( {sentence}\n{sentence}"


def test_what_is_known_stays(vocab, sentence):
    assert suggested(sentence, vocab) is None
    assert suggested("", vocab) is None
    assert suggested("xyzzy Xyzzy &apos; <t> 3.5", vocab) is None
    assert suggested(f"{sentence} Xyzzy", vocab) is None


def test_it_is_told_beside_the_explanation(made, sentence):
    explorer = Explorer.load([made / "phrase"])
    found = explorer.explain(Search(system="phrase", text=sentence.upper()), reference="the book .")
    assert found["suggestion"] == {"text": sentence, "reference": None}
    assert explorer.explain(Search(system="phrase", text=sentence))["suggestion"]["text"] is None
