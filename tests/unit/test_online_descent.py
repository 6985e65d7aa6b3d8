"""Losses lowered while a system decodes: against a slow twin, finite differences, kills, threads and bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.kit.pools import random_pool
from tests.kit.small_text import write_lines, write_splits
from tests.kit.toy_runs import what_remains

from dragoman.candidates import with_metric
from dragoman.errors import FailedError, InputError
from dragoman.experiments.rounds import cell_rounds
from dragoman.features import FeatureIndex, Weights, feature_arguments, feature_name, read_weights
from dragoman.lm import EstimateConfig
from dragoman.metric import Bleu, Smoothing
from dragoman.optim import OnlineSoftRamp, OnlineSvm, SoftRamp, Svm, make_optimiser, method_name
from dragoman.optim.epochs import visiting_order
from dragoman.optim.learner_pass import Ground, LearningTask
from dragoman.optim.learner_state import LearnerState
from dragoman.optim.online_descent import DescentRule
from dragoman.optim.units import Scale
from dragoman.optim.update import Conditioning
from dragoman.settings import describe
from dragoman.system import KINDS, LiveDecoder, System, SystemSettings, TrainConfig, train
from dragoman.tuning import Keep, LearnFrom, LoopSettings, TuneConfig, fold_learners, tune_system
from dragoman.work.engine import open_engine

BLEU = Bleu(smoothing=Smoothing.NONE)
K, N_DEV, N_FOLDS, LIMIT = 6, 12, 3, 30
METHODS = ("online-svm", "online-softramp")


@pytest.fixture(scope="module", name="made")
def made_systems(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    splits = write_splits(folder, 300, N_DEV, 0, seed=1)
    write_lines(folder / "dev.de", [*(example.source + f" fremd{i % 3}" for i, example in enumerate(splits.dev)), ""])
    write_lines(folder / "dev.en", [*(example.references[0] for example in splits.dev), ""])
    for kind in KINDS:
        settings = SystemSettings(model=KINDS[kind].settings(), n_folds=N_FOLDS)
        train(
            folder / "train.de",
            folder / "train.en",
            folder / kind,
            config=TrainConfig(settings=settings, lm=EstimateConfig(order=3)),
        )
    return folder


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(fold_learners, "BLOCK_LINES", 4)


def tune(made, out, method, settings=None, *, rounds=2, training=False, kind="phrase", config=None, **words):
    lines = {"learn_from": LearnFrom.TRAINING, "limit": LIMIT} if training else {}
    chosen = {"features": ("rule_id", "target_insertion(top=5)"), **lines, **(config or {})}
    return tune_system(
        made / kind,
        made / "dev.de",
        [made / "dev.en"],
        out,
        optimiser=make_optimiser(method, settings or {}),
        config=TuneConfig(k=K, loop=LoopSettings(max_rounds=rounds, keep=Keep.LAST), **chosen),
        **words,
    )


def lines_of(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def bits(out):
    return (out / "weights.tsv").read_bytes()


class Twin:
    """One learner on the development set, with dense vectors, losses written out and one decoding at a time."""

    def __init__(self, made, method, scale):
        self.system = System.load(made / "phrase").with_templates(("rule_id", "target_insertion(top=5)"))
        self.sentences = lines_of(made / "dev.de")
        self.references = [[line] for line in lines_of(made / "dev.en")]
        LiveDecoder(self.system, self.sentences)  # the index learns all features
        self.index = self.system.index
        self.update, self.loss, self.method = method.update(), method.loss(BLEU), method
        self.scale = scale["start"]
        self.w = self.scale * self.system.weights.values_on(self.index)
        self.variances = np.ones(len(self.w))
        for name, value in scale["variances"].items():
            self.variances[self.index.find(name)] = value
        self.dense = np.isin(np.arange(len(self.w)), [self.index.find(n) for n in self.system.translator.dense()])
        self.counts = np.zeros(len(self.w))
        self.shares = self.extraction_shares()

    def extraction_shares(self):
        """By the options of the grammar."""
        shares = np.zeros(len(self.w))
        view = self.system.grammar.view(self.system.translator._view.config)
        for sentence in self.sentences:
            for option in view.options(sentence):
                words = [text.replace(",", "\\,").replace(" ", "\\s") for text in (option.source, option.target)]
                if (place := self.index.find(f"rule_id:{words[0]},{words[1]}")) >= 0:
                    shares[place] = option.count / 300
        assert 50 < np.count_nonzero(shares) < len(shares) - self.dense.sum()
        return shares

    def gradient(self, x, gains):
        scores = x @ self.w
        if isinstance(self.method, Svm):
            best = max(range(len(gains)), key=lambda i: (gains[i], scores[i]))
            worst = int(np.argmax(scores + self.method.cost_scale * (gains[best] - gains)))
            return x[worst] - x[best]
        costs = self.method.cost_scale * (1 - gains)
        means = []
        for each in (scores + costs, scores - costs):
            p = np.exp(each - each.max())
            means.append(p / p.sum() @ x)
        return means[0] - means[1]

    def step(self, sentence, epoch, n_sentences):
        pool = with_metric(
            self.system.kbest([self.sentences[sentence]], K, weights=self.w.copy(), first_sentence=sentence),
            BLEU,
            self.references,
            allow_missing=True,
        )
        (shard,) = pool.shards
        x = np.zeros((shard.n_candidates, len(self.w)))
        for row in range(len(x)):
            at = slice(shard.feature_rows[row], shard.feature_rows[row + 1])
            x[row, shard.feature_ids[at]] = shard.feature_values[at]
        here = (x != 0).any(axis=0)
        self.counts += here
        n = np.full(len(self.w), float(n_sentences))
        rate = np.ones(len(self.w))
        if self.update.conditioning is not Conditioning.NONE:
            n = np.maximum(self.counts, 1)
            if self.update.conditioning is Conditioning.EXTRACTION:
                n = np.where(self.shares > 0, np.maximum(self.shares * n_sentences, 1), n)
            n[self.dense] = n_sentences
            rate = 1 / n
        slopes = self.gradient(x, self.loss.gains(shard))
        slopes[np.ptp(x, axis=0) == 0] = 0
        penalty = self.update.l2 / n * self.w * here
        step = self.update.step / (1 + self.update.decay * epoch)
        self.w -= step * rate * (slopes / self.variances + penalty)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("online-svm", Svm(l2=0.5, decay=0.5)),
        ("online-softramp", SoftRamp(conditioning=Conditioning.EXTRACTION, l2=0.2)),
        ("online-softramp", SoftRamp(conditioning=Conditioning.LISTS)),
        ("online-softramp", SoftRamp(conditioning=Conditioning.NONE, step=0.01)),
    ],
)
def test_equals_the_twin(made, tmp_path, name, method):
    changed = {"l2": method.l2, "step": method.step}
    changed |= {"decay": method.decay} if isinstance(method, Svm) else {"conditioning": method.conditioning.value}
    tune(made, tmp_path / "t", name, {"learners": 1, **changed}, rounds=2, seed=5)
    rounds = tmp_path / "t" / "tune" / "rounds"
    scale = json.loads((rounds / "0001" / "state" / "rest.json").read_text(encoding="utf-8"))["scale"]
    twin = Twin(made, method, scale)
    total, n_steps = 0.0, 0
    for number in (1, 2):
        for sentence in visiting_order(np.arange(N_DEV), key=[5, number]).tolist():
            twin.step(sentence, number - 1, N_DEV)
            total, n_steps = total + twin.w, n_steps + 1
        learned = read_weights(rounds / f"{number:04d}" / "learned.tsv").values_on(twin.index)
        np.testing.assert_allclose(learned, total / n_steps / twin.scale, rtol=1e-6, atol=1e-8)
    assert np.count_nonzero(twin.w) > len(twin.system.translator.dense()) + 20


@pytest.mark.parametrize("method", [Svm(l2=0.0), SoftRamp(l2=0.0, conditioning=Conditioning.NONE)])
def test_a_step_goes_against_the_gradient(made, method):
    """By finite differences of the loss of the list; with penalty, of the penalised loss."""
    system = System.load(made / "phrase").with_templates(("rule_id",))
    decoder = LiveDecoder(system, lines_of(made / "dev.de"))
    rule = DescentRule(replace(method, step=1e-3))
    task = LearningTask(rule=rule, metric=BLEU, batch=1, k=K, distinct=False, frozen=("lm",))
    ground = Ground.of(task, decoder, [[line] for line in lines_of(made / "dev.en")])
    start = system.weights.values_on(decoder.index)
    state = LearnerState.first(start, Scale(aggressiveness=1.0), np.zeros((len(decoder), BLEU.n_stats)))
    for sentence in range(4):
        shard = decoder.kbest(sentence, start, K)
        shard = shard.with_stats(ground.judge.statistics(shard))
        steps = rule.begin(ground, state, alone=True)
        told = steps.visit([shard])
        loss = method.loss(BLEU)
        assert told.loss == loss.gradient(shard, start)[0]
        change = steps.end(state).weights - start
        assert change[decoder.index.find("lm")] == 0
        for place in np.setdiff1d(shard.feature_ids, decoder.index.find("lm")):
            near = [start.copy(), start.copy()]
            near[0][place] -= 1e-6
            near[1][place] += 1e-6
            low, high = (loss.gradient(shard, values)[0] for values in near)
            assert change[place] == pytest.approx(-1e-3 * (high - low) / 2e-6, rel=1e-4, abs=1e-8)
        assert loss.gradient(shard, steps.live_weights())[0] < told.loss


@pytest.mark.parametrize("method", METHODS)
def test_passes_lower_the_objective(made, tmp_path, method):
    """The loss of the start's own lists, at the scale of learning."""
    rounds = []
    tuned = tune(made, tmp_path / "t", method, {"learners": 1}, rounds=5, on_round=rounds.append)
    system = System.load(made / "phrase").with_templates(("rule_id", "target_insertion(top=5)"))
    references = [[line] for line in lines_of(made / "dev.en")]
    pool = with_metric(system.kbest(lines_of(made / "dev.de"), K), BLEU, references, allow_missing=True)
    scale = rounds[0].learned.trace[0]["score_factor"]
    loss = make_optimiser(method).descent.loss(BLEU)
    before, after = (
        sum(loss.gradient(shard, scale * weights.values_on(system.index))[0] for shard in pool.shards)
        for weights in (system.weights, tuned.weights)
    )
    assert after < before
    assert any("units: scores x" in note for note in rounds[0].learned.notes)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("training", [False, True])
