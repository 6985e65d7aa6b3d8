"""Small files of our own and what outside oracles say of them; `tests/golden/make_data.py` made both."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from dragoman.candidates import read_pool, rerank, with_external
from dragoman.features import Weights, read_weights
from dragoman.lm import LanguageModel
from dragoman.metric import Bleu, Chrf, Ter, output_statistics, references_by_sentence, score_text
from dragoman.optim import Acceptance, Pro, Scaling

DATA = Path(__file__).parent / "data"
METRICS = {"bleu": Bleu(), "chrf": Chrf(), "chrf++": Chrf(word_order=2), "ter": Ter()}


def lines_of(name):
    return (DATA / name).read_text(encoding="utf-8").splitlines()


def test_kenlm_scores_of_sentences_and_tokens():
    model = LanguageModel.load(DATA / "lm.arpa")
    rows = [json.loads(line) for line in lines_of("lm.kenlm.jsonl")]
    assert len(rows) == 50
    for row in rows:
        assert model.score(row["text"]) / math.log(10) == pytest.approx(row["log10"], abs=1e-4)
        found = model.full_scores(row["text"])
        assert [(token.ngram_length, token.oov) for token in found] == [(n, oov) for _, n, oov in row["tokens"]]
        expected = [log10 for log10, *_ in row["tokens"]]
        assert [token.logprob / math.log(10) for token in found] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", METRICS)
def test_sacrebleu_scores_statistics_and_signatures(name):
    expected = json.loads((DATA / "sacrebleu.json").read_text(encoding="utf-8"))[name]
    hypotheses, references = lines_of("hyp.en"), [lines_of("ref.en.0"), lines_of("ref.en.1")]
    [statistics] = output_statistics(METRICS[name], [hypotheses], references_by_sentence(references, len(hypotheses)))
    assert np.array_equal(statistics, np.array(expected["statistics"], dtype=np.float64))
    found = score_text(METRICS[name], hypotheses, references)
    assert 100 * found.score == pytest.approx(expected["score"], abs=1e-9)
    assert found.signature.startswith(expected["signature"].rpartition("|version:")[0])


def test_totals_of_a_candidate_list():
    pool = read_pool([DATA / "moses.nbest"])
    weights = read_weights(DATA / "moses.weights", index=pool.index)
    [shard] = pool.shards
    assert (pool.n_sentences, pool.n_candidates, len(pool.dense_names())) == (5, 20, 7)
    choice = rerank(pool, weights)
    # The list is sorted by its totals, so the first candidate of each sentence is the best.
    assert choice.candidates[0].tolist() == shard.sentences[:-1].tolist()
    texts = [line.split(" ||| ")[1] for line in lines_of("moses.nbest")]
    assert [text for _, text in choice.texts()] == texts[::4]
    totals = []
    for candidate in range(shard.n_candidates):
        row = slice(*shard.feature_rows[candidate : candidate + 2])
        totals.append(float(weights.values[shard.feature_ids[row]] @ shard.feature_values[row].astype(np.float64)))
    assert totals == pytest.approx(shard.totals.tolist(), abs=1e-5)
    assert shard.totals.tolist() == [float(line.rpartition("||| ")[2]) for line in lines_of("moses.nbest")]


@pytest.mark.parametrize("l2", [0.1, 1.0, 30.0])
def test_pro_finds_the_weights_of_scikit_learn(l2):
    pool = with_external(read_pool([DATA / "pro.jsonl"]), "quality")
    expected = json.loads((DATA / "pro.scikit-learn.json").read_text(encoding="utf-8"))
    # One pair a sentence is kept, and there is only one: nothing depends on the sampler.
    pro = Pro(l2=l2, scaling=Scaling.NONE, acceptance=Acceptance.STEP, threshold=0.0, n_draws=200, n_kept=1)
    result = pro.optimise(pool, Weights(pool.index), seed=1)
    assert result.trace[0]["pairs"] == expected["pairs"]
    found = dict(result.weights.items())
    assert [found[f"f{i}"] for i in range(4)] == pytest.approx(expected["weights"][str(l2)], rel=1e-4, abs=1e-6)
