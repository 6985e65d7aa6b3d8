"""Grammars: folders, errors, limits of views, damaged files."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.kit.small_text import damage

from dragoman._core import MosesTable
from dragoman.align import Alignment
from dragoman.corpus import Bitext
from dragoman.errors import InputError, MismatchError
from dragoman.grammar import (
    Grammar,
    PhraseExtraction,
    PhraseSmoothing,
    PhraseViewConfig,
    Reordering,
    ReorderingKind,
    extract_phrases,
)
from dragoman.grammar.phrase_tables import read_tables, write_tables
from dragoman.grammar.tables import ARRAYS

SOURCE = ["das haus", "das haus ist klein", "das haus", "ein haus", "a ||| [X,1]"]
TARGET = ["the house", "the house is small", "the building", "a house", "x <s>"]
LINKS = [[(0, 0), (1, 1)], [(0, 0), (1, 1), (2, 2), (3, 3)], [(0, 0), (1, 1)], [(0, 0), (1, 1)], [(0, 0), (1, 1)]]


@pytest.fixture
def bitext(tmp_path) -> Bitext:
    for name, lines in (("s", SOURCE), ("t", TARGET)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return Bitext.build(tmp_path / "s", tmp_path / "t", tmp_path / "bitext", n_folds=2, seed=1)


@pytest.fixture
def grammar(bitext, tmp_path) -> Grammar:
    return extract_phrases(bitext, Alignment.of(LINKS), tmp_path / "grammar", PhraseExtraction(max_length=3))


def test_lookup_gives_scores(grammar):
    best, other = grammar.view().lookup("das haus")
    assert (best.source, best.target, best.count) == ("das haus", "the house", 2)
    assert (other.target, other.count) == ("the building", 1)
    assert best.p_e_f == pytest.approx(math.log(2 / 3))
    assert best.p_f_e == pytest.approx(0)
    assert best.lex_e_f == pytest.approx(math.log(3 / 3 * 3 / 4))
    assert best.lex_f_e == pytest.approx(0)
    assert best.alignment == ((0, 0), (1, 1))
    mono = math.log(2.5 / 3.5)
    assert best.reordering[0] == pytest.approx(mono)
    assert best.reordering[3] == pytest.approx(mono)


def test_options_cover_every_known_span_in_order(grammar):
    options = grammar.view().options("ein haus das unbekannt")
    assert [(o.begin, o.end, o.target) for o in options] == [
        (0, 1, "a"),
        (0, 2, "a house"),
        (1, 2, "house"),
        (1, 2, "building"),
        (2, 3, "the"),
    ]


def test_limits(grammar):
    assert [o.target for o in grammar.view(PhraseViewConfig(max_targets=1)).lookup("haus")] == ["house"]
    assert [o.target for o in grammar.view(PhraseViewConfig(min_count=2)).lookup("das haus")] == ["the house"]
    assert grammar.view(PhraseViewConfig(max_targets=1)).find("haus", "building").count == 1
    assert grammar.view(PhraseViewConfig(reordering=())).lookup("haus")[0].reordering == ()


def test_what_is_not_there(grammar):
    view = grammar.view()
    assert view.lookup("nichts") == view.lookup("") == view.options("") == []
    assert view.lookup("haus das") == []
    assert view.find("haus", "the") is None
    assert not view.knows_source("nichts")
    assert not view.knows_target("nothing")
    for pair in (-1, len(grammar)):
        with pytest.raises(IndexError):
            view.pair(pair)


def test_a_word_of_one_fold_is_unknown_without_it(bitext, grammar):
    fold = int(bitext.folds[3])
    view = grammar.view(PhraseViewConfig(excluded_fold=fold))
    assert not view.knows_source("ein")
    assert view.lookup("ein") == []
    assert grammar.view(PhraseViewConfig(excluded_fold=1 - fold)).knows_source("ein")


def test_many_targets_are_kept_and_shared(tmp_path):
    """More than the cache threshold; a second look gives the same."""
    n = 200
    (tmp_path / "s").write_text("a\n" * n * 2)
    (tmp_path / "t").write_text("".join(f"w{i % n}\n" for i in range(n * 2)))
    bitext = Bitext.build(tmp_path / "s", tmp_path / "t", tmp_path / "bitext")
    grammar = extract_phrases(bitext, Alignment.of([[(0, 0)]] * (2 * n)), tmp_path / "g")
    view = grammar.view(PhraseViewConfig(max_targets=0))
    assert len(view.lookup("a")) == n
    assert view.lookup("a") == view.lookup("a") == grammar.view(PhraseViewConfig(max_targets=0)).options("a")
    assert len(grammar.view().lookup("a")) == 20


def test_counts_over_a_thousand(tmp_path):
    n = 3000
    (tmp_path / "s").write_text("a\n" * n)
    (tmp_path / "t").write_text("x\n" * n)
    bitext = Bitext.build(tmp_path / "s", tmp_path / "t", tmp_path / "bitext")
    grammar = extract_phrases(bitext, Alignment.of([[(0, 0)]] * n), tmp_path / "g")
    (option,) = grammar.view().lookup("a")
    assert (option.count, option.p_e_f, option.lex_f_e) == (n, 0, 0)


def test_sentences_that_are_left_out(bitext, tmp_path):
    grammar = extract_phrases(bitext, Alignment.of(LINKS), tmp_path / "g", PhraseExtraction(max_sentence_length=3))
    assert [grammar.manifest.content[name] for name in ("n_too_long", "n_sentences")] == [1, 4]
    assert not grammar.view().knows_source("klein")


def test_no_pairs_at_all(bitext, tmp_path):
    grammar = extract_phrases(bitext, Alignment.of([[]] * 5), tmp_path / "g")
    view = grammar.view(PhraseViewConfig(smoothing=PhraseSmoothing.KNESER_NEY))
    assert len(grammar) == 0
    assert view.options("das haus") == []
    assert view.knows_source("das")


def test_errors_of_extraction(bitext, tmp_path):
    with pytest.raises(MismatchError, match="4 lines for 5"):
        extract_phrases(bitext, Alignment.of(LINKS[:4]), tmp_path / "g")
    with pytest.raises(InputError, match=r"line 4.*1-7 points beyond a sentence pair of 2 and 2 words"):
        extract_phrases(bitext, Alignment.of([*LINKS[:3], [(1, 7)], LINKS[4]]), tmp_path / "g")
    assert not (tmp_path / "g").exists()
    (tmp_path / "g").mkdir()
    with pytest.raises(InputError, match="exists already"):
        extract_phrases(bitext, Alignment.of(LINKS), tmp_path / "g")


def test_errors_of_the_disk_are_os_errors(bitext, tmp_path):
    with pytest.raises(FileNotFoundError, match="cannot create a scratch file"):
        MosesTable().write(str(tmp_path / "missing"), 3, 3, 1 << 20, 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: PhraseExtraction(max_length=0),
        lambda: PhraseExtraction(max_length=256),
        lambda: PhraseExtraction(max_sentence_length=5000),
        lambda: PhraseExtraction(n_threads=0),
        lambda: PhraseViewConfig(excluded_fold=-1),
        lambda: PhraseViewConfig(max_targets=-1),
        lambda: PhraseViewConfig(min_count=0),
        lambda: PhraseViewConfig(reordering_smoothing=0),
        lambda: PhraseViewConfig(n_threads=0),
        lambda: Reordering(kind=ReorderingKind.WORD, n_orientations=5),
        lambda: Reordering(n_orientations=2),
    ],
)
def test_bad_settings(make):
    with pytest.raises(InputError):
        make()


def test_a_fold_that_is_not_there(grammar):
    with pytest.raises(InputError, match="no fold 2; the grammar has 2"):
        grammar.view(PhraseViewConfig(excluded_fold=2))


def test_names_of_reordering_scores():
    assert Reordering().names() == ["bwd_m", "bwd_s", "bwd_d", "fwd_m", "fwd_s", "fwd_d"]
    assert len(Reordering(kind=ReorderingKind.HIERARCHICAL, n_orientations=5).names()) == 10


def test_damage_is_noticed(grammar):
    Grammar.verify(grammar.folder)
    path = grammar.folder / "events"
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(InputError, match="bytes"):
        Grammar.load(grammar.folder)
    path.write_bytes(bytes(len(content)))
    with pytest.raises(InputError, match="checksum"):
        Grammar.verify(grammar.folder)
    path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        Grammar.load(grammar.folder)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "dragoman-grammar", "version": 99}'])
def test_wrong_manifests(grammar, content):
    (grammar.folder / "manifest.json").write_text(content)
    with pytest.raises(InputError):
        Grammar.load(grammar.folder)


@pytest.mark.parametrize("name", list(ARRAYS))
def test_wild_content_never_crashes(grammar, name):
    """Files of the right size with any content: an error or an answer."""
    for _ in damage(grammar.folder / name):
        try:
            loaded = Grammar.load(grammar.folder)
            for smoothing in PhraseSmoothing:
                view = loaded.view(PhraseViewConfig(smoothing=smoothing, max_targets=2))
                view.option_arrays(loaded.source_vocab.encode("das haus ist klein ein haus"))
        except InputError:
            continue


def test_moses_tables_there_and_back(grammar, tmp_path):
    model = Reordering(n_orientations=4)
    view = grammar.view(PhraseViewConfig(max_targets=0, reordering=(model,)))
    files = {"phrases": tmp_path / "p.gz", "reordering": tmp_path / "r.xz"}
    write_tables(view, files["phrases"], reordering=files["reordering"])
    imported = read_tables(files["phrases"], tmp_path / "imported", reordering=files["reordering"])
    assert len(imported) == len(grammar)
    again = imported.view(PhraseViewConfig(max_targets=0, reordering=()))
    assert again.reordering == (model,)
    for line in SOURCE:
        for ours, theirs in zip(view.options(line), again.options(line), strict=True):
            assert (ours.begin, ours.end, ours.count, ours.alignment) == (
                theirs.begin,
                theirs.end,
                theirs.count,
                theirs.alignment,
            )
            for name in ("p_e_f", "p_f_e", "lex_e_f", "lex_f_e", "reordering"):
                assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-5)
    assert again.find("a ||| [X,1]", "x <s>").count == 1
    assert again.find("|||", "<s>").count == 1
    assert again.knows_source("das")
    assert not again.knows_source("nichts")


GOOD = "a b ||| c ||| 0.5 0.25 1 0 ||| 1-0 0-0 ||| 2 3 1 ||| |||\n"


def test_moses_phrases_without_reordering_or_counts(tmp_path):
    (tmp_path / "p").write_text(GOOD + "a ||| c ||| 0.5 0.25 1 0.125 2.718\n")
    view = read_tables(tmp_path / "p", tmp_path / "g").view()
    first, second = view.find("a b", "c"), view.find("a", "c")
    assert (first.p_f_e, first.lex_f_e, first.p_e_f) == pytest.approx((math.log(0.5), math.log(0.25), 0))
    assert first.lex_e_f == -100
    assert first.alignment == ((0, 0), (1, 0))
    assert (second.count, second.alignment, second.reordering) == (1, (), ())


@pytest.mark.parametrize(
    ("phrases", "reordering", "message"),
    [
        ("a ||| b\n", None, "p, line 1: expected 'source"),
        (GOOD + "a ||| ||| 1 1 1 1\n", None, "p, line 2: the target side has 0 words"),
        ("a ||| b ||| 1 1 1\n", None, "expected four scores"),
        ("a ||| b ||| 1 1 1 1 1 1\n", None, "expected four scores"),
        ("a ||| b ||| 1 1 x 1\n", None, "'x' is not a number"),
        ("a ||| b ||| 1 1 nan 1\n", None, "not a probability"),
        ("a ||| b ||| 1 1 2 1\n", None, "not a probability"),
        ("a ||| b ||| 1 1 1 1 ||| 0-1\n", None, "points beyond"),
        ("a ||| b ||| 1 1 1 1 ||| 0\n", None, "not a number"),
        (GOOD + GOOD, None, "p, line 2: duplicate pair; it is already in line 1"),
        (GOOD, "a b ||| c ||| 0.5 0.5\n", "r, line 1: has 2 scores a pair"),
        (GOOD, "a b ||| c ||| 1 1 1 1 1 1\na ||| c ||| 1\n", "r, line 2: has 1 scores"),
        (GOOD, "a ||| c ||| 1 1 1 1 1 1\n", "p, line 1: the reordering table lacks this pair"),
        (GOOD, "z ||| c ||| 1 1 1 1 1 1\n", "p, line 1: the reordering table lacks this pair"),
    ],
)
def test_errors_in_moses_tables(tmp_path, phrases, reordering, message):
    (tmp_path / "p").write_text(phrases)
    if reordering:
        (tmp_path / "r").write_text(reordering)
    with pytest.raises(InputError, match=message.replace("|", r"\|")):
        read_tables(tmp_path / "p", tmp_path / "g", reordering=tmp_path / "r" if reordering else None)
    assert not (tmp_path / "g").exists()


def test_invalid_utf8_in_moses_tables(tmp_path):
    (tmp_path / "p").write_bytes(GOOD.encode() + b"\xff ||| c ||| 1 1 1 1\n")
    with pytest.raises(InputError, match="line 2: invalid UTF-8"):
        read_tables(tmp_path / "p", tmp_path / "g")


def test_imported_grammars_have_no_folds(tmp_path):
    (tmp_path / "p").write_text(GOOD)
    grammar = read_tables(tmp_path / "p", tmp_path / "g")
    with pytest.raises(InputError, match="no folds"):
        grammar.view(PhraseViewConfig(excluded_fold=0))
    with pytest.raises(InputError, match="reordering models"):
        grammar.view(PhraseViewConfig())
    with pytest.raises(InputError, match="no reordering scores"):
        write_tables(grammar.view(), tmp_path / "out", reordering=tmp_path / "r")


def test_arrays_of_a_sentence(grammar):
    view = grammar.view()
    ids = view.source_vocab.encode("das haus")
    arrays = view.option_arrays(ids)
    assert len(arrays) == len(view.options("das haus"))
    assert arrays.scores.shape == (len(arrays), 4)
    assert arrays.reordering.shape == (len(arrays), 6)
    assert arrays.scores.dtype == np.float32
    with pytest.raises(TypeError):
        view.option_arrays(ids.astype(np.int64))
