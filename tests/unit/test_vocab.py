"""Words, ids, and words that look like markup."""

from __future__ import annotations

import numpy as np
import pytest

from dragoman._core import WordTable, escape_word, unescape_word, word_table
from dragoman.corpus import BOS, EOS, UNK, Vocab
from dragoman.errors import InputError


def test_ids_in_order_of_occurrence():
    vocab = Vocab.of(["das haus", "das\tauto "])
    assert [vocab.word(i) for i in range(len(vocab))] == ["<unk>", "<s>", "</s>", "das", "haus", "auto"]
    assert vocab.encode("auto das fahrrad").tolist() == [5, 3, UNK]
    assert "haus" in vocab
    assert "fahrrad" not in vocab
    assert vocab.decode([3, 4]) == "das haus"


@pytest.mark.parametrize("word", ["<s>", "</s>", "<unk>"])
def test_corpus_words_are_never_the_reserved_symbols(word):
    vocab = Vocab.of([f"a {word} b"])
    assert vocab.id(word) not in {UNK, BOS, EOS}
    assert vocab.word(vocab.id(word)) == word


@pytest.mark.parametrize(
    ("word", "stored"),
    [
        ("|||", "\\\\p\\p\\p"),
        ("[X,1]", "\\[X,1]"),
        ("<s>", "\\<s>"),
        ("\\n", "\\\\\\n"),
        ("a|||b", "\\a\\p\\p\\pb"),
        ("|", "|"),
        ("[", "["),
        ("&lt;", "&lt;"),
        ("a\\b", "a\\b"),
    ],
)
def test_escapes(word, stored):
    assert escape_word(word.encode()).decode() == stored
    assert unescape_word(stored.encode()).decode() == word


def test_save_and_load(tmp_path):
    vocab = Vocab.of(["das ||| <s> [X,1] \\ \u2028 \u00a0 über"])
    vocab.save(tmp_path / "v")
    again = Vocab.load(tmp_path / "v")
    assert [again.word(i) for i in range(len(again))] == [vocab.word(i) for i in range(len(vocab))]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<unk>\n<s>\n</s>\na\na\n", "duplicate"),
        (b"<unk>\n<s>\n</s>\n\nb\n", "empty word"),
        (b"<s>\n</s>\n", "must begin with"),
        (b"", "must begin with"),
        (b"<unk>\n<s>\n</s>\nhalf", "middle of a line"),
    ],
)
def test_damaged_vocabularies(tmp_path, content, message):
    path = tmp_path / "v"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        Vocab.load(path)


def test_lying_offsets_are_refused():
    for offsets in ([0, 5], [1, 3], [0, 2, 1, 3], []):
        with pytest.raises(InputError):
            word_table(b"abc", np.array(offsets, dtype=np.int64))


def test_dtypes_are_not_converted_silently():
    with pytest.raises(TypeError):
        word_table(b"abc", np.array([0, 3], dtype=np.int32))


def test_ids_out_of_range():
    table = WordTable()
    for i in (-1, 0, 2**31 - 1):
        with pytest.raises(IndexError):
            table.word(i)
