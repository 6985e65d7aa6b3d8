"""Binary weight files: what is read is what was written, in systems, rounds and commands."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from tests.kit.small_text import write_splits

from dragoman.errors import InputError
from dragoman.features import (
    FeatureIndex,
    FeatureTable,
    WeightFormat,
    Weights,
    find_weights,
    read_binary_weights,
    read_weights,
    store_weights,
    unite_weights,
    write_weights,
)
from dragoman.lm import EstimateConfig
from dragoman.system import SystemSettings, TrainConfig, save_tuned, train
from dragoman.tuning import LoopSettings, TuneConfig, tune_system


def random_weights(n=200, seed=0):
    rng = np.random.default_rng(seed)
    index = FeatureIndex()
    for i in rng.permutation(n):
        index.intern(f"template:ü {i}")
    return Weights(index, np.where(rng.random(n) < 0.1, 0.0, rng.normal(size=n)))


def test_reading_gives_the_same_weights_in_the_same_order(tmp_path):
    weights = random_weights()
    write_weights(weights, tmp_path / "w.bin", headers={"metric": "bleu"})
    write_weights(weights, tmp_path / "w.tsv")
    assert FeatureTable.load(tmp_path / "w.bin").about == {"headers": {"metric": "bleu"}}
    assert list(read_weights(tmp_path / "w.bin").items()) == list(read_weights(tmp_path / "w.tsv").items())
    assert list(unite_weights([tmp_path / "w.bin"]).items()) == list(weights.items())
    assert list(unite_weights([tmp_path / "w.bin", tmp_path / "w.tsv"]).items()) == list(weights.items())
    write_weights(weights, tmp_path / "odd.name", format_=WeightFormat.BINARY)
    index = FeatureIndex()
    index.intern("first")
    again = read_weights(tmp_path / "odd.name", index=index)
    assert list(again.items()) == list(weights.items())
    assert index.name(0) == "first"


def test_weights_over_other_indexes():
    weights = random_weights()
    names = [name for name, _ in weights.items()]
    other = FeatureIndex()
    for name in ["x", *names[::3]]:
        other.intern(name)
    there = weights.values_on(other)
    assert there.tolist() == [0.0, *(weights[name] for name in names[::3])]
    assert dict(weights.on(other).items()) == dict(weights.items())
    assert other.names(np.arange(len(other), dtype=np.int32))[1 + len(names[::3]) :] == [
        name for i, name in enumerate(names) if i % 3
    ]


def test_digests():
    weights = random_weights()
    turned = Weights.from_dict(dict(reversed(list(weights.items()))))
    assert weights.digest() == turned.digest()
    turned[next(iter(weights.items()))[0]] += 1
    assert weights.digest() != turned.digest()


@pytest.mark.parametrize("names", [["a\nb"], ["a", ""], ["a", "b\tc"], ["\ud800"]])
def test_names_that_nobody_may_have(names):
    with pytest.raises(InputError, match="feature name"):
        Weights.from_dict(dict.fromkeys(names, 1.0))


def test_refused_tables(tmp_path):
    table = FeatureTable.from_weights(random_weights(5))
    table.with_columns({"gradient": table.columns["weight"]}).save(tmp_path / "gradient.bin")
    with pytest.raises(InputError, match="gradient.bin: has no column 'weight' but gradient"):
        read_weights(tmp_path / "gradient.bin")
    assert len(read_binary_weights(tmp_path / "gradient.bin", column="gradient").ids()) == len(table)
    table.with_columns({"weight": np.full(len(table), np.inf)}).save(tmp_path / "infinite.bin")
    with pytest.raises(InputError, match=r"infinite.bin: the weight of 'template:ü \d' is not finite"):
        read_weights(tmp_path / "infinite.bin")
    write_weights(Weights(FeatureIndex()), tmp_path / "none.bin")
    with pytest.raises(InputError, match="none.bin: no weights here"):
        read_weights(tmp_path / "none.bin")
    odd = np.zeros(len(table), dtype=np.int64)
    table.with_columns({"weight": table.columns["weight"], "place": odd}).save(tmp_path / "odd.bin")
    with pytest.raises(InputError, match="odd.bin: the places of the features are not a permutation"):
        read_weights(tmp_path / "odd.bin")


def test_many_weights_are_stored_as_a_binary_file(tmp_path, monkeypatch):
    weights = random_weights(20)
    assert store_weights(weights, tmp_path, "w") == find_weights(tmp_path, "w") == tmp_path / "w.tsv"
    monkeypatch.setattr("dragoman.features.weight_files.MANY_WEIGHTS", 10)
    assert store_weights(weights, tmp_path, "w") == find_weights(tmp_path, "w") == tmp_path / "w.bin"
    assert [path.name for path in tmp_path.iterdir()] == ["w.bin"]


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("method", ["pro", "online-mira"])
def test_tuning_with_binary_weights(tmp_path, monkeypatch, method):
    write_splits(tmp_path, 300, 12, 0, seed=1)
    settings = SystemSettings(features=("word_pair(top=20)",))
    config = TrainConfig(settings=settings, lm=EstimateConfig(order=3))
    system = train(tmp_path / "train.de", tmp_path / "train.en", tmp_path / "system", config=config)
    start = system.weights.copy()
    for i in range(12):
        start[f"word_pair:nobody,{i}"] = 0.1
    files = tmp_path / "dev.de", [tmp_path / "dev.en"]
    options = {
        "optimiser": method,
        "config": TuneConfig(k=10, loop=LoopSettings(max_rounds=3)),
        "weights": start,
    }
    text = tune_system(system, *files, tmp_path / "text", **options)
    for module in ("features.weight_files", "tuning.settings_record"):
        monkeypatch.setattr(import_module(f"dragoman.{module}"), "MANY_WEIGHTS", 3)

    def stop(record):
        if record.round == 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        tune_system(system, *files, tmp_path / "binary", **options, on_round=stop)
    binary = tune_system(system, *files, tmp_path / "binary", **options, resume=True)
    assert list(binary.weights.items()) == list(text.weights.items())
    assert binary.file("weights").name == "weights.bin"
    assert not [path for path in (tmp_path / "binary").rglob("*.tsv") if path.stat().st_size > 200]
    record = (tmp_path / "binary" / "tune" / "run.json").read_text()
    assert '"n_weights"' in record
    assert "nobody" not in record
    with pytest.raises(InputError, match="other settings .start."):
        tune_system(system, *files, tmp_path / "binary", **{**options, "weights": system.weights}, resume=True)
    assert list(save_tuned(binary, tmp_path / "again", binary.weights).weights.items()) == list(text.weights.items())
