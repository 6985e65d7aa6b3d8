"""The outer loop around a system."""

from __future__ import annotations

import pytest
from tests.kit.small_text import write_lines, write_splits

from dragoman.errors import InputError, MismatchError
from dragoman.features import Weights
from dragoman.lm import EstimateConfig
from dragoman.optim import Mert
from dragoman.system import System, TrainConfig, train
from dragoman.tuning import LoopSettings, SystemDecoder, TuneConfig, tune_system


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    write_splits(folder, 400, 20, 0, seed=1)
    train(folder / "train.de", folder / "train.en", folder / "system", config=TrainConfig(lm=EstimateConfig(order=3)))
    return folder


def config(rounds=3, **changes):
    return TuneConfig(k=20, loop=LoopSettings(max_rounds=rounds), **changes)


def tune(made, out, **changes):
    return tune_system(made / "system", made / "dev.de", [made / "dev.en"], out, **changes)


def test_tuning_makes_a_system_that_is_better_on_the_development_set(made, tmp_path):
    rounds = []
    tuned = tune(made, tmp_path / "t", config=config(), on_round=rounds.append)
    about = tuned.manifest.about["tuning"]
    assert about["score_after"] >= about["score_before"] == rounds[0].score
    assert [entry["round"] for entry in about["rounds"]] == [entry.round for entry in rounds]
    record = tuned.record
    assert (record.score_before, record.score_after) == (about["score_before"], about["score_after"])
    assert [entry.score for entry in record.rounds] == [entry.score for entry in rounds]
    assert record.rounds[0].learned.trace
    assert dict(record.weights.items()) == dict(tuned.weights.items())
    assert "by round" in record._repr_html_()
    assert repr(record).startswith(f"TuneRecord(bleu {record.score_before:.4f} -> ")
    assert System.load(made / "system").record is None
    assert tuned.weights.is_usable()
    assert {path.name for path in (tmp_path / "t").iterdir()} == {"system.json", "tune", "weights.tsv"}
    assert not list((tmp_path / "t" / "tune").glob("rounds/*/candidates"))
    assert tune(made, tmp_path / "t", config=config(), resume=True).manifest == tuned.manifest
    with pytest.raises(InputError, match="holds a system"):
        tune(made, tmp_path / "t", config=config())


def test_a_damaged_record_is_no_record(made, tmp_path):
    tuned = tune(made, tmp_path / "t", config=config(1))
    result = tmp_path / "t" / "tune" / "result.json"
    result.write_text(result.read_text().replace('"n_sentences": ', '"n_sentences": 1'))
    with pytest.raises(InputError, match=r"result\.json: does not match its checksum; the run is damaged"):
        _ = tuned.record


def test_a_stopped_tuning_goes_on_to_the_same_weights(made, tmp_path):
    whole = tune(made, tmp_path / "whole", config=config(), seed=3)

    class StoppedError(Exception):
        pass

    def stop(record):
        if record.round == 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        tune(made, tmp_path / "t", config=config(), seed=3, on_round=stop)
    with pytest.raises(InputError, match="unfinished system: `dragoman tune` was stopped"):
        System.load(tmp_path / "t")
    with pytest.raises(InputError, match="other settings .k."):
        tune(made, tmp_path / "t", config=TuneConfig(k=21, loop=LoopSettings(max_rounds=3)), seed=3, resume=True)
    resumed = tune(made, tmp_path / "t", config=config(), seed=3, resume=True)
    assert dict(resumed.weights.items()) == dict(whole.weights.items())


