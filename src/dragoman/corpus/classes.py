"""Word classes, learned by the exchange algorithm (Kneser and Ney 1993; Martin, Liermann and Ney 1998).

The classes maximise the likelihood of the text under a bigram model of classes, p(w | v) = p(w | c(w)) p(c(w) | c(v)):

    L = sum_{c, d} f(N(c, d)) - 2 sum_c f(N(c)) + sum_w f(N(w)),    f(n) = n log n

with counts of class pairs, classes and words. The boundary of sentences is a word with a class to itself. An iteration
visits every word by descending frequency and moves it to the class that raises L most, the lowest number if there are
several; the last is the one that moves nothing, at a local optimum. There are two starts, and the better end is taken:
each of the n - 1 most frequent words is a class and the last class has all others, or the words by frequency are dealt
out to the classes. Nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dragoman._core import escape_word, unescape_word, word_bigrams
from dragoman.corpus.bitext import Side
from dragoman.corpus.vocab import N_RESERVED, UNK, Vocab
from dragoman.errors import InputError
from dragoman.text import open_output, printable, read_lines
from dragoman.types import Int32Array, PathLike, Progress

__all__ = [
    "DEFAULT_ITERATIONS",
    "MAX_CLASSES",
    "Clustering",
    "LearnedClasses",
    "WordClasses",
    "check_class_sizes",
    "clustering_work",
    "learn_classes",
]

MAX_CLASSES = 2048
"""Time and memory grow with the number of classes and with its square."""
DEFAULT_ITERATIONS = 50
"""At most. Real text needs 10 to 40 until no word moves; what the last ones gain is small, but so is what they cost."""
NO_CLASS = -1
_HEAD = "# word"


@dataclass(frozen=True, slots=True, eq=False)
class WordClasses:
    """Classes of the words of one language, for several numbers of classes at once."""

    sizes: tuple[int, ...]
    """How many classes each level has, such as (20, 50, 80)."""
    vocab: Vocab
    table: Int32Array
    """Shape (levels, words of the vocabulary): the class of each word by id, or -1."""

    def __post_init__(self) -> None:
        check_class_sizes(self.sizes)
        if self.table.shape != (len(self.sizes), len(self.vocab)):
            raise InputError(
                f"classes have the shape {self.table.shape}; {len(self.sizes)} levels of {len(self.vocab)} words were "
                "expected"
            )
        bounds = np.array(self.sizes)[:, None]
        if np.any((self.table < NO_CLASS) | (self.table >= bounds)):
            raise InputError(f"a class is out of range; the levels have {', '.join(map(str, self.sizes))} classes")
        has = self.table != NO_CLASS
        if np.any(has != has[0]) or np.any(has[0, :N_RESERVED]):
            raise InputError("a word has classes at all levels or at none, and reserved symbols have none")

    def __len__(self) -> int:
        """Words that have classes."""
        return int(np.count_nonzero(self.table[0] != NO_CLASS))

    def of(self, word: str) -> tuple[int, ...] | None:
        """The class of a word at each level; None if it has none."""
        found = self.table[:, self.vocab.id(word)]
        return None if found[0] == NO_CLASS else tuple(found.tolist())

    def by_vocab(self, vocab: Vocab) -> Int32Array:
        """The classes of another vocabulary's words by its ids: shape (levels, its words), -1 for words without."""
        if vocab is self.vocab:
            return self.table
        result = np.full((len(self.sizes), len(vocab)), NO_CLASS, np.int32)
        words = range(N_RESERVED, len(self.vocab))
        ids = vocab.encode_lines(self.vocab.word(i) for i in words)[1]
        known = ids != UNK
        result[:, ids[known]] = self.table[:, N_RESERVED:][:, known]
        return result

    def write(self, path: PathLike) -> None:
        """Write words (in their stored form) and classes as a table, in the order of the vocabulary."""
        with open_output(path) as writer:
            writer.write("\t".join([_HEAD, *map(str, self.sizes)]))
            for id_ in np.flatnonzero(self.table[0] != NO_CLASS).tolist():
                classes = self.table[:, id_].tolist()
                writer.write("\t".join([self.vocab.stored(id_).decode("utf-8"), *map(str, classes)]))

    @classmethod
    def read(cls, path: PathLike) -> WordClasses:
        """Read such a table. Raises InputError with file and line."""
        lines = read_lines(path)
        sizes = _read_head(next(lines, ""), path)
        words: dict[str, int] = {}
        rows = [_read_row(line, number, sizes, words, path) for number, line in enumerate(lines, start=2)]
        vocab = Vocab.of(words)
        table = np.full((len(sizes), len(vocab)), NO_CLASS, np.int32)
        table[:, N_RESERVED:] = np.array(rows, np.int32).reshape(-1, len(sizes)).T
        return cls(sizes, vocab, table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """How the classes of one level came about."""

    n_classes: int
    start_likelihood: float
    """Log likelihood of the text with the classes to start with, of the start that led to those that were learned."""
    likelihood: float
    """And with those that were learned."""
    perplexity: float
    """Of the bigram model of classes, a word or end of a sentence."""
    n_iterations: int
    converged: bool
    """Whether the last iteration moved no word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedClasses:
    """Classes, and how each level was learned."""

    classes: WordClasses
    levels: tuple[Clustering, ...]


def check_class_sizes(sizes: Sequence[int], n_words: int = MAX_CLASSES) -> None:
    """Raises InputError unless these can be numbers of classes of a text with so many different words."""
    if not sizes:
        raise InputError("no number of classes is given; 20, 50 and 80 are usual")
    for n in sizes:
        if not 1 <= n <= MAX_CLASSES:
            raise InputError(f"the number of classes must be from 1 to {MAX_CLASSES}, not {n}")
    if twice := [n for n in dict.fromkeys(sizes) if list(sizes).count(n) > 1]:
        raise InputError(f"{twice[0]} classes are asked for more than once; give each number once")
    if max(sizes) > n_words:
        raise InputError(
            f"{max(sizes)} classes of {n_words} different words cannot be made; ask for fewer, or give more text"
        )


def clustering_work(side: Side, sizes: Sequence[int], iterations: int = DEFAULT_ITERATIONS) -> int:
    """Most visits of words: each in every iteration of both starts of each number of classes."""
    return 2 * iterations * len(sizes) * side.n_types


def learn_classes(
    side: Side,
    sizes: Sequence[int],
    *,
    iterations: int = DEFAULT_ITERATIONS,
    n_threads: int = 1,
    progress: Progress | None = None,
) -> LearnedClasses:
    """Learn classes of all words of a text, apart for each number of classes; threads work on them side by side.

    `progress` counts visits of words, at most `clustering_work` of them. Raises InputError if the text has fewer
    different words than classes.
    """
    if iterations < 1:
        raise InputError(f"the number of iterations must be at least 1, not {iterations}")
    if len(side.ids) and side.ids.min() < N_RESERVED:
        raise InputError("the text has out-of-vocabulary words; encode it with a vocabulary of its own")
    bigrams = word_bigrams(side.offsets, side.ids, len(side.vocab))
    check_class_sizes(sizes, bigrams.n_words)
    found = bigrams.cluster(list(sizes), iterations, n_threads, progress)
    n_tokens = len(side.ids) + bigrams.n_sentences
    levels = tuple(
        Clustering(
            n_classes=n,
            start_likelihood=start,
            likelihood=likelihood,
            perplexity=float(np.exp(-likelihood / n_tokens)),
            n_iterations=n_iterations,
            converged=converged,
        )
        for n, (_, start, likelihood, n_iterations, converged) in zip(sizes, found, strict=True)
    )
    table = np.stack([classes for classes, *_ in found])
    return LearnedClasses(classes=WordClasses(tuple(sizes), side.vocab, table), levels=levels)


def _read_head(line: str, path: PathLike) -> tuple[int, ...]:
    name, *columns = line.split("\t")
    if name != _HEAD or not columns or not all(_is_number(column) for column in columns):
        raise InputError(
            f"expected the head of a file of word classes, such as '{_HEAD}', tab, 20, tab, 50; found "
            f"'{printable(line[:60])}'",
            path=path,
            line=1,
        )
    sizes = tuple(int(column) for column in columns)
    try:
        check_class_sizes(sizes)
    except InputError as error:
        raise InputError(str(error), path=path, line=1) from error
    return sizes


def _read_row(line: str, number: int, sizes: tuple[int, ...], words: dict[str, int], path: PathLike) -> list[int]:
    """The classes of one line, whose word joins `words` with its line."""

    def wrong(why: str) -> InputError:
        return InputError(why, path=path, line=number)

    stored, *columns = line.split("\t")
    if len(columns) != len(sizes):
        raise wrong(f"expected a word and {len(sizes)} classes with tabs between; found {len(columns) + 1} columns")
    raw = stored.encode("utf-8")
    plain = unescape_word(raw)
    if not plain or b" " in raw or escape_word(plain) != raw:
        raise wrong(f"'{printable(stored)}' is not a word in its stored form (docs/formats.md)")
    word = plain.decode("utf-8")
    if words.setdefault(word, number) != number:
        raise wrong(f"'{printable(stored)}' has classes in line {words[word]} already")
    for column, n in zip(columns, sizes, strict=True):
        if not _is_number(column) or int(column) >= n:
            raise wrong(f"'{printable(column)}' is no class of {n}; expected a number from 0 to {n - 1}")
    return [int(column) for column in columns]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
