"""Learning online from a system: against a slow twin, across threads, kills and kinds of systems."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.kit.margin_twin import passive_aggressive
from tests.kit.pseudo_corpus import PseudoCorpus
from tests.kit.small_text import write_lines, write_splits
from tests.kit.toy_runs import what_remains

from dragoman.candidates import Judge, rerank, with_metric
from dragoman.errors import InputError
from dragoman.features import Weights, read_weights
from dragoman.lm import EstimateConfig
from dragoman.metric import Bleu, Chrf, Smoothing, Ter, Tokenizer
from dragoman.optim import OnlineLearner, OnlineMira, OnlineRm, Rm, make_optimiser, method_name
from dragoman.optim.epochs import visiting_order
from dragoman.settings import describe
from dragoman.system import KINDS, LiveDecoder, System, SystemSettings, TrainConfig, train
from dragoman.tuning import (
    Keep,
    LoopSettings,
    Phase,
    SystemContext,
    TuneConfig,
    tune_system,
)

BLEU = Bleu(smoothing=Smoothing.NONE)
N_DEV = 12


@pytest.fixture(scope="module", name="made")
def made_systems(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    splits = write_splits(folder, 300, N_DEV, 0, seed=1)
    source, target = folder / "train.de", folder / "train.en"
    # A word that nobody knows is passed through, and there is nothing to say to an empty line.
    write_lines(folder / "dev.de", [*(example.source + f" fremd{i % 3}" for i, example in enumerate(splits.dev)), ""])
    write_lines(folder / "dev.en", [*(example.references[0] for example in splits.dev), ""])
    for kind in KINDS:
        config = TrainConfig(settings=SystemSettings(model=KINDS[kind].settings()), lm=EstimateConfig(order=3))
        train(source, target, folder / kind, config=config)
    return folder


def lines_of(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def tune(made, out, *, kind="phrase", rounds=2, n_threads=1, options=None, **changes):
    keys = {"features", "frozen", "metric"}
    chosen = {name: changes.pop(name) for name in list(changes) if name in keys}
    config = TuneConfig(k=6, loop=LoopSettings(max_rounds=rounds, **(options or {})), **chosen)
    method = make_optimiser(f"online-{changes.pop('method', 'mira')}", changes.pop("settings", {}))
    dev = [made / "dev.de", [made / "dev.en"]]
    return tune_system(made / kind, *dev, out, optimiser=method, config=config, n_threads=n_threads, **changes)


@pytest.mark.parametrize("kind", KINDS)
def test_single_sentences_are_decoded_as_all_at_once(made, kind):
    system = System.load(made / kind).with_templates(["extended"] if kind == "phrase" else ["target_insertion"])
    sentences = lines_of(made / "dev.de")
    whole = system.kbest(sentences, 5)
    live = LiveDecoder(system, sentences)
    values = system.weights.values_on(live.index)
    pool = live.pool_of([live.kbest(s, values, 5) for s in range(len(sentences))])
    (one,), (other,) = whole.shards, pool.shards
    for name in ("sentences", "feature_rows", "feature_ids", "feature_values", "totals", "source_lengths"):
        assert (getattr(one, name) == getattr(other, name)).all()
    texts = [[p.text(p.shards[0], c) for c in range(p.n_candidates)] for p in (whole, pool)]
    assert texts[0] == texts[1]
    assert any("fremd2" in text for text in texts[1])
    assert pool.dense == whole.dense
    assert pool.text(other, pool.n_candidates - 1) == ""


@pytest.mark.parametrize("metric", [BLEU, Bleu(lowercase=True), Bleu(tokenizer=Tokenizer.CHAR), Chrf(), Ter()])
def test_a_judge_sees_what_a_pool_sees(made, metric):
    system = System.load(made / "phrase")
    sentences = lines_of(made / "dev.de")
    references = [[line, line.upper()] for line in lines_of(made / "dev.en")]
    live = LiveDecoder(system, sentences)
    lists = [live.kbest(s, system.weights.values_on(live.index), 4) for s in range(N_DEV)]
    judge = Judge(metric, live.words, references)
    pool = with_metric(live.pool_of(lists), metric, references, allow_missing=True)
    assert (pool.shards[0].stats == np.concatenate([judge.statistics(shard) for shard in lists])).all()


def twin(system, sentences, references, *, n_passes, seed, k, c=0.01, decay=0.9):
    """Averages after each pass, by dense vectors and one decoding at a time."""
    index = system.index
    LiveDecoder(system, sentences)  # the index learns all features
    w = system.weights.values_on(index)

    def decode(s, n):
        pool = with_metric(
            system.kbest([sentences[s]], n, weights=w.copy(), distinct=True, first_sentence=s),
            BLEU,
            references,
            allow_missing=True,
        )
        (shard,) = pool.shards
        x = np.zeros((shard.n_candidates, len(index)))
        for row in range(len(x)):
            at = slice(shard.feature_rows[row], shard.feature_rows[row + 1])
            x[row, shard.feature_ids[at]] = shard.feature_values[at]
        return x, shard.stats

    words = [len(sentence.split()) for sentence in sentences]
    full = [s for s, n in enumerate(words) if n]
    begin = np.mean([decode(s, 1)[1][0] for s in full], axis=0)
    n = decay / (1 - decay)
    past = PseudoCorpus(background=n * begin, source_length=n * np.mean([words[s] for s in full]), decay=decay)
    prior = np.array([0.0, 0.0] + [0.01] * (BLEU.n_stats - 2))
    total, n_seen, averages = np.zeros(len(w)), 0, []
    for number in range(1, n_passes + 1):
        for s in visiting_order(np.array(full), key=[seed, number]).tolist():
            x, stats = decode(s, k)
            w, _, best = passive_aggressive(w, x, past.value(stats + prior, words[s]), c=c)
            past = past.update(stats[best], words[s])
            total += w
            n_seen += 1
        averages.append(total / n_seen)
    return averages


@pytest.mark.parametrize("templates", [(), ("extended",)])
def test_equals_the_twin(made, tmp_path, templates):
    sentences, references = lines_of(made / "dev.de"), [[line] for line in lines_of(made / "dev.en")]
    system = System.load(made / "phrase").with_templates(templates)
    expected = twin(system, sentences, references, n_passes=3, seed=5, k=6)
    settings = {"learners": 1}
    tuned = tune(
        made, tmp_path / "t", rounds=3, seed=5, settings=settings, features=templates, options={"keep": Keep.LAST}
    )
    for number, values in enumerate(expected, 1):
        learned = read_weights(tmp_path / "t" / "tune" / "rounds" / f"{number:04d}" / "learned.tsv")
        np.testing.assert_allclose(learned.values_on(system.index), values, rtol=1e-9, atol=1e-12)
        assert (values != system.weights.values_on(system.index)).any()
    assert dict(tuned.weights.items()) == dict(learned.items())


def test_rounds_are_measured_by_decoding(made, tmp_path):
    rounds = []
    tuned = tune(made, tmp_path / "t", rounds=3, settings={"passes": 2, "learners": 1}, on_round=rounds.append)
    assert [record.round for record in rounds] == [1, 2, 3, 4]
    assert [[entry["pass"] for entry in record.learned.trace] for record in rounds[:-1]] == [[1, 2], [3, 4], [5, 6]]
    assert rounds[-1].learned is None
    assert max(record.score for record in rounds) > rounds[0].score
    sentences, references = lines_of(made / "dev.de"), [[line] for line in lines_of(made / "dev.en")]
    for number, record in enumerate(rounds, 1):
        weights = read_weights(tmp_path / "t" / "tune" / "rounds" / f"{number:04d}" / "weights.tsv")
        pool = with_metric(tuned.kbest(sentences, 1, weights=weights), BLEU, references, allow_missing=True)
        assert record.score == pytest.approx(rerank(pool, weights).score(), abs=1e-12)
    about = tuned.manifest.about["tuning"]
    assert about["score_after"] == max(record.score for record in rounds)


def test_threads_do_not_matter_but_batches_do(made, tmp_path):
    found = {}
    for batch, n_threads in ((1, 1), (4, 1), (4, 3), (100, 2)):
        out = tmp_path / f"{batch}-{n_threads}"
        settings = {"batch": batch, "learners": 1}
        tuned = tune(made, out, n_threads=n_threads, settings=settings, options={"keep": Keep.LAST})
        found[batch, n_threads] = (out / "weights.tsv").read_bytes()
        assert tuned.weights.is_usable()
    assert found[4, 1] == found[4, 3]
    assert len(set(found.values())) == 3


def test_frozen_features_stay(made, tmp_path):
    tuned = tune(made, tmp_path / "t", frozen=("words", "lm"), options={"keep": Keep.LAST})
    start = System.load(made / "phrase").weights
    assert (tuned.weights["words"], tuned.weights["lm"]) == (start["words"], start["lm"])
    assert tuned.weights["p_e_f"] != start["p_e_f"]
    with pytest.raises(InputError, match="cannot be frozen"):
        tune(made, tmp_path / "u", frozen=("wish",))
    # Of a group also those that no best translation has.
    tuned = tune(made, tmp_path / "group", features=("rm_phrase",), frozen=("rule_id",), options={"keep": Keep.LAST})
    groups = {name.split(":")[0] for name, _ in tuned.weights.items()}
    assert "word_context" in groups
    assert "rule_id" not in groups


def test_weights_of_features_that_no_best_translation_has_fit(made, tmp_path):
    tune(made, tmp_path / "t", features=("rm_phrase",), options={"keep": Keep.LAST})
    again = tune_system(
        tmp_path / "t",
        made / "dev.de",
        [made / "dev.en"],
        tmp_path / "again",
        optimiser=make_optimiser("online-mira"),
        config=TuneConfig(loop=LoopSettings(max_rounds=1)),
        weights=Weights.from_dict({**dict(System.load(tmp_path / "t").weights.items()), "wish": 1.0}),
    )
    (fit,) = [note for note in again.manifest.about["tuning"]["notes"] if "no feature" in note]
    assert fit == "round 1: 1 weight fits no feature (wish)"


@pytest.mark.parametrize(("kind", "templates"), [("phrase", "extended"), ("hiero", "target_insertion")])
def test_sparse_features_are_learned(made, tmp_path, kind, templates):
    tuned = tune(made, tmp_path / "t", kind=kind, features=(templates,), options={"keep": Keep.LAST})
    sparse = [value for name, value in tuned.weights.items() if ":" in name]
    assert sparse
    assert np.isfinite(sparse).all()


@pytest.mark.parametrize("metric", ["chrf", "ter"])
def test_other_metrics(made, tmp_path, metric):
    tuned = tune(made, tmp_path / "t", metric=metric, method="rm", options={"keep": Keep.LAST})
    assert tuned.weights.is_usable()
    assert dict(tuned.weights.items()) != dict(System.load(made / "phrase").weights.items())


def test_enormous_steps_end_in_numbers_or_in_an_error(made, tmp_path):
    tuned = tune(made, tmp_path / "t", settings={"aggressiveness": 1e6, "gain_scale": 1e3})
    assert tuned.weights.is_usable()


def test_what_cannot_be_learned_online_is_refused(made, tmp_path):
    assert make_optimiser("online-rm", {"share": 2, "batch": 3}) == OnlineRm(margin=Rm(share=2.0), batch=3)
    assert method_name("rm", online=True) == "online-rm"
    with pytest.raises(InputError, match="pro cannot learn online; there are: mira, rm"):
        method_name("pro", online=True)
    for setting in ("n_epochs", "held_out", "wish"):
        with pytest.raises(InputError, match=f"online-mira has no setting '{setting}'; it has: update, units"):
            make_optimiser("online-mira", {setting: 1})
    assert {"batch", "passes"} < {setting.name for setting in describe(OnlineMira)}
    for bad in ({"batch": 0}, {"passes": 0}):
        with pytest.raises(InputError, match="at least 1"):
            make_optimiser("online-mira", bad)
    system = System.load(made / "phrase")
    with pytest.raises(InputError, match="two candidates"):
        OnlineMira().learner(SystemContext(system, ["das"], [["the"]], k=1))
    with pytest.raises(InputError, match="1 sentences but references of 2"):
        SystemContext(system, ["das"], [["the"], ["a"]])
    with pytest.raises(InputError, match="all features are frozen"):
        tune(made, tmp_path / "t", frozen=tuple(system.translator.dense()))
    learner = OnlineMira().learner(SystemContext(system, ["das"], [["the"]]))
    with pytest.raises(ValueError, match="counted from 1"):
        learner.learn(with_metric(system.kbest(["das"], 1), BLEU, [["the"]]), system.weights, seed=1, round_number=0)


@pytest.mark.parametrize("measure", ["decode", "live"])
def test_a_killed_run_goes_on_to_the_same_bits(made, tmp_path, measure):
    script = (
        "import sys; from pathlib import Path; from dragoman.tuning import *\n"
        "made, out = map(Path, sys.argv[1:])\n"
        "from dragoman.optim import make_optimiser\n"
        f"method = make_optimiser('online-mira', dict(learners=4, batch=2, measure='{measure}'))\n"
        "config = TuneConfig(k=6, features=('extended',), loop=LoopSettings(max_rounds=6))\n"
        "tune_system(made / 'phrase', made / 'dev.de', [made / 'dev.en'], out, config=config, seed=3, resume=True,\n"
        "            optimiser=method, n_threads=2,\n"
        "            on_round=lambda record: print(record.round, flush=True))\n"
    )

    def start(out):
        return subprocess.Popen(
            [sys.executable, "-c", script, str(made), str(out)], stdout=subprocess.PIPE, text=True, env=os.environ
        )

    whole = start(tmp_path / "whole")
    assert whole.communicate()[0].split() == [str(n) for n in range(1, 8)]
    for rounds in (2, 3):
        process = start(tmp_path / "run")
        for _ in range(rounds):
            process.stdout.readline()
        time.sleep(0.003)  # somewhere inside the next round
        process.kill()
        assert process.wait() == -signal.SIGKILL
        process.stdout.close()
    assert start(tmp_path / "run").communicate()[0]
    assert what_remains(tmp_path / "run" / "tune") == what_remains(tmp_path / "whole" / "tune")
    assert (tmp_path / "run" / "weights.tsv").read_bytes() == (tmp_path / "whole" / "weights.tsv").read_bytes()


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["mira", "rm"])
def test_stopped_anywhere_it_goes_on_to_the_same_bits(made, tmp_path, monkeypatch, kind, method):
    """After decoding, after learning before the record of it, after a round."""
    words = {"kind": kind, "method": method, "rounds": 3, "features": ("target_insertion(top=5)",), "seed": 3}
    words["options"] = {"keep": Keep.LAST}
    tune(made, tmp_path / "whole", **words, n_threads=2)

    def stop_at(number, step):
        if number == 2 and step is Phase.LEARN:
            raise StoppedError

    with pytest.raises(StoppedError):
        tune(made, tmp_path / "t", **words, on_step=stop_at)
    save = OnlineLearner.save_state

    def save_and_stop(self, folder):
        save(self, folder)
        raise StoppedError

    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        patch.setattr(OnlineLearner, "save_state", save_and_stop)
        tune(made, tmp_path / "t", **words, resume=True)

    def stop_after(record):
        if record.round == 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        tune(made, tmp_path / "t", **words, resume=True, on_round=stop_after)
    tune(made, tmp_path / "t", **words, resume=True)
    assert (tmp_path / "t" / "weights.tsv").read_bytes() == (tmp_path / "whole" / "weights.tsv").read_bytes()


def test_where_no_step_was_needed_it_goes_on_too(made, tmp_path):
    def stop(record):
        if record.round == 1:
            raise StoppedError

    words = {"settings": {"gain_scale": 1e-9}, "rounds": 3}
    with pytest.raises(StoppedError):
        tune(made, tmp_path / "t", **words, on_round=stop)
    assert (tmp_path / "t" / "tune" / "rounds" / "0001" / "state" / "past.tsv").read_bytes() == b""
    tuned = tune(made, tmp_path / "t", **words, resume=True)
    assert dict(tuned.weights.items()) == dict(System.load(made / "phrase").weights.items())


def test_a_settled_decoder_is_not_called_deaf(made, tmp_path):
    tuned = tune(made, tmp_path / "t", rounds=6, settings={"gain_scale": 1e-4})
    assert not any(
        "same lists" in note for entry in tuned.manifest.about["tuning"]["rounds"] for note in entry["notes"]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_greatest_steps_end_in_numbers(made, tmp_path, kind):
    settings = {"aggressiveness": 1e100, "gain_scale": 1e100}
    assert tune(made, tmp_path / "t", kind=kind, settings=settings).weights.is_usable()
    for name in settings:
        with pytest.raises(InputError, match=r"at most 1e\+100"):
            tune(made, tmp_path / "u", kind=kind, settings=settings | {name: 2e100})


def test_a_damaged_state_is_reported(made, tmp_path):
    def stop(record):
        if record.round == 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        tune(made, tmp_path / "t", rounds=3, on_round=stop)
    (tmp_path / "t" / "tune" / "rounds" / "0002" / "state" / "rest.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="damaged"):
        tune(made, tmp_path / "t", rounds=3, resume=True)


def test_other_start_weights(made, tmp_path):
    start = Weights.from_dict({"lm": 1.0, "words": 0.25, "p_e_f": 0.5, "nobody_has_this": 2.0})
    tuned = tune(made, tmp_path / "t", rounds=1, weights=start, options={"keep": Keep.LAST})
    assert tuned.weights["nobody_has_this"] == 2.0


@pytest.mark.parametrize("kind", KINDS)
def test_the_scale_of_the_start_does_not_matter_in_relative_units(made, tmp_path, kind):
    start = System.load(made / kind).weights
    great = Weights(start.index, 1024 * start.values)
    options = {"kind": kind, "method": "rm", "options": {"keep": Keep.LAST}}
    plain, other = (
        tune(made, tmp_path / str(number), weights=weights, **options) for number, weights in enumerate((start, great))
    )
    assert (other.weights.values == 1024 * plain.weights.values).all()
    assert (plain.weights.values != start.values_on(plain.index)).any()
