"""Learning from the training text by folds: against a plain loop, on any workers, stopped and resumed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tests.kit.small_text import write_lines, write_splits
from tests.kit.toy_runs import what_remains

from dragoman.candidates import Judge
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Weights, read_weights
from dragoman.lm import EstimateConfig
from dragoman.metric import Bleu, Smoothing
from dragoman.optim import Mira, make_optimiser
from dragoman.optim.costs import Context, PreviousPass
from dragoman.optim.epochs import visiting_order
from dragoman.system import FoldDecoder, LiveDecoder, System, SystemSettings, TrainConfig, train
from dragoman.tuning import Keep, LearnFrom, LoopSettings, TuneConfig, fold_learners, tune_system
from dragoman.work.engine import open_engine

BLEU = Bleu(smoothing=Smoothing.NONE)
N_FOLDS, LIMIT, K, SEED = 3, 30, 6, 5
FEATURES = ("rm_phrase",)


@pytest.fixture(scope="module", name="made")
def made_system(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    splits = write_splits(folder, 300, 12, 0, seed=1)
    write_lines(folder / "dev.de", [example.source for example in splits.dev])
    write_lines(folder / "dev.en", [example.references[0] for example in splits.dev])
    for name, n_folds in (("system", N_FOLDS), ("plain", 1)):
        config = TrainConfig(settings=SystemSettings(n_folds=n_folds), lm=EstimateConfig(order=3))
        train(folder / "train.de", folder / "train.en", folder / name, config=config)
    return folder


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(fold_learners, "BLOCK_LINES", 4)


def tune(made, out, *, system="system", method="online-mira", settings=None, rounds=2, config=None, **words):
    loop = LoopSettings(max_rounds=rounds, keep=Keep.LAST)
    lines = {"learn_from": LearnFrom.TRAINING, "limit": LIMIT} | (config or {})
    return tune_system(
        made / system,
        made / "dev.de",
        [made / "dev.en"],
        out,
        optimiser=make_optimiser(method, settings or {}),
        config=TuneConfig(k=K, features=FEATURES, loop=loop, **lines),
        seed=SEED,
        **words,
    )


def learned(out, number):
    return dict(read_weights(out / "tune" / "rounds" / f"{number:04d}" / "learned.tsv").items())


class PlainLearner:
    """One native learner, one decoder of all lines of a fold, one line at a time."""

    def __init__(self, system, fold, lines, start, mean, lengths, margin):
        view = system.view_on(FeatureIndex(), fold)
        encoded = [system.training.encoded(lines[i : i + 1], fold) for i in range(len(lines))]
        self.decoder = LiveDecoder(view, encoded)
        self.judge = Judge(BLEU, self.decoder.words, [[system.training.target(i)] for i in lines.tolist()])
        self.margin = margin
        self.before = Weights.from_dict(start, self.decoder.index).values
        context = margin.pseudo_corpus(BLEU, mean, float(lengths.mean()))
        rates = np.ones(len(self.before))
        begin = margin.lists((), BLEU, ()), self.before, rates, context
        scale = margin.measure(*begin, np.zeros(0, np.int64), shares=None, sparse=True)
        self.learner = margin.margin_learner(*begin, scale=scale, batch=1)
        self.sums = np.zeros(len(self.before))

    def step(self, place, sentence, previous):
        """Returns the statistics of the best translation."""
        shard = self.decoder.kbest(place, self.learner.weights(), K, distinct=True)
        shard = shard.with_stats(self.judge.statistics(shard))
        gains = None if previous is None else Renumbered(previous, sentence)
        self.learner.turn_to(self.margin.lists([shard], BLEU, [shard.source_lengths.astype(np.float64)], gains))
        self.learner.visit(np.arange(1))
        self.sums += self.learner.weights()
        return shard.stats[0]

    def by_name(self, values):
        return dict(Weights(self.decoder.index, values).items())


class Renumbered:
    """The previous pass for a shard whose sentence has another number."""

    def __init__(self, previous, sentence):
        self.previous, self.sentence = previous, sentence

    def gains_of(self, shard):
        return self.previous.gains(self.sentence, shard.stats)


@pytest.mark.parametrize("context", ["pseudo", "previous"])
def test_learning_by_folds_is_a_plain_loop(made, tmp_path, context):
    tune(made, tmp_path / "t", settings={"context": context})
    system = System.load(made / "system").with_templates(FEATURES)
    training = system.training
    lines = training.evenly(LIMIT)
    folds, lengths = training.folds[lines], training.source_ids.lengths()[lines]
    assert np.bincount(folds).tolist() == [LIMIT // N_FOLDS] * N_FOLDS
    start = dict(system.weights.items())
    pool = FoldDecoder(system).measured(FoldDecoder(system).kbest(lines, system.weights, 1), BLEU)
    statistics = np.tile(pool.shards[0].stats.mean(axis=0), (LIMIT, 1))
    weights, sums, n_steps = start, {}, 0
    margin = Mira(context=Context(context))
    for number in (1, 2):
        order = visiting_order(np.arange(LIMIT), key=[SEED, number])
        previous = PreviousPass(BLEU, statistics, lengths.astype(np.float64)) if context == "previous" else None
        mean, statistics = statistics.mean(axis=0), statistics.copy()
        mixed = {}
        for fold in range(N_FOLDS):
            share = order[folds[order] == fold]
            learner = PlainLearner(system, fold, lines[share], weights, mean, lengths, margin)
            for place, sentence in enumerate(share.tolist()):
                statistics[sentence] = learner.step(place, sentence, previous)
            for name, value in learner.by_name(learner.learner.weights()).items():
                mixed[name] = mixed.get(name, 0.0) + len(share) / LIMIT * value
            for name, value in learner.by_name(learner.sums).items():
                sums[name] = sums.get(name, 0.0) + value
            n_steps += len(share)
        weights = mixed
        found = learned(tmp_path / "t", number)
        assert len(found) > len(start) + 20
        assert found == pytest.approx({name: value / n_steps for name, value in sums.items()}, rel=1e-9, abs=1e-12)


def test_threads_and_workers_give_the_same_bits(made, tmp_path):
    found = []
    for name, words in {
        "one": {"n_threads": 1},
        "threads": {"n_threads": 3},
    }.items():
        tune(made, tmp_path / name, method="online-rm", **words)
        found.append((tmp_path / name / "weights.tsv").read_bytes())
    with open_engine(n_workers=2, n_threads=1) as engine:
        tune(made, tmp_path / "workers", method="online-rm", engine=engine)
    assert {(tmp_path / "workers" / "weights.tsv").read_bytes(), *found} == {found[0]}


class StoppedError(Exception):
    pass


def test_a_stopped_run_goes_on_to_the_same_bits(made, tmp_path):
    words = {"method": "online-rm", "settings": {"context": "previous"}, "rounds": 3}
    tune(made, tmp_path / "whole", **words)
    for last in (1, 2, 3):

        def stop(record, last=last):
            if record.round == last:
                raise StoppedError

        with pytest.raises(StoppedError):
            tune(made, tmp_path / "t", **words, resume=last > 1, on_round=stop)
    tune(made, tmp_path / "t", **words, resume=True)
    assert (tmp_path / "t" / "weights.tsv").read_bytes() == (tmp_path / "whole" / "weights.tsv").read_bytes()


def test_a_killed_run_goes_on_to_the_same_bits(made, tmp_path):
    script = (
        "import sys; from pathlib import Path; from dragoman.tuning import *\n"
        "from dragoman.optim import make_optimiser\n"
        "made, out = map(Path, sys.argv[1:])\n"
        f"config = TuneConfig(k={K}, features={FEATURES}, learn_from=LearnFrom.TRAINING, limit={LIMIT},\n"
        "                    loop=LoopSettings(max_rounds=3, keep=Keep.LAST))\n"
        "tune_system(made / 'system', made / 'dev.de', [made / 'dev.en'], out, config=config, resume=True,\n"
        "            optimiser=make_optimiser('online-rm'), n_threads=2,\n"
        "            on_round=lambda record: print(record.round, flush=True))\n"
    )
    for name, rounds in (("whole", None), ("killed", 2), ("killed", None)):
        words = [sys.executable, "-c", script, made, tmp_path / name]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            if rounds is None:
                assert process.communicate()[0].split() == ["1", "2", "3", "4"]
                continue
            for _ in range(rounds):
                process.stdout.readline()
            process.kill()
    assert what_remains(tmp_path / "killed" / "tune") == what_remains(tmp_path / "whole" / "tune")
    assert (tmp_path / "killed" / "weights.tsv").read_bytes() == (tmp_path / "whole" / "weights.tsv").read_bytes()


def test_rounds_are_measured_on_the_development_set(made, tmp_path):
    rounds = []
    # chrF spells words; those that only one fold has are unknown to its view and pass through.
    config = {"limit": None, "metric": "chrf", "frozen": ("rule_id",)}
    tuned = tune(made, tmp_path / "t", on_round=rounds.append, config=config, rounds=1)
    assert rounds[0].learned.trace[0]["candidates"] > 300
    assert tuned.manifest.about["tuning"]["n_sentences"] == 12
    groups = {name.split(":")[0] for name, _ in tuned.weights.items()}
    assert "word_context" in groups
    assert "rule_id" not in groups


def test_what_cannot_be_is_refused(made, tmp_path):
    def refused(match, **words):
        with pytest.raises(InputError, match=match):
            tune(made, tmp_path / "t", **words)
        assert not (tmp_path / "t" / "system.json").exists()

    refused("has no folds of its training text; train it with `n_folds`", system="plain")
    refused("at least 1, not 0", config={"limit": 0})
    refused("leave out the fold", config={"fold": 1})
    refused("online mira, rm, svm, softramp can", method="mira")
    refused("each of 3 folds has a learner", settings={"learners": 2})
    refused("measure by decoding", settings={"measure": "live"})
    everything = (*System.load(made / "plain").translator.dense(), "rule_id", "word_context", "target_insertion")
    refused("all features are frozen", config={"frozen": (*everything, "source_deletion")})
    refused("leave out the limit", config={"learn_from": LearnFrom.DEVELOPMENT})
    tune(made, tmp_path / "three", settings={"learners": 3}, rounds=1, config={"frozen": everything})
