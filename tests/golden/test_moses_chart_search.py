"""Decode with Moses' exported hierarchical model: its rules, weights and language-model text against its own output."""

from __future__ import annotations

import re

import numpy as np
import pytest
from bench.moses_rules import GLUE, MOSES_NAMES, MosesRules, first_lines

from dragoman.features import FeatureIndex, Weights
from dragoman.lm import EstimateConfig, TrainingText, estimate
from dragoman.search import ChartConfig, ChartDecoder, ChartFeatures
from dragoman.text import read_lines

pytestmark = pytest.mark.realdata
N_SENTENCES = 100
FEATURES = ChartFeatures(unknown="unknown")


class Model:
    """What stands in the folder, and what Moses made of it."""

    def __init__(self, anchors, data):
        folder = anchors / "moses-enja" / "hiero"
        self.rules = MosesRules(folder)
        self.options = self.rules.options(first_lines(data / "enja" / "test.ja.xz", N_SENTENCES))
        self.moses = [self._candidate(line) for line in read_lines(folder / "test100.1best.gz")]
        text = TrainingText()
        text.add_file(data / "enja" / "train.en.xz")
        self.lm = estimate(text, EstimateConfig(order=5)).model

    @staticmethod
    def _candidate(line):
        _, text, features, score = (part.strip() for part in line.split("|||"))
        values = [float(x) for x in re.sub(r"\w+=", "", features).split()]
        named = dict(zip(MOSES_NAMES, values, strict=True))
        glue = round(named["glue"] / GLUE) - 1
        return (
            text,
            {**named, "words": -named["words"] - 2, "rules": named["rules"] - 3 - glue, "glue": glue},
            float(score),
        )

    def decode(self, config, k=1):
        index = FeatureIndex()
        decoder = ChartDecoder(config, self.rules.vocab, index, features=FEATURES, lm=self.lm)
        best = decoder.kbest(self.options, Weights.from_dict(self.rules.weights, index), k, n_threads=2)
        found = []
        for s in range(best.n_sentences):
            row = []
            for c in range(best.sentences[s], best.sentences[s + 1]):
                ids, values = best.features_of(c)
                named = dict(zip(index.names(ids), values.tolist(), strict=True))
                named["rules"] = named.get("rules", 0.0) + named.pop("unknown", 0.0)
                row.append((self.rules.text(best.tokens_of(c)), named, float(best.totals[c]) + self.rules.constant()))
            found.append(row)
        return found


@pytest.fixture(scope="module")
def model(anchors, data):
    return Model(anchors, data)


def test_model_scores_are_at_least_those_of_moses(model):
    found = model.decode(ChartConfig())
    ours = np.array([row[0][2] for row in found])
    theirs = np.array([score for *_, score in model.moses])
    assert theirs.mean() == pytest.approx(-12.054, abs=1e-3)
    assert ours.mean() >= theirs.mean() - 0.01
    assert np.mean(ours >= theirs - 0.15) > 0.95


def test_features_are_those_of_moses_for_the_same_derivation(model):
    found = model.decode(ChartConfig(), k=100)
    n_same = 0
    for row, (text, features, score) in zip(found, model.moses, strict=True):
        for ours, named, our_score in row:
            if ours != text or abs(our_score - score) > 1e-3:
                continue
            n_same += 1
            for name, value in features.items():
                # Moses prints six digits.
                assert named.get(name, 0.0) == pytest.approx(value, rel=1e-4, abs=2e-3), name
            break
    assert n_same >= 70  # of the others, most have a better derivation here