@pytest.mark.parametrize(
    "changed",
    [
        {"optimiser": "pro"},
        {"optimiser": Mert(n_starts=2)},
        {"seed": 9},
        {"source": "other.de"},
        {"references": "other.en"},
        {"start": {"lm": 1.0}},
    ],
    ids=str,
)
def test_a_finished_tuning_answers_only_for_itself(made, tmp_path, changed):
    tuned = tune(made, tmp_path / "t", config=config(rounds=1))
    write_lines(made / "other.de", [line + " ." for line in (made / "dev.de").read_text(encoding="utf-8").splitlines()])
    write_lines(made / "other.en", [line + " ." for line in (made / "dev.en").read_text(encoding="utf-8").splitlines()])
    changed = dict(changed)
    source, reference = made / changed.pop("source", "dev.de"), made / changed.pop("references", "dev.en")
    if start := changed.pop("start", None):
        changed["weights"] = Weights.from_dict(start)
    with pytest.raises(InputError, match="was started with other settings"):
        tune_system(
            made / "system", source, [reference], tmp_path / "t", config=config(rounds=1), resume=True, **changed
        )
    with pytest.raises(InputError, match="not made by tuning"):
        tune(made, made / "system", config=config(rounds=1), resume=True)
    again = tune(made, tmp_path / "t", config=config(rounds=1), resume=True)
    assert dict(again.weights.items()) == dict(tuned.weights.items())


def test_a_misspelt_name_is_found_before_anything_is_decoded(made, tmp_path):
    steps = []
    with pytest.raises(InputError, match="'nobody' cannot be frozen"):
        tune(made, tmp_path / "t", config=config(frozen=("nobody",)), on_step=lambda *step: steps.append(step))
    assert not steps
    assert not (tmp_path / "t").exists()


def test_another_decoder_enters_by_its_factory(made, tmp_path):
    calls = []

    class Watched(SystemDecoder):
        def decode(self, weights):
            calls.append(dict(weights.items()))
            return super().decode(weights)

    tuned = tune(made, tmp_path / "t", config=config(rounds=1), decoder_factory=Watched)
    assert len(calls) == 2
    assert dict(tuned.weights.items()) in calls


def test_frozen_weights_and_another_start(made, tmp_path):
    start = Weights.from_dict({"lm": 1.0, "words": 0.25, "p_e_f": 0.5})
    tuned = tune(made, tmp_path / "t", config=config(rounds=1, frozen=("words",)), weights=start)
    assert tuned.weights["words"] == 0.25


def test_what_does_not_fit_is_refused(made, tmp_path):
    with pytest.raises(MismatchError, match="400"):
        tune_system(made / "system", made / "dev.de", [made / "train.en"], tmp_path / "t")
    with pytest.raises(InputError, match="two candidates"):
        tune(made, tmp_path / "t", config=TuneConfig(k=1))
    with pytest.raises(InputError, match="no method"):
        tune(made, tmp_path / "t", optimiser="wish")
    assert not (tmp_path / "t").exists()


def test_the_decoder_gives_the_systems_candidates(made):
    system = System.load(made / "system")
    sentences = (made / "dev.de").read_text(encoding="utf-8").splitlines()
    pool = SystemDecoder(system, sentences, k=5, distinct=True).decode(system.weights)
    (shard,) = pool.shards
    assert [pool.text(shard, int(c)) for c in shard.sentences[:-1]] == list(system.translate(sentences))


def test_sparse_features_are_chosen_at_tuning(made, tmp_path):
    chosen = config(rounds=1, features=("extended",))
    tuned = tune(made, tmp_path / "t", optimiser="pro", config=chosen)
    assert tuned.settings.features == ("extended",)
    names = [name for name, _ in tuned.weights.items()]
    assert any(name.startswith("word_pair:") for name in names)
    sentences = (made / "dev.de").read_text(encoding="utf-8").splitlines()
    n_features = len(tuned.index)
    lines = list(tuned.translate(sentences))
    assert len(tuned.index) == n_features
    for sentence, line in zip(sentences[:5], lines[:5], strict=True):
        explained = tuned.explain(sentence)
        assert explained.text == line
        assert any(item.name.startswith("joint_length:") for item in explained.features)
    with pytest.raises(InputError, match="unknown template"):
        tune(made, tmp_path / "u", config=config(features=("wishes",)))
