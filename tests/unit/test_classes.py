"""Word classes: what is learned, and the files it is stored in."""

from __future__ import annotations

import numpy as np
import pytest

from dragoman.corpus import Side, Vocab, WordClasses, learn_classes
from dragoman.errors import InputError

ODD = ["|||", "[X,1]", "<s>", "</s>", "<unk>", "\\p", "a|b", "#", "# word", "\u00a0", "\u2028x", "7", "\\", "\r"]


def side_of(lines: list[str]) -> Side:
    vocab = Vocab.of(lines)
    return Side(vocab, *vocab.encode_lines(lines))


@pytest.fixture(scope="module")
def text() -> list[str]:
    rng = np.random.default_rng(5)
    parts = [["the", "a", "this"], ["cat", "dog", "cow", "fish"], ["runs", "sleeps"], ["."]]
    return [" ".join(rng.choice(part) for part in parts) for _ in range(200)] + [""]


def test_words_that_can_be_exchanged_share_a_class(text):
    classes = learn_classes(side_of(text), [4]).classes
    assert len({classes.of(word) for word in ("the", "a", "this")}) == 1
    assert len({classes.of(word) for word in ("cat", "dog", "cow", "fish")}) == 1
    assert len({classes.of(word) for word in ("the", "cat", "runs", ".")}) == 4
    assert classes.of("mouse") is None
    assert len(classes) == 10


def test_levels_do_not_depend_on_each_other_or_on_threads(text):
    side = side_of(text)
    all_at_once = learn_classes(side, [5, 2, 9], n_threads=3)
    for level, n in enumerate([5, 2, 9]):
        alone = learn_classes(side, [n])
        assert alone.classes.table[0].tolist() == all_at_once.classes.table[level].tolist()
        assert alone.levels[0] == all_at_once.levels[level]
    assert all_at_once.classes.table[:, :3].tolist() == [[-1] * 3] * 3


def test_iterations_are_limited_and_progress_is_told(text):
    start = learn_classes(side_of(text), [3], iterations=1, progress=lambda n: None).levels[0]
    end = learn_classes(side_of(text), [3]).levels[0]
    assert (start.n_iterations, start.converged, end.converged) == (1, False, True)
    assert start.start_likelihood <= start.likelihood <= end.likelihood
    assert 1 < end.perplexity <= start.perplexity


@pytest.mark.parametrize(
    ("sizes", "why"),
    [
        ([], "no number of classes"),
        ([0], "from 1 to 2048, not 0"),
        ([2, 4000], "not 4000"),
        ([2, 3, 2], "2 classes are asked for more than once"),
        ([2, 11], "11 classes of 10 different words"),
    ],
)
def test_impossible_numbers_of_classes(text, sizes, why):
    with pytest.raises(InputError, match=why):
        learn_classes(side_of(text), sizes)


def test_texts_and_settings_that_cannot_be_used(text):
    with pytest.raises(InputError, match="at least 1, not 0"):
        learn_classes(side_of(text), [2], iterations=0)
    with pytest.raises(InputError, match="1 classes of 0 different words"):
        learn_classes(side_of([""]), [1])
    vocab = Vocab.of(["the cat"])
    with pytest.raises(InputError, match="out-of-vocabulary"):
        learn_classes(Side(vocab, *vocab.encode_lines(["the dog"])), [1])


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_files_hold_every_word(tmp_path, suffix):
    side = side_of([" ".join(ODD), "x y z"])
    classes = learn_classes(side, [7, 2]).classes
    path = tmp_path / f"classes{suffix}"
    classes.write(path)
    again = WordClasses.read(path)
    assert again.sizes == (7, 2)
    assert len(again) == len(classes) == len(side.vocab) - 3
    for id_ in range(3, len(side.vocab)):
        word = side.vocab.word(id_)
        assert again.of(word) == classes.of(word) == tuple(classes.table[:, id_].tolist())
    again.write(tmp_path / "again")
    assert WordClasses.read(tmp_path / "again").table.tolist() == again.table.tolist()


def test_files_begin_with_the_numbers_of_classes(tmp_path):
    learn_classes(side_of(["a b a b", "<s>"]), [2, 1]).classes.write(tmp_path / "classes")
    lines = (tmp_path / "classes").read_text().splitlines()
    assert lines[0] == "# word\t2\t1"
    assert lines[1:] == ["a\t0\t0", "b\t1\t0", "\\<s>\t1\t0"]


def test_classes_of_another_vocabulary(tmp_path):
    classes = learn_classes(side_of(["a b a b c", "<s> a"]), [2, 3]).classes
    assert classes.by_vocab(classes.vocab) is classes.table
    other = Vocab.of(["x <s> b", "a y"]).extended(["passed"])
    found = classes.by_vocab(other)
    assert found.dtype == np.int32
    assert found.shape == (2, len(other))
    for id_ in range(len(other)):
        expected = classes.of(other.word(id_)) if id_ >= 3 else None
        assert tuple(found[:, id_].tolist()) == (expected or (-1, -1))


@pytest.mark.parametrize(
    ("content", "line", "why"),
    [
        ("", 1, "expected the head"),
        ("a\t1\n", 1, "expected the head of a file of word classes"),
        ("# word\n", 1, "expected the head"),
        ("# word\t2\tx\n", 1, "expected the head"),
        ("# word\t2\t2\n", 1, "2 classes are asked for more than once"),
        ("# word\t0\n", 1, "from 1 to 2048, not 0"),
        ("# word\t2\t3\na\t0\t0\nb\t1\n", 3, "expected a word and 2 classes with tabs between; found 2 columns"),
        ("# word\t2\na\t0\nb\t2\n", 3, "'2' is no class of 2; expected a number from 0 to 1"),
        ("# word\t2\na\t-1\n", 2, "'-1' is no class"),
        ("# word\t2\na\t0\nb\t1\na\t1\n", 4, "'a' has classes in line 2 already"),
        ("# word\t2\n\t0\n", 2, "not a word"),
        ("# word\t2\n<s>\t0\n", 2, "'<s>' is not a word in its stored form"),
        ("# word\t2\na b\t0\n", 2, "'a b' is not a word"),
    ],
)
def test_damaged_files_are_told_with_their_line(tmp_path, content, line, why):
    path = tmp_path / "classes"
    path.write_text(content)
    with pytest.raises(InputError, match=why) as caught:
        WordClasses.read(path)
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_tables_are_checked():
    vocab = Vocab.of(["a b"])
    for table in ([[-1, -1, -1, 0]], [[-1, -1, -1, 0, 2]], [[-1, -1, 0, 0, 1]], [[-1, -1, -1, 0, -2]]):
        with pytest.raises(InputError):
            WordClasses((2,), vocab, np.array(table, np.int32))
    with pytest.raises(InputError, match="at all levels or at none"):
        WordClasses((2, 3), vocab, np.array([[-1, -1, -1, 0, 1], [-1, -1, -1, 0, -1]], np.int32))


def test_clustering_stops_when_it_is_told_to():
    """Minutes of work, which what progress raises cuts short."""
    rng = np.random.default_rng(1)
    vocab = Vocab.of([" ".join(f"w{i}" for i in range(20_000))])
    ids = rng.integers(3, len(vocab), 2_000_000).astype(np.int32)
    side = Side(vocab, np.arange(0, len(ids) + 1, 10, dtype=np.int64), ids)
    calls = []

    def stop(done: int) -> None:
        calls.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn_classes(side, [2000], progress=stop)
    assert len(calls) == 1
