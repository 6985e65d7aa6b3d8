"""KenLM as the oracle: it reads our ARPA and must give our scores; its lmplz gave the perplexity."""

from __future__ import annotations

import math

import kenlm
import numpy as np
import pytest

from dragoman.lm import EstimateConfig, Perplexity, TrainingText, estimate
from dragoman.text import read_lines

LINES = [
    "the house is small",
    "the small house is the old one",
    "a house , a street and a tree",
    "is the tree old ?",
    "the old street is small , the tree is not",
    "a small tree and an old street",
    "",
    "and",
]
UNSEEN = ["the old house", "a tree is a tree", "unknown words , the small one", "", "? ? and the", "old"]


def oracle(model, tmp_path):
    model.export_arpa(tmp_path / "model.arpa")
    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    return kenlm.Model(str(tmp_path / "model.arpa"), config)


def assert_same_tokens(ours, theirs, sentences):
    for sentence in sentences:
        for bos in (True, False):
            for eos in (True, False):
                tokens = ours.full_scores(sentence, bos=bos, eos=eos)
                expected = list(theirs.full_scores(sentence, bos=bos, eos=eos))
                assert len(tokens) == len(expected)
                for token, (log10, length, oov) in zip(tokens, expected, strict=True):
                    assert token.logprob / math.log(10) == pytest.approx(log10, abs=1e-5)
                    assert (token.ngram_length, token.oov) == (length, oov)


@pytest.mark.parametrize("order", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("prune", [(0,), (0, 1)])
def test_kenlm_agrees_on_every_token(tmp_path, order, prune):
    text = TrainingText()
    text.add_lines(LINES * 2)
    model = estimate(text, EstimateConfig(order=order, prune=prune)).model
    assert_same_tokens(model, oracle(model, tmp_path), LINES + UNSEEN)


@pytest.mark.realdata
def test_perplexity_of_lmplz(data, tmp_path):
    """lmplz -o 5 on the same text: 86.342, </s> counted, unknown words as <unk>."""
    text = TrainingText()
    text.add_file(data / "debian-fr-en" / "train.en.xz")
    found = estimate(text, EstimateConfig(order=5))
    assert found.fallback_orders == ()
    assert sum(found.model.n_ngrams) == pytest.approx(11.5e6, rel=0.01)
    parts = list(found.model.score_file(data / "debian-fr-en" / "test.en.xz"))
    assert Perplexity.of(parts).perplexity == pytest.approx(86.342, rel=1e-5)
    threaded = list(found.model.score_file(data / "debian-fr-en" / "test.en.xz", n_threads=2))
    assert all(np.array_equal(a.logprob, b.logprob) for a, b in zip(parts, threaded, strict=True))


@pytest.mark.realdata
def test_kenlm_agrees_on_real_text(data, tmp_path):
    text = TrainingText()
    text.add_file(data / "multi30k" / "train.en.xz")
    model = estimate(text, EstimateConfig(order=4, prune=(0, 0, 1))).model
    lines = list(read_lines(data / "multi30k" / "dev.en.xz"))[:200]
    assert_same_tokens(model, oracle(model, tmp_path), lines)