def test_threads_and_workers_give_the_same_bits(made, tmp_path, method, training):
    tune(made, tmp_path / "one", method, {"measure_every": 9}, training=training)
    tune(made, tmp_path / "three", method, {"measure_every": 9}, training=training, n_threads=3)
    with open_engine(n_workers=2, n_threads=1) as engine:
        tune(made, tmp_path / "workers", method, {"measure_every": 9}, training=training, engine=engine)
    assert bits(tmp_path / "one") == bits(tmp_path / "three") == bits(tmp_path / "workers")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("training", [False, True])
def test_a_killed_run_goes_on_to_the_same_bits(made, tmp_path, method, training):
    learn_from = f"learn_from=LearnFrom.TRAINING, limit={LIMIT}," if training else ""
    script = (
        "import sys; from pathlib import Path; from dragoman.tuning import *\n"
        "from dragoman.optim import make_optimiser\n"
        "made, out = map(Path, sys.argv[1:])\n"
        f"config = TuneConfig(k={K}, features=('rule_id', 'target_insertion(top=5)'), {learn_from}\n"
        "                    loop=LoopSettings(max_rounds=4, keep=Keep.LAST))\n"
        "tune_system(made / 'phrase', made / 'dev.de', [made / 'dev.en'], out, config=config, resume=True,\n"
        f"            optimiser=make_optimiser('{method}', dict(measure_every=8)), n_threads=2,\n"
        "            on_round=lambda record: print(record.round, flush=True))\n"
    )
    for name, rounds in (("whole", None), ("killed", 1), ("killed", 2), ("killed", None)):
        words = [sys.executable, "-c", script, made, tmp_path / name]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
            if rounds is None:
                assert process.communicate()[0].split() == ["1", "2", "3", "4", "5"]
                continue
            for _ in range(rounds):
                process.stdout.readline()
            process.kill()
    assert what_remains(tmp_path / "killed" / "tune") == what_remains(tmp_path / "whole" / "tune")
    assert bits(tmp_path / "killed") == bits(tmp_path / "whole")


