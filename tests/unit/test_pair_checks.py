"""Checks of whole corpora: scripts, languages, word alignment, copies, duplicates."""

from __future__ import annotations

import pytest

from dragoman.cli.cleaning import PairChecks, parse_score
from dragoman.corpus import CleanConfig, Cleaner, DropReason, Duplicates, count_words
from dragoman.errors import InputError
from dragoman_synth import SynthConfig, generate_splits


def checked(pairs, tmp_path, **given):
    options = {"max_other_script": 1.0, "check_language": False, "alignment": None} | given
    cleaner = Cleaner(CleanConfig())
    report = tmp_path / "dropped"
    kept = list(PairChecks(**options).clean(cleaner, lambda: pairs, n_threads=1, report=str(report)))
    assert cleaner.n_kept == len(kept)
    return kept, cleaner.dropped, [line.split("\t") for line in report.read_text().splitlines()]


@pytest.fixture(scope="module")
def good():
    return [(e.source, e.references[0]) for e in generate_splits(600, 0, 0, SynthConfig(seed=3)).train]


def test_letters_of_another_script(good, tmp_path):
    kept, dropped, rows = checked([*good, ("das ist gut", "это хорошо")], tmp_path, max_other_script=0.3)
    assert kept == good
    assert dropped[DropReason.SCRIPT] == 1
    assert rows == [["other script", "1.0000", "601", "das ist gut", "это хорошо"]]


def test_sides_that_are_swapped_are_of_another_language(good, tmp_path):
    swapped = [(e, f) for f, e in good[:10]]
    kept, dropped, _ = checked([*good[10:], *swapped], tmp_path, check_language=True)
    assert not set(swapped) & set(kept)
    assert dropped[DropReason.LANGUAGE] >= 10
    assert len(kept) >= 560


def test_pairs_that_are_no_translations_align_worst(good, tmp_path):
    moved = [(f, e) for (f, _), (_, e) in zip(good[:20], good[300:320], strict=True)]
    kept, dropped, rows = checked([*good[20:], *moved], tmp_path, alignment=("share", 20 / 600))
    assert dropped[DropReason.ALIGNMENT] == 20 == len(rows)
    assert len(set(moved) - set(kept)) >= 15
    assert [float(row[1]) for row in rows] == sorted(float(row[1]) for row in rows)
    limit = float(rows[4][1]) + 1e-4
    assert checked([*good[20:], *moved], tmp_path, alignment=("score", limit))[1][DropReason.ALIGNMENT] >= 5


def test_copies_and_duplicates():
    pairs = [("a b", "c d"), ("a b", "c d"), ("a b", "x y"), ("one two three", "one two four"), ("p", "q")]

    def kept(**config):
        return list(Cleaner(CleanConfig(**config)).clean(pairs))

    assert kept(duplicates=Duplicates.PAIRS) == [pairs[0], *pairs[2:]]
    assert kept(duplicates=Duplicates.SIDES) == [pairs[0], *pairs[3:]]
    assert kept(max_copied=0.5) == [*pairs[:3], pairs[4]]


@pytest.mark.parametrize("text", ["five", "100%", "-1%", "nan", "3", "-inf"])
def test_limits_of_the_score(text):
    with pytest.raises(InputError, match="expected a share"):
        parse_score(text)
    assert parse_score("5%") == ("share", 0.05)
    assert parse_score("-5.5") == ("score", -5.5)


def test_words_of_a_script_without_spaces_are_counted():
    assert count_words("a b, c") == 3
    assert count_words("我们 喜欢 软件 。") == 4
    assert count_words("这个软件包包含文档。") == 5
    pair = "这个软件包包含了所有的文档和例子。", "this package has all of the documentation and all of the examples ."
    cleaner = Cleaner(CleanConfig(max_ratio=3.0))
    assert list(cleaner.clean([pair])) == [pair]
    assert not list(Cleaner(CleanConfig(max_copied=0.5)).clean([("用ABC和DEF，GHI。", "ABC, DEF and GHI.")]))


def test_raw_text_without_spaces_is_aligned_by_its_words(tmp_path):
    """Else each sentence were a word that nobody has seen before."""
    words = {"我": "I", "他": "he", "喜欢": "likes", "看见": "sees", "软件": "software", "文档": "documents"}
    words |= {"用户": "users", "老师": "teachers", "列表": "lists", "目录": "folders"}
    names = list(words)
    chosen = [(names[i % 2], names[2 + i // 2 % 2], names[4 + (i * i + i // 7) % 6]) for i in range(300)]
    chosen = [(*triple, names[4 + (i // 3) % 6]) for i, triple in enumerate(chosen)]
    pairs = [("".join(four) + "。", " ".join(words[w] for w in four).capitalize() + ".") for four in chosen]
    wrong = [(pairs[i][0], pairs[i + 1][1]) for i in (10, 60, 110, 160, 210)]
    _, dropped, rows = checked([*pairs, *wrong], tmp_path, alignment=("share", 6 / 305))
    assert dropped[DropReason.ALIGNMENT] == len(rows) >= 5
    assert {row[2] for row in rows} >= {"301", "302", "303", "304", "305"}
