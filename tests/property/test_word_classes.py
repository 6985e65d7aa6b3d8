"""Exchange clustering against the definition of its objective: gains, local optima, brute force over all classes."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman._core import WordExchange, word_bigrams
from dragoman.corpus import Side, Vocab, learn_classes

WORDS = list("abcdefgh")
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=9), min_size=1, max_size=12).filter(
    lambda text: len({word for line in text for word in line}) >= 3
)


def side_of(text: list[list[str]]) -> Side:
    lines = [" ".join(line) for line in text]
    vocab = Vocab.of(lines)
    return Side(vocab, *vocab.encode_lines(lines))


def log_likelihood(text: list[list[str]], classes: dict[str, int]) -> float:
    """Token by token: log p(c(w) | c(v)) + log p(w | c(w)), by relative frequencies; an empty line has no tokens."""
    classes = classes | {"<s>": -1}
    pairs = [pair for line in text if line for pair in itertools.pairwise(["<s>", *line, "<s>"])]
    firsts = Counter(classes[v] for v, _ in pairs)
    seconds = Counter(classes[w] for _, w in pairs)
    both = Counter((classes[v], classes[w]) for v, w in pairs)
    words = Counter(w for _, w in pairs)
    return sum(
        math.log(both[classes[v], classes[w]] / firsts[classes[v]]) + math.log(words[w] / seconds[classes[w]])
        for v, w in pairs
    )


def by_id(side: Side, classes: dict[str, int]) -> np.ndarray:
    return np.array([classes.get(side.vocab.word(i), -1) for i in range(len(side.vocab))], np.int32)


def by_word(side: Side, table: np.ndarray) -> dict[str, int]:
    return {side.vocab.word(i): int(table[i]) for i in range(3, len(side.vocab))}


def exchange_of(side: Side, n_classes: int, classes: dict[str, int]) -> WordExchange:
    return WordExchange(word_bigrams(side.offsets, side.ids, len(side.vocab)), n_classes, by_id(side, classes))


@settings(max_examples=60, deadline=None)
@given(texts, st.integers(1, 4), st.data())
def test_every_gain_is_the_difference_of_recomputed_likelihoods(text, n_classes, data):
    side = side_of(text)
    words = [side.vocab.word(i) for i in range(3, len(side.vocab))]
    classes = {word: data.draw(st.integers(0, n_classes - 1)) for word in words}
    exchange = exchange_of(side, n_classes, classes)
    for word in words:
        before = log_likelihood(text, classes)
        assert math.isclose(exchange.likelihood(), before, abs_tol=1e-9)
        moved = [log_likelihood(text, classes | {word: c}) - before for c in range(n_classes)]
        np.testing.assert_allclose(exchange.gains(side.vocab.id(word)), moved, atol=1e-9)
        classes[word] = data.draw(st.integers(0, n_classes - 1))
        exchange.move(side.vocab.id(word), classes[word])
        assert by_word(side, exchange.classes()) == classes


@settings(max_examples=60, deadline=None)
@given(texts, st.integers(1, 3))
def test_what_is_learned_is_a_local_optimum(text, n_classes):
    side = side_of(text)
    learned = learn_classes(side, [n_classes])
    (level,) = learned.levels
    classes = by_word(side, learned.classes.table[0])
    found = log_likelihood(text, classes)
    assert level.converged
    assert math.isclose(level.likelihood, found, abs_tol=1e-9)
    assert level.likelihood >= level.start_likelihood - 1e-9
    for word, c in itertools.product(classes, range(n_classes)):
        assert log_likelihood(text, classes | {word: c}) <= found + 1e-5


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), max_size=6).map(lambda text: [*text, WORDS]),
    st.integers(2, 3),
)
def test_no_move_improves_the_best_of_all_classes_of_eight_words(text, n_classes):
    side = side_of(text)
    counts = np.zeros((9, 9))
    for line in text:
        for v, w in itertools.pairwise([8, *map(WORDS.index, line), 8]):
            counts[v, w] += 1

    def objective(classes: tuple[int, ...]) -> float:
        """The part of the likelihood that depends on the classes."""
        member = np.zeros((9, n_classes + 1))
        member[np.arange(9), [*classes, n_classes]] = 1
        pairs = member.T @ counts @ member
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.nansum(pairs * np.log(pairs)) - 2 * np.nansum(pairs.sum(0) * np.log(pairs.sum(0))))

    best = max(itertools.product(range(n_classes), repeat=8), key=objective)
    classes = dict(zip(WORDS, best, strict=True))
    exchange = exchange_of(side, n_classes, classes)
    for word in WORDS:
        assert exchange.gains(side.vocab.id(word)).max() < 1e-9
    assert exchange.sweep() == 0
    learned = learn_classes(side, [n_classes])
    assert learned.levels[0].likelihood <= exchange.likelihood() + 1e-9
    found = by_word(side, learned.classes.table[0])
    assert math.isclose(
        objective(tuple(found[word] for word in WORDS)) - objective(best),
        learned.levels[0].likelihood - exchange.likelihood(),
        abs_tol=1e-9,
    )