@pytest.mark.parametrize("method", [*METHODS, "online-mira", "online-rm"])
def test_measuring_within_a_pass_does_not_change_a_single_learner(made, tmp_path, method):
    rounds = []
    tune(made, tmp_path / "whole", method, {"learners": 1}, rounds=2)
    parts = {"learners": 1, "measure_every": 5}
    tune(made, tmp_path / "parts", method, parts, rounds=6, on_round=rounds.append)
    parts, whole = (dict(read_weights(tmp_path / name / "weights.tsv").items()) for name in ("parts", "whole"))
    assert parts == whole  # in the order in which rounds met them
    trace = [record.learned.trace for record in rounds[:-1]]
    assert [(entry["pass"], entry["sentences"]) for (entry,) in trace] == [*2 * [(1, 5)], (1, 2), *2 * [(2, 5)], (2, 2)]


def test_scores_over_the_sentences_seen(made, tmp_path):
    """What reports draw: rounds of some lines, the score of the lines on the way, by folds and by all data."""
    train_scores = {}
    for all_data in (False, True):
        out, rounds = tmp_path / str(all_data), []
        settings = {"measure_every": 12, "all_data": all_data}
        tune(made, out, "online-svm", settings, rounds=3, training=True, on_round=rounds.append)
        entries = [json.loads(json.dumps(record.as_dict())) for record in rounds]
        cells = [*cell_rounds(entries, lambda n, out=out: out / "tune" / "rounds" / f"{n:04d}" / "weights.tsv", {})]
        assert [cell.n_trained for cell in cells] == [12, 12, 6, 0]
        assert [cell.dev for cell in cells] == [record.score for record in rounds]
        assert cells[-1].train is None
        assert [cell.n_possible for cell in cells[:-1]] == [r.learned.trace[0]["features"] for r in rounds[:-1]]
        train_scores[all_data] = [cell.train for cell in cells[:-1]]
    assert all(all_data > by_folds for by_folds, all_data in zip(*train_scores.values(), strict=True))


