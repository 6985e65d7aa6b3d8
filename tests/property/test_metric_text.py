"""Statistics and scores equal sacrebleu's on any text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from dragoman.metric import (
    Bleu,
    Chrf,
    Metric,
    Smoothing,
    Ter,
    Tokenizer,
    output_statistics,
    references_by_sentence,
    score_text,
)

PAIRS = {
    "bleu": (lambda: BLEU(tokenize="none", force=True), Bleu()),
    "bleu, none, order 2": (
        lambda: BLEU(tokenize="none", force=True, smooth_method="none", max_ngram_order=2),
        Bleu(smoothing=Smoothing.NONE, max_order=2),
    ),
    "bleu, floor, lowercase": (
        lambda: BLEU(tokenize="none", force=True, smooth_method="floor", lowercase=True, effective_order=True),
        Bleu(smoothing=Smoothing.FLOOR, lowercase=True, effective_order=True),
    ),
    "bleu, add-k": (
        lambda: BLEU(tokenize="none", force=True, smooth_method="add-k", smooth_value=2.0),
        Bleu(smoothing=Smoothing.ADD_K, smooth_value=2.0),
    ),
    "bleu, exp, effective": (
        lambda: BLEU(tokenize="none", force=True, effective_order=True),
        Bleu(effective_order=True),
    ),
    "bleu, 13a": (lambda: BLEU(tokenize="13a", force=True), Bleu(tokenizer=Tokenizer.T13A)),
    "bleu, intl": (lambda: BLEU(tokenize="intl", force=True), Bleu(tokenizer=Tokenizer.INTL)),
    "bleu, zh": (lambda: BLEU(tokenize="zh", force=True), Bleu(tokenizer=Tokenizer.ZH)),
    "bleu, char": (lambda: BLEU(tokenize="char", force=True), Bleu(tokenizer=Tokenizer.CHAR)),
    "chrf": (CHRF, Chrf()),
    "chrf++": (lambda: CHRF(word_order=2), Chrf(word_order=2)),
    "chrf+, lowercase": (lambda: CHRF(word_order=1, lowercase=True), Chrf(word_order=1, lowercase=True)),
    "chrf, order 3, beta 1": (lambda: CHRF(char_order=3, beta=1), Chrf(char_order=3, beta=1)),
    "ter": (TER, Ter()),
    "ter, case": (lambda: TER(case_sensitive=True), Ter(case_sensitive=True)),
    "ter, asian": (lambda: TER(normalized=True, asian_support=True), Ter(asian=True)),
}
SPACES = " \u00a0\u2028\u3000\t\x1f\x85"
WORDS = [
    "a",
    "b",
    "B",
    "c.",
    "(",
    "(d)",
    "'e",
    "été",
    "É",
    "日本",
    "日。本a",
    "ΣΣ",
    "\u0130",
    "\u200bz",
    "f-g",
    "1,000",
]
words = st.lists(st.sampled_from(WORDS), max_size=12)
texts = st.one_of(
    words.map(" ".join),
    st.lists(st.sampled_from(WORDS[:3]), max_size=20).map(" ".join),
    st.builds(lambda ws, space: space.join(ws), words, st.sampled_from(SPACES)),
    st.text(max_size=30),
)
corpora = st.integers(1, 4).flatmap(
    lambda n: st.tuples(
        st.lists(texts, min_size=n, max_size=n),
        st.lists(st.lists(texts, min_size=n, max_size=n), min_size=1, max_size=3),
    )
)


def compare(peer, metric: Metric, hyps, refs) -> None:
    theirs = peer._extract_corpus_statistics(hyps, refs)
    ours = output_statistics(metric, [hyps], references_by_sentence(refs, len(hyps)))[0]
    assert np.array_equal(ours, np.array(theirs, dtype=np.float64))
    result = score_text(metric, hyps, refs)
    assert 100 * result.score == pytest.approx(peer._aggregate_and_compute(theirs).score, abs=1e-9)
    settings_of = str(peer.get_signature()).rpartition("|version:")[0]
    assert result.signature.startswith(settings_of)


@pytest.mark.parametrize("name", PAIRS)
@given(corpus=corpora)
@example(corpus=([""], [[""]]))
@example(corpus=(["", "a"], [["a", ""], ["", ""]]))
@example(corpus=(["a a a a a"], [["a"], ["a a"]]))
@example(corpus=(["a\u00a0b\u2028c d"], [["a b c\u3000d"]]))
@settings(max_examples=60)
def test_equal_to_sacrebleu(name, corpus):
    make, metric = PAIRS[name]
    compare(make(), metric, *corpus)


@given(data=st.lists(st.tuples(words, st.lists(words.map(" ".join), min_size=1, max_size=3)), min_size=1, max_size=3))
@settings(max_examples=40)
def test_a_sentence_may_lack_some_references(data):
    hyps = [" ".join(hyp) for hyp, _ in data]
    refs = [[lines[k] if k < len(lines) else None for _, lines in data] for k in range(3)]
    for name in ("bleu", "chrf++", "ter"):
        make, metric = PAIRS[name]
        compare(make(), metric, hyps, refs)


# Shuffled and repeated long sentences: many shifts, ties between them, the limit on their number, the beam.
@pytest.mark.parametrize(
    ("length", "n_words"), [(20, 4), (30, 30), (45, 60), (60, 40), (60, 300), (130, 600), (270, 5000)]
)
def test_ter_of_long_jumbled_sentences(length, n_words):
    rng = np.random.default_rng(length + n_words)
    ref = [f"w{i}" for i in rng.integers(n_words, size=length)]
    hyp = list(ref)
    for _ in range(4):
        a, b, c = sorted(rng.integers(0, length + 1, size=3))
        hyp = hyp[:a] + hyp[b:c] + hyp[a:b] + hyp[c:]
    hyp = [word for word in hyp if rng.random() > 0.1]
    compare(TER(), Ter(), [" ".join(hyp)], [[" ".join(ref)]])


def test_ter_of_wildly_different_lengths():
    long = " ".join(f"w{i % 90}" for i in range(300))
    for hyp, ref in [("w1 w2 w3", long), (long, "w5 w1"), ("x", long), (long, "y")]:
        compare(TER(), Ter(), [hyp], [[ref]])
