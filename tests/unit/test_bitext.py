"""Bitexts: built by streaming, mapped back, refused when damaged."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dragoman.corpus import Bitext
from dragoman.errors import InputError, MismatchError


@pytest.fixture
def files(tmp_path):
    source, target = tmp_path / "f", tmp_path / "e"
    source.write_text("das haus\n\nein buch |||\ndas haus\n", encoding="utf-8")
    target.write_text("the house\n\na book <s>\nthe home\n", encoding="utf-8")
    return source, target


def test_text_survives(files, tmp_path):
    bitext = Bitext.build(*files, tmp_path / "b")
    assert list(bitext) == [
        ("das haus", "the house"),
        ("", ""),
        ("ein buch |||", "a book <s>"),
        ("das haus", "the home"),
    ]
    assert bitext.source.lengths().tolist() == [2, 0, 3, 2]
    Bitext.verify(tmp_path / "b")


def test_identical_sources_share_a_fold_whatever_surrounds_them(tmp_path):
    rng = np.random.default_rng(1)
    sentences = [" ".join(f"w{k}" for k in rng.integers(0, 50, 6)) for _ in range(300)] * 2
    rng.shuffle(sentences)
    text = tmp_path / "t"
    text.write_text("\n".join(sentences) + "\n")
    folds = Bitext.build(text, text, tmp_path / "b", n_folds=5, seed=3).folds
    by_sentence = {}
    for sentence, fold in zip(sentences, folds, strict=True):
        assert by_sentence.setdefault(sentence, fold) == fold
    assert np.bincount(folds, minlength=5).min() > 60
    text.write_text("\n".join(sentences[100:]) + "\n")
    assert Bitext.build(text, text, tmp_path / "c", n_folds=5, seed=3).folds.tolist() == folds[100:].tolist()
    assert Bitext.build(text, text, tmp_path / "d", n_folds=5, seed=4).folds.tolist() != folds[100:].tolist()


def test_empty_corpus(tmp_path):
    empty = tmp_path / "t"
    empty.touch()
    assert len(Bitext.build(empty, empty, tmp_path / "b")) == 0


def test_different_lengths_name_both_counts_and_leave_nothing(files, tmp_path):
    files[1].write_text("the house\n")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(MismatchError, match="f has 4.*e has 1"):
        Bitext.build(*files, tmp_path / "b")
    assert sorted(tmp_path.iterdir()) == before


def test_invalid_utf8_names_file_and_line(files, tmp_path):
    files[1].write_bytes(b"fine\nb\xc3\n\n\n")
    with pytest.raises(InputError, match="invalid UTF-8") as caught:
        Bitext.build(*files, tmp_path / "b")
    assert (caught.value.path, caught.value.line) == (str(files[1]), 2)


def test_nothing_is_overwritten(files, tmp_path):
    Bitext.build(*files, tmp_path / "b")
    with pytest.raises(InputError, match="exists already"):
        Bitext.build(*files, tmp_path / "b")


@pytest.mark.parametrize("n_folds", [0, 256, -1])
def test_fold_counts_are_checked(files, tmp_path, n_folds):
    with pytest.raises(InputError, match="folds"):
        Bitext.build(*files, tmp_path / "b", n_folds=n_folds)


@pytest.mark.parametrize("name", ["source.ids", "target.offsets", "folds"])
def test_truncated_files_are_refused_before_mapping(files, tmp_path, name):
    Bitext.build(*files, tmp_path / "b")
    path = tmp_path / "b" / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match="damaged"):
        Bitext.load(tmp_path / "b")


def test_bad_offsets_are_refused(files, tmp_path):
    Bitext.build(*files, tmp_path / "b")
    path = tmp_path / "b" / "source.offsets"
    for bad in ([0, 9, 2, 5, 7], [1, 2, 2, 5, 7], [0, 2, 2, 5, 1 << 60]):
        path.write_bytes(np.array(bad, np.int64).tobytes())
        with pytest.raises(InputError, match="damaged"):
            Bitext.load(tmp_path / "b")


def test_verify_finds_a_flipped_bit(files, tmp_path):
    Bitext.build(*files, tmp_path / "b")
    path = tmp_path / "b" / "target.ids"
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="checksum"):
        Bitext.verify(tmp_path / "b")


@pytest.mark.parametrize(
    "change",
    [
        {"format": "else"},
        {"version": 99},
        {"n_pairs": -1},
        {"n_pairs": "4"},
        {"n_pairs": 10**18},
        {"files": []},
        {"files": {}},
    ],
)
def test_lying_manifests_are_refused(files, tmp_path, change):
    Bitext.build(*files, tmp_path / "b")
    path = tmp_path / "b" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError):
        Bitext.load(tmp_path / "b")


def test_things_that_are_no_bitext(tmp_path):
    with pytest.raises(InputError, match="not a bitext"):
        Bitext.load(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        Bitext.load(tmp_path)


@pytest.mark.realdata
def test_real_corpus_round_trip(data, tmp_path):
    from dragoman.text import read_lines

    paths = data / "enja" / "dev.ja.xz", data / "enja" / "dev.en.xz"
    bitext = Bitext.build(*paths, tmp_path / "b", n_folds=3)
    assert list(bitext) == list(zip(read_lines(paths[0]), read_lines(paths[1]), strict=True))
