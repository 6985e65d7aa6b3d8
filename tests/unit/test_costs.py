"""Gains in the context of other translations, against corpus scores computed anew."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
import sacrebleu
from tests.kit.pools import random_pool

from dragoman.candidates.shard import concatenate
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import External, by_name
from dragoman.optim import LearningContext, Mira
from dragoman.optim.costs import Context, PreviousPass

TEXT = [
    ["the cat sat on the mat", "the cat sat on a mat today", "a cat"],
    ["he reads a long book in bed", "he reads the long book", "in bed he reads a long book"],
    ["it rained all day in the old town", "it rains", "all day it rained in the town"],
]
REFERENCES = [["the cat sat on the mat"], ["he reads a long book in his bed"], ["it rained all day in the old town"]]
LENGTHS = np.array([5.0, 7.0, 9.0])
METRICS = ["bleu", "ter", "chrf", "chrf++", "(ter-bleu)/2", "0.3*chrf+0.7*bleu"]


def previous_pass(metric):
    stats = metric.text_statistics([hyps[0] for hyps in TEXT], REFERENCES)
    return PreviousPass(metric, stats, LENGTHS), stats


@pytest.mark.parametrize("name", METRICS)
def test_the_previous_pass_gives_corpus_gains_computed_anew(name):
    metric = by_name(name)
    previous, stats = previous_pass(metric)
    for sentence, hyps in enumerate(TEXT):
        candidates = metric.text_statistics(hyps, [REFERENCES[sentence]] * len(hyps))
        others = np.delete(stats, sentence, axis=0).sum(axis=0)
        words = np.delete(LENGTHS, sentence).sum()
        anew = [metric.gain(metric.context_prior() + others / 2 + row) for row in candidates]
        expected = (words / 2 + LENGTHS[sentence]) * np.array(anew)
        np.testing.assert_allclose(previous.gains(sentence, candidates), expected, rtol=1e-12)
    copy = pickle.loads(pickle.dumps(previous))
    assert copy.gains(1, candidates).tobytes() == previous.gains(1, candidates).tobytes()


@pytest.mark.parametrize(("name", "sign"), [("bleu", 1), ("ter", -1)])
def test_the_previous_pass_is_sacrebleu_of_a_corpus_with_the_candidate_twice(name, sign):
    """Half the others and the candidate once are the others once and the candidate twice; the prior is near nothing."""
    metric = by_name(name)
    previous, _ = previous_pass(metric)
    for sentence, hyps in enumerate(TEXT):
        others = [i for i in range(len(TEXT)) if i != sentence]
        words = LENGTHS[others].sum() / 2 + LENGTHS[sentence]
        candidates = metric.text_statistics(hyps, [REFERENCES[sentence]] * len(hyps))
        for hyp, gain in zip(hyps, previous.gains(sentence, candidates) / words, strict=True):
            lines = [TEXT[i][0] for i in others] + [hyp, hyp]
            refs = [[REFERENCES[i][0] for i in others] + 2 * REFERENCES[sentence]]
            corpus = {
                "bleu": lambda lines=lines, refs=refs: sacrebleu.corpus_bleu(lines, refs, tokenize="none"),
                "ter": lambda lines=lines, refs=refs: sacrebleu.corpus_ter(lines, refs),
            }[name]().score / 100
            assert gain == pytest.approx(corpus if sign > 0 else 1 - corpus, abs=2e-3 if name == "bleu" else 1e-12)


def test_gains_of_a_shard_go_by_the_ids_of_its_sentences():
    pool = random_pool(3, n_sentences=6, bleu=True)
    shard = pool.shards[0]
    first = shard.stats[shard.sentences[:-1]]
    previous = PreviousPass(pool.metric, first, np.arange(1.0, 7.0))
    some = concatenate([shard.part(1, 2), shard.part(4, 5)])
    expected = [previous.gains(s, shard.stats[shard.sentences[s] : shard.sentences[s + 1]]) for s in (1, 4)]
    assert previous.gains_of(some).tobytes() == np.concatenate(expected).tobytes()


@pytest.mark.parametrize("name", ["bleu", "ter", "chrf", "(ter-bleu)/2"])
def test_gains_of_metrics_with_references_are_taken_in_context(name):
    metric = by_name(name)
    pool = random_pool(3, n_sentences=12, bleu=True)
    stats = np.random.default_rng(1).integers(1, 9, size=(pool.n_candidates, metric.n_stats)).astype(float)
    pool = replace(pool, metric=metric, shards=(pool.shards[0].with_stats(stats),))
    start = Weights(pool.index, np.ones(len(pool.index)))
    found = {
        context: Mira(context=context, n_epochs=2).optimise(pool, start, seed=1).weights.values.tobytes()
        for context in (None, Context.PSEUDO, Context.SENTENCE)
    }
    assert found[None] == found[Context.PSEUDO] != found[Context.SENTENCE]
    with pytest.raises(InputError, match="no previous pass"):
        Mira(context=Context.PREVIOUS).optimise(pool, start, seed=1)
    with pytest.raises(InputError, match="no previous pass"):
        Mira(context=Context.PREVIOUS).learner(LearningContext())


def test_numbers_from_outside_have_no_context():
    pool = random_pool(3)
    start = Weights(pool.index, np.ones(len(pool.index)))
    runs = [Mira(context=context).optimise(pool, start, seed=1) for context in (None, Context.SENTENCE)]
    assert runs[0].weights.values.tobytes() == runs[1].weights.values.tobytes()
    with pytest.raises(InputError, match="context=sentence"):
        Mira(context=Context.PSEUDO).optimise(pool, start, seed=1)
    with pytest.raises(InputError, match="no context"):
        PreviousPass(External(), np.zeros((2, 2)), np.ones(2))
    with pytest.raises(ValueError, match="statistics expected"):
        PreviousPass(by_name("bleu"), np.zeros((2, 2)), np.ones(2))