@pytest.mark.parametrize("method", METHODS)
def test_frozen_features_stay(made, tmp_path, method):
    tuned = tune(made, tmp_path / "t", method, config={"frozen": ("words", "lm", "rule_id")}, training=True)
    start = System.load(made / "phrase").weights
    assert (tuned.weights["words"], tuned.weights["lm"]) == (start["words"], start["lm"])
    assert tuned.weights["p_e_f"] != start["p_e_f"]
    groups = {name.split(":")[0] for name, _ in tuned.weights.items()}
    assert "target_insertion" in groups
    assert "rule_id" not in groups


@pytest.mark.parametrize("method", METHODS)
def test_the_scale_of_the_start_does_not_matter(made, tmp_path, method):
    start = System.load(made / "phrase").weights
    plain, great = (
        tune(made, tmp_path / f"{factor}", method, weights=Weights(start.index, factor * start.values))
        for factor in (1, 256)
    )
    assert (great.weights.values == 256 * plain.weights.values).all()
    assert (plain.weights.values != start.values_on(plain.index)).any()


@pytest.mark.parametrize("kind", KINDS)
def test_extraction_counts_are_those_of_the_view(made, kind):
    system = System.load(made / kind).with_templates(("rule_id",))
    view = system.view_on(FeatureIndex(), 1)
    sentences = lines_of(made / "dev.de")
    decoder = LiveDecoder(view, sentences)
    names = decoder.index.names(np.arange(len(decoder.index), dtype=np.int32))
    shares = dict(zip(names, decoder.extraction_shares(np.arange(len(names), dtype=np.int32)), strict=True))
    assert shares["lm"] == 0
    n_pairs = 300 * (1 - 1 / N_FOLDS)
    tables = view.translator._view
    found = [name for name in names if shares[name] > 0]
    assert len(found) > 0.8 * sum(name.startswith("rule_id:") for name in names)
    if kind == "phrase":
        for option in tables.options(sentences[0]):
            words = [text.replace(",", "\\,").replace(" ", "\\s") for text in (option.source, option.target)]
            assert shares[f"rule_id:{words[0]},{words[1]}"] == option.count / n_pairs
    else:
        assert tables.count("[X,1] .", "[X,1] .") == tables.find("[X,1] .", "[X,1] .").count > 1
        assert shares["rule_id:[X],[X]\\s.,[1]\\s."] == tables.count("[X,1] .", "[X,1] .") / n_pairs
    assert shares == pytest.approx({name: round(share * n_pairs) / n_pairs for name, share in shares.items()})


