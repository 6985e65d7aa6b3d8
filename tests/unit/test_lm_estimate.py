"""Estimation against a slow twin that follows the formulas word by word."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from dragoman.corpus import Bitext, Side, Vocab
from dragoman.errors import InputError
from dragoman.lm import MAX_ORDER, EstimateConfig, TrainingText, estimate, estimate_work
from dragoman.text import read_lines

TINY = ["a b c a b", "a b d", "c a b a", "", "b a b c d", "a", "d d d a b c", "a b c a", "e a b", "b c a"]


def train(lines, **config):
    text = TrainingText()
    text.add_lines(lines)
    return estimate(text, EstimateConfig(**config))


def varied_text(n=400, seed=3):
    """Enough text for discounts of its own: words of very different frequency."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(500)]
    weights = 1 / np.arange(1, 501)
    weights /= weights.sum()
    return [" ".join(rng.choice(words, size=rng.integers(0, 12), p=weights)) for _ in range(n)]


class Twin:
    """Chen and Goodman's formulas with dictionaries."""

    def __init__(self, lines, order, prune=(0,), fallback=(0.5, 1.0, 1.5)):
        prune = [*prune, *[prune[-1]] * (order - len(prune))]
        sentences = [["<s>", *line.split(), "</s>"] for line in lines]
        raw = [Counter() for _ in range(order + 1)]
        for sentence in sentences:
            for n in range(1, order + 1):
                for i in range(len(sentence) - n + 1):
                    raw[n][tuple(sentence[i : i + n])] += 1
        counts = [{} for _ in range(order + 1)]
        for n in range(1, order + 1):
            before = Counter(gram[1:] for gram in raw[n + 1]) if n < order else {}
            for gram, count in raw[n].items():
                counts[n][gram] = count if n == order or gram[0] == "<s>" else before[gram]
        counts[1].pop(("<s>",))
        self.kept = [{gram for gram in counts[n] if n == 1 or raw[n][gram] > prune[n - 1]} for n in range(order + 1)]
        self.discounts, self.fallback_orders = [None], []
        for n in range(1, order + 1):
            self.discounts.append(self._discounts(counts[n].values(), n, fallback))

        vocabulary = {gram[0] for gram in counts[1]} | {"<unk>"}
        self.prob = {("<unk>",): None}
        self.backoff = {}
        total = sum(counts[1].values())
        gamma = sum(self._discount(1, c) for c in counts[1].values()) / total
        for word in vocabulary:
            count = counts[1].get((word,), 0)
            self.prob[word,] = (count - self._discount(1, count)) / total + gamma / len(vocabulary)
        for n in range(2, order + 1):
            sums, freed = defaultdict(float), defaultdict(float)
            for gram, count in counts[n].items():
                sums[gram[:-1]] += count
                freed[gram[:-1]] += self._discount(n, count) if gram in self.kept[n] else count
            for context, total in sums.items():
                if n == 2 or context in self.kept[n - 1]:
                    self.backoff[context] = freed[context] / total
            for gram in self.kept[n]:
                context, count = gram[:-1], counts[n][gram]
                own = (count - self._discount(n, count)) / sums[context]
                self.prob[gram] = own + self.backoff[context] * self.prob[gram[1:]]

    def _discounts(self, counts, n, fallback):
        have = Counter(counts)
        if all(have[k] for k in (1, 2, 3)):
            y = have[1] / (have[1] + 2 * have[2])
            found = [0.0, *(k - (k + 1) * y * have[k + 1] / have[k] for k in (1, 2, 3))]
            if min(found) >= 0:
                return found
        self.fallback_orders.append(n)
        return [0.0, *fallback]

    def _discount(self, n, count):
        return self.discounts[n][min(count, 3)]


def read_arpa(path):
    prob, backoff, order = {}, {}, 0
    for line in read_lines(path):
        if line.endswith("-grams:"):
            order += 1
        elif order and "\t" in line:
            fields = line.split("\t")
            gram = tuple(fields[1].split(" "))
            assert len(gram) == order
            prob[gram] = 10 ** float(fields[0])
            if len(fields) > 2:
                backoff[gram] = 10 ** float(fields[2])
    return prob, backoff


@pytest.mark.parametrize(
    ("lines", "order", "prune"),
    [
        (TINY, 1, (0,)),
        (TINY, 2, (0,)),
        (TINY, 3, (0,)),
        (TINY, 5, (0,)),
        (TINY, MAX_ORDER, (0,)),
        (TINY, 3, (0, 1)),
        (TINY, 4, (0, 1, 2)),
        (varied_text(), 3, (0,)),
        (varied_text(), 4, (0, 0, 1)),
        (varied_text(), 3, (0, 2, 3)),
    ],
)
def test_equals_the_slow_twin(tmp_path, lines, order, prune):
    found = train(lines, order=order, prune=prune)
    twin = Twin(lines, order, prune)
    assert found.fallback_orders == tuple(twin.fallback_orders)
    for n in range(order):
        assert found.discounts[n] == pytest.approx(twin.discounts[n + 1][1:])
    found.model.export_arpa(tmp_path / "arpa")
    prob, backoff = read_arpa(tmp_path / "arpa")
    assert prob.pop(("<s>",)) == 1
    assert prob == pytest.approx(twin.prob, rel=1e-5)
    for gram, weight in backoff.items():
        assert weight == pytest.approx(twin.backoff.get(gram, 1.0), rel=1e-5), gram
    assert found.model.n_ngrams[0] == len(twin.kept[1]) + 2
    assert list(found.model.n_ngrams[1:]) == [len(kept) for kept in twin.kept[2:]]


