"""Metrics of lists equal those of text, whatever white space stands between the words."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from dragoman.candidates import Judge, expected_gains, read_nbest, rerank, with_metric, with_mixture
from dragoman.cli import app
from dragoman.features import Weights
from dragoman.metric import Bleu, Chrf, Ribes, Ter, Tokenizer, Wer

METRICS = {
    **{f"bleu, {tokenizer}": Bleu(tokenizer=tokenizer) for tokenizer in Tokenizer},
    "bleu, lowercase": Bleu(lowercase=True),
    "chrf": Chrf(),
    "chrf++": Chrf(word_order=2),
    "ter": Ter(),
    "ter, case": Ter(case_sensitive=True),
    "ter, asian": Ter(asian=True),
    "wer": Wer(),
    "ribes": Ribes(),
}
SPACES = " \t\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003\u2028\u202f\u205f\u3000"
LINES = st.text(st.sampled_from(f"{SPACES}aab.,\u00c9\u00e9\u65e5\u200b"), max_size=12)
FRENCH = "Il a dit\u00a0: \u00ab\u202foui\u202f\u00bb, n'est-ce pas\u202f?"
JAPANESE = "\u5f7c\u306f\u3000\u6771\u4eac \u3078\x85\u884c\u304f"


def pool_of_texts(folder, lists):
    rows = [
        json.dumps({"id": id_, "text": text, "features": {"place": -place}})
        for id_, texts in enumerate(lists)
        for place, text in enumerate(texts)
    ]
    (folder / "lists.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return read_nbest(folder / "lists.jsonl")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("white-space")


@pytest.mark.parametrize("name", METRICS)
@given(
    st.lists(st.tuples(st.lists(LINES, min_size=1, max_size=3), st.lists(LINES, min_size=2, max_size=2)), min_size=1)
)
@example([([FRENCH, "oui"], [FRENCH.replace("\u202f", " "), FRENCH])])
@example([([JAPANESE], ["\u5f7c\u306f \u6771\u4eac \u3078 \u884c\u304f", ""]), (["\xa0"], ["", "\u3000"])])
@settings(max_examples=15, deadline=None)
def test_statistics_of_lists_are_those_of_text(folder, name, sentences):
    metric = METRICS[name]
    sentences = [*sentences, (["some text"], ["some"])]  # a pool without any is refused
    lists, references = [texts for texts, _ in sentences], [own for _, own in sentences]
    pool = with_metric(pool_of_texts(folder, lists), metric, references)
    texts = [text for own in lists for text in own]
    sentence = np.repeat(np.arange(len(lists)), [len(own) for own in lists]).astype(np.int32)
    expected = metric.text_statistics(texts, references, sentence=sentence)
    (shard,) = pool.shards
    np.testing.assert_array_equal(shard.stats, expected)
    judge = Judge(metric, pool.words, references)
    apart = np.concatenate([judge.statistics(shard.part(s, s + 1)) for s in range(len(lists))])
    np.testing.assert_array_equal(apart, expected)


def test_what_is_written_is_what_was_read(folder):
    pool = pool_of_texts(folder, [[FRENCH, "oui"], [JAPANESE]])
    measured = with_metric(pool, Ter(), [[FRENCH], [JAPANESE]])
    assert list(rerank(measured, Weights.from_dict({"place": 1.0})).texts()) == [(0, FRENCH), (1, JAPANESE)]
    assert [pool.words.word(int(token)) for token in pool.shards[0].tokens] == [
        word.encode("utf-8") for text in (FRENCH, "oui", JAPANESE) for word in text.split(" ")
    ]


@pytest.mark.parametrize("name", ["bleu, none", "chrf", "ter", "wer", "ribes"])
def test_candidates_are_compared_with_each_other_by_the_same_words(folder, name):
    odd = pool_of_texts(folder, [[FRENCH, "Il a dit", FRENCH.lower()]])
    plain = pool_of_texts(folder, [[" ".join(text.split()) for text in (FRENCH, "Il a dit", FRENCH.lower())]])
    mass = [np.array([0.5, 0.25, 0.25])]
    found = [expected_gains(pool, METRICS[name], mass)[0] for pool in (odd, plain)]
    np.testing.assert_array_equal(*found)


def test_sums_of_metrics_too(folder):
    pool = pool_of_texts(folder, [[FRENCH, "Il a dit"], [JAPANESE, "x"]])
    references = [[" ".join(text.split())] for text in (FRENCH, JAPANESE)]
    best = rerank(with_mixture(pool, "chrf - ter", references), Weights.from_dict({"place": 1.0}))
    assert best.score() == pytest.approx(1.0)


def test_rerank_and_score_say_the_same(folder):
    """Without a tokeniser, which text in words has no need of."""
    pool_of_texts(folder, [[FRENCH, "non"], [JAPANESE, "x"]])
    (folder / "refs").write_text("".join(f"{' '.join(t.split())}\n" for t in (FRENCH, JAPANESE)), encoding="utf-8")
    (folder / "weights.tsv").write_text("place\t1\n", encoding="utf-8")
    out = folder / "best"
    told = ["rerank", "--nbest", folder / "lists.jsonl", "--weights", folder / "weights.tsv", "-r", folder / "refs"]
    reranked = CliRunner().invoke(app, [*map(str, told), "-o", str(out), "--json"])
    assert reranked.exit_code == 0, reranked.output
    scored = CliRunner().invoke(app, ["score", str(out), "-r", str(folder / "refs"), "--tokenize", "none", "--json"])
    assert scored.exit_code == 0, scored.output
    assert "100.0" in scored.stdout
    assert "100.0" in reranked.stdout
