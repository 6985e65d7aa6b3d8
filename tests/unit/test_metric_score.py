"""`Bleu().score(hyps, refs)`: scores of text in one call, equal to sacrebleu's."""

from __future__ import annotations

import pytest
import sacrebleu

from dragoman.errors import InputError, MismatchError
from dragoman.metric import Bleu, Chrf, Ribes, Ter, Wer

HYPS = ["the house is small .", "a dog sleeps in the garden", "he said that he would come back soon"]
FIRST = ["the house is little .", "the dog sleeps in a garden", "he said he would be back soon"]
SECOND = ["this house is small .", "a dog is asleep in the garden", "he told us that he would come back soon"]
PEERS = [
    (Bleu(), sacrebleu.BLEU(tokenize="none")),
    (Bleu(lowercase=True, tokenizer="13a"), sacrebleu.BLEU(lowercase=True, tokenize="13a")),
    (Chrf(), sacrebleu.CHRF()),
    (Chrf(word_order=2), sacrebleu.CHRF(word_order=2)),
    (Ter(), sacrebleu.TER()),
]


@pytest.mark.parametrize(("metric", "peer"), PEERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("refs", [[FIRST], [FIRST, SECOND]], ids=["one", "two"])
def test_scores_of_text_are_sacrebleus(metric, peer, refs):
    assert metric.score(HYPS, refs) == pytest.approx(peer.corpus_score(HYPS, refs).score / 100, abs=1e-12)


@pytest.mark.parametrize("metric", [Bleu(), Chrf(), Ter(), Wer(), Ribes()], ids=lambda m: type(m).__name__)
def test_one_list_of_lines_is_one_reference(metric):
    score = metric.score(HYPS, FIRST)
    assert isinstance(score, float)
    assert 0 < score < 1
    assert score == metric.score(HYPS, [FIRST]) == metric.score(tuple(HYPS), [tuple(FIRST)], n_threads=2)
    assert metric.score(FIRST, FIRST) == (1 if metric.higher_is_better else 0)


def test_word_error_rate_and_ribes_of_a_line():
    assert Wer().score(["a b c d"], ["a b x d"]) == pytest.approx(1 / 4)
    assert Ribes().score(["b a"], ["a b"]) < Ribes().score(["a b"], ["a b"])


def test_a_missing_reference_is_none():
    assert Bleu().score(HYPS, [FIRST, [None, *SECOND[1:]]]) > 0


def test_a_string_is_not_a_list_of_lines():
    with pytest.raises(InputError, match="hyps must be a list of lines, not one string; for one line write"):
        Bleu().score("the house", ["the house"])
    with pytest.raises(InputError, match="refs must be a list of lines, not one string"):
        Bleu().score(["the house"], "the house")
    with pytest.raises(InputError, match="refs has lines beside lists of lines"):
        Bleu().score(HYPS, [FIRST, "the house"])
    with pytest.raises(MismatchError, match="reference 1 has 1 lines but the hypotheses have 3"):
        Bleu().score(HYPS, ["the house"])