@pytest.mark.parametrize("prune", [(0,), (0, 1), (0, 0, 2)])
def test_probabilities_after_any_context_sum_to_one(prune):
    model = train(varied_text(), order=3, prune=prune).model
    words = [model.vocab.word(i) for i in range(len(model.vocab)) if i > 2]
    for context in (["w0"], ["w1", "w0"], ["w0", "w9"], ["never", "seen"], ["w3", "never"]):
        sentence = " ".join(context)
        before = model.score(sentence, eos=False)
        mass = sum(math.exp(model.score(f"{sentence} {word}", eos=False) - before) for word in [*words, "<another>"])
        mass += math.exp(model.score(sentence) - before)
        assert mass == pytest.approx(1, abs=1e-4)


def test_without_fallback_tiny_text_is_an_error():
    with pytest.raises(InputError, match="too small or artificial"):
        train(["a b", "c d"], order=2, fallback=None)
    assert train(varied_text(), order=2, fallback=None).fallback_orders == ()


def test_no_text_is_an_error_but_empty_lines_are_sentences():
    with pytest.raises(InputError, match="no text"):
        train([], order=3)
    model = train(["", ""], order=3).model
    assert math.exp(model.score("")) > 0.5


def test_corpus_words_that_look_like_symbols_are_words_of_their_own():
    model = train(["<s> a </s>", "<unk> a", "||| [X,1] \\a"], order=2).model
    assert model.full_scores("<unk> <s> </s> ||| [X,1] \\a")[0].oov is False
    assert not any(token.oov for token in model.full_scores("<unk> <s> </s> ||| [X,1] \\a"))
    assert model.full_scores("<S>")[0].oov


def test_several_files_are_one_text(tmp_path):
    (tmp_path / "one").write_text("a b c\nb c", encoding="utf-8")
    (tmp_path / "two").write_text("c a b\n", encoding="utf-8")
    text = TrainingText()
    seen = []
    text.add_file(tmp_path / "one", seen.append)
    text.add_file(tmp_path / "two")
    assert (text.n_sentences, text.n_tokens, seen[-1]) == (3, 14, 1)
    together = train(["a b c", "b c", "c a b"], order=3).model
    assert estimate(text, EstimateConfig(order=3)).model.score("a b c a") == together.score("a b c a")


def test_bad_text_names_file_and_line(tmp_path):
    (tmp_path / "bad").write_bytes(b"fine\n\xff\n")
    with pytest.raises(InputError, match=r"bad, line 2: invalid UTF-8"):
        TrainingText().add_file(tmp_path / "bad")


def test_a_fold_left_out_equals_a_model_of_the_others(tmp_path):
    lines = varied_text(300)
    (tmp_path / "source").write_text("\n".join(f"s{i % 90}" for i in range(300)) + "\n", encoding="utf-8")
    (tmp_path / "target").write_text("\n".join(lines) + "\n", encoding="utf-8")
    bitext = Bitext.build(tmp_path / "source", tmp_path / "target", tmp_path / "bitext", n_folds=3)
    config = EstimateConfig(order=3)
    for fold in range(3):
        part = TrainingText.of_side(bitext.target, folds=bitext.folds, excluded=fold)
        chosen = [line for line, other in zip(lines, bitext.folds, strict=True) if other != fold]
        held_out = [line for line, other in zip(lines, bitext.folds, strict=True) if other == fold]
        model, afresh = estimate(part, config).model, train(chosen, order=3).model
        assert part.n_sentences == len(chosen)
        assert model.n_ngrams == afresh.n_ngrams
        assert np.array_equal(model.score_batch(held_out).logprob, afresh.score_batch(held_out).logprob)


def test_a_word_of_the_excluded_fold_alone_is_unknown():
    side_lines = ["a b", "a rare b", "b a"]
    folds = np.array([0, 1, 0], np.uint8)
    text = TrainingText()
    text.add_lines(side_lines)
    assert not estimate(text, EstimateConfig(order=2)).model.full_scores("rare")[0].oov
    vocab = Vocab.of(side_lines)
    side = Side(vocab, *vocab.encode_lines(side_lines))
    model = estimate(TrainingText.of_side(side, folds=folds, excluded=1), EstimateConfig(order=2)).model
    assert model.full_scores("rare")[0].oov
    assert model.ids_of(vocab).tolist() == [model.vocab.id(vocab.word(i)) if i > 2 else i for i in range(len(vocab))]
    with pytest.raises(InputError, match="cannot be mixed"):
        TrainingText.of_side(side).add_lines(["a"])
    with pytest.raises(InputError, match="or neither"):
        TrainingText.of_side(side, folds=folds)


def test_progress_is_bounded_by_the_work():
    text = TrainingText()
    text.add_lines(varied_text() * 100)
    config = EstimateConfig(order=4)
    seen = []
    estimate(text, config, progress=seen.append)
    assert all(0 <= done <= estimate_work(text, config) for done in seen)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"order": 0}, "from 1 to 10"),
        ({"order": 11}, "from 1 to 10"),
        ({"prune": (1,)}, "unigrams"),
        ({"prune": (0, 2, 1)}, "must not decrease"),
        ({"prune": ()}, "pruning thresholds"),
        ({"order": 2, "prune": (0, 0, 1)}, "pruning thresholds"),
        ({"fallback": (0.5, 1.0, 9.0)}, "discount of count 3"),
    ],
)
def test_bad_settings_are_refused(config, message):
    with pytest.raises(InputError, match=message):
        EstimateConfig(**config)