def test_what_cannot_be_is_refused(made, tmp_path):
    found = make_optimiser("online-svm", {"cost_scale": 2, "batch": 3})
    assert found == OnlineSvm(descent=Svm(cost_scale=2.0, step=0.001), batch=3)
    assert OnlineSoftRamp().descent == SoftRamp(conditioning=Conditioning.EXTRACTION)
    assert method_name("softramp", online=True) == "online-softramp"
    assert {"measure_every", "all_data", "step", "conditioning"} < {s.name for s in describe(OnlineSoftRamp)}
    for name in ("max_epochs", "held_out", "freeze_dense"):
        with pytest.raises(InputError, match=f"online-svm has no setting '{name}'"):
            make_optimiser("online-svm", {name: 1})
    for bad, match in (
        ({"measure_every": 0}, "at least 1 sentence"),
        ({"measure_every": 5, "passes": 2}, "leave out one of them"),
        ({"measure_every": 5, "measure": "live"}, "measure by decoding"),
        ({"step": 0.0}, "step must be positive"),
        ({"cost_scale": -1.0}, "cost must be positive"),
    ):
        with pytest.raises(InputError, match=match):
            make_optimiser("online-svm", bad)
    with pytest.raises(InputError, match="leave out all_data"):
        tune(made, tmp_path / "t", "online-svm", {"all_data": True})
    with pytest.raises(InputError, match="9 learners for 5 sentences"):
        tune(made, tmp_path / "t", "online-svm", {"learners": 9, "measure_every": 5})
    assert not (tmp_path / "t").exists()
    pool = random_pool(1)
    with pytest.raises(InputError, match="learn online, or use conditioning=lists"):
        SoftRamp(conditioning=Conditioning.EXTRACTION).optimise(pool, Weights(pool.index, np.ones(5)), seed=1)


@pytest.mark.parametrize("training", [False, True])
def test_enormous_steps_end_in_numbers_or_in_an_error(made, tmp_path, training):
    assert tune(made, tmp_path / "t", "online-svm", {"step": 1e6}, training=training).weights.is_usable()
    with pytest.raises(FailedError, match="smaller steps"):
        tune(made, tmp_path / "u", "online-svm", {"step": 1e308}, training=training)


@pytest.mark.parametrize(
    "arguments",
    [(), ("a",), ("a b", "c,d"), ("dabei ,", "about to"), ("x\\", "y"), ("", "z"), ("a", ""), ("\x01\n", ",,")],
)
def test_arguments_of_a_feature_are_those_it_was_named_by(arguments):
    assert feature_arguments(feature_name("template", *arguments)) == arguments
