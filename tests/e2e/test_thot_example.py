"""The example with a real foreign decoder: Thot's, from its Python library."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from dragoman.candidates import read_nbest
from dragoman.features import read_weights

EXAMPLE = Path(__file__).parents[2] / "examples" / "thot_tune"


def python(script, *words, folder):
    done = subprocess.run(
        [sys.executable, EXAMPLE / script, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("thot")
    words = ["corpus", "synth", "-n", "300", "--dev", "8", "--test", "0", "-o", "corpus", "-q"]
    subprocess.run([sys.executable, "-m", "dragoman", *words], cwd=folder, check=True)
    python("train.py", "corpus/train.de", "corpus/train.en", "model", folder=folder)
    return folder


def test_the_score_is_the_weighted_sum_of_the_components_but_for_a_constant(model, tmp_path):
    weights = {"WordPenalty": 0.5, "LanguageModel": 1.5, "PhraseTargetGivenSource": 0.7, "SentenceLength": -0.4}
    (tmp_path / "w").write_text("".join(f"{name}\t{value}\n" for name, value in weights.items()))
    python("decode.py", "model", "corpus/dev.de", tmp_path / "w", tmp_path / "nbest", 5, folder=model)
    pool = read_nbest(tmp_path / "nbest")
    assert len(pool.dense_names()) == 8
    shard = pool.shards[0]
    values = read_weights(tmp_path / "w").values_on(pool.index)
    differences = defaultdict(list)
    for sentence, candidate in zip(shard.sentence_of_each().tolist(), range(shard.n_candidates), strict=True):
        row = slice(shard.feature_rows[candidate], shard.feature_rows[candidate + 1])
        model_score = values[shard.feature_ids[row]] @ shard.feature_values[row]
        differences[sentence].append(shard.totals[candidate] - model_score)
    assert len(differences) == 8
    for several in differences.values():
        assert np.ptp(several) < 1e-3


def test_it_is_tuned(dragoman, model, tmp_path):
    (tmp_path / "here").symlink_to(model)
    command = f"'{sys.executable}' '{EXAMPLE / 'decode.py'}' here/model {{source}} {{weights}} {{nbest}} {{k}}"
    result = dragoman(
        *("tune", "--decoder", command, "--source", "here/corpus/dev.de", "-r", "here/corpus/dev.en", "-m", "chrf"),
        *("--weights", EXAMPLE / "start.tsv", "--k", 10, "--rounds", 2, "-o", "w.tsv", "--json"),
    ).json
    assert result["score_after"] >= result["score_before"] > 0
    assert len(result["rounds"]) > 1
    assert (result["n_sentences"], result["n_features"]) == (8, 8)
