"""Learners side by side: against plain online learning, a twin of the mixing, and each other on any workers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.kit.small_text import write_lines, write_splits

from dragoman.candidates import Judge, rerank, with_metric
from dragoman.errors import InputError
from dragoman.features import read_weights
from dragoman.lm import EstimateConfig
from dragoman.metric import Bleu, Smoothing
from dragoman.optim import Mira, OnlineMira, make_optimiser
from dragoman.optim.epochs import visiting_order
from dragoman.optim.learner_pass import Ground, LearningTask, learn_share
from dragoman.optim.learner_state import LearnerState
from dragoman.optim.online_margin import MarginRule
from dragoman.system import LiveDecoder, System, TrainConfig, train
from dragoman.tuning import Keep, LoopSettings, SystemContext, TuneConfig, tune_system
from dragoman.tuning.mixing import LocalLearners
from dragoman.work.engine.processes import ProcessEngine
from dragoman.work.engine.workers import Worker

BLEU = Bleu(smoothing=Smoothing.NONE)
N_DEV = 20
K = 6
FEATURES = ("extended",)


@pytest.fixture(scope="module", name="made")
def made_system(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    splits = write_splits(folder, 300, N_DEV, 0, seed=1)
    write_lines(folder / "dev.de", [*(example.source for example in splits.dev), ""])
    write_lines(folder / "dev.en", [*(example.references[0] for example in splits.dev), ""])
    train(folder / "train.de", folder / "train.en", folder / "system", config=TrainConfig(lm=EstimateConfig(order=3)))
    return folder


def lines_of(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def tune(made, out, *, rounds=3, method="online-mira", **changes):
    settings = changes.pop("settings", {})
    loop = LoopSettings(max_rounds=rounds, keep=changes.pop("keep", Keep.LAST))
    return tune_system(
        made / "system",
        made / "dev.de",
        [made / "dev.en"],
        out,
        optimiser=make_optimiser(method, settings),
        config=TuneConfig(k=K, features=FEATURES, loop=loop),
        **changes,
    )


class Setting:
    """A decoder of the development set, and the state at the start."""

    def __init__(self, made, **task):
        self.system = System.load(made / "system").with_templates(FEATURES)
        self.decoder = LiveDecoder(self.system, lines_of(made / "dev.de"))
        self.references = [[line] for line in lines_of(made / "dev.en")]
        words = {"rule": MarginRule(Mira()), "metric": BLEU, "batch": 1, "k": K, "distinct": True, "frozen": ()} | task
        self.ground = Ground.of(LearningTask(**words), self.decoder, self.references)
        weights = self.system.weights.values_on(self.decoder.index)
        self.sentences = np.flatnonzero(self.decoder.lengths)
        previous = np.zeros((len(self.decoder), BLEU.n_stats))
        for s in self.sentences:
            previous[s] = self.ground.judge.statistics(self.decoder.kbest(int(s), weights, 1))[0]
        scale = LocalLearners(self.ground).measure(weights, previous, n_threads=1)
        self.start = LearnerState.first(weights, scale, previous)

    def shares(self, n, number=1, seed=1):
        return np.array_split(visiting_order(self.sentences, key=[seed, number]), n)


@pytest.mark.parametrize("mix", ["average", "last"])
def test_one_learner_is_plain_online_learning_bit_by_bit(made, tmp_path, mix):
    """The plain loop: one native learner for all passes, one sentence at a time."""
    n_passes, seed = 4, 3
    tune(made, tmp_path / "t", rounds=n_passes, seed=seed, settings={"learners": 1, "mix": mix})
    plain = Setting(made)
    decoder, margin = plain.decoder, Mira()
    judge = Judge(BLEU, decoder.words, plain.references)
    lengths = decoder.lengths[plain.sentences]
    mean = plain.start.previous[plain.sentences].sum(axis=0) / len(lengths)
    context = margin.pseudo_corpus(BLEU, mean, float(lengths.mean()))
    rates = np.ones(len(decoder.index))
    nothing = margin.lists((), BLEU, ())
    learner = margin.margin_learner(nothing, plain.start.weights, rates, context, scale=plain.start.scale, batch=1)
    for number in range(1, n_passes + 1):
        for sentence in visiting_order(plain.sentences, key=[seed, number]).tolist():
            shard = decoder.kbest(sentence, learner.weights(), K, distinct=True)
            shard = shard.with_stats(judge.statistics(shard))
            learner.turn_to(margin.lists([shard], BLEU, [shard.source_lengths.astype(np.float64)]))
            learner.visit(np.arange(1))
        expected = learner.average() if mix == "average" else learner.weights()
        found = read_weights(tmp_path / "t" / "tune" / "rounds" / f"{number:04d}" / "learned.tsv")
        assert found.values_on(decoder.index).tobytes() == (expected + 0.0).tobytes()
    assert (expected != plain.start.weights).any()


@pytest.mark.parametrize("n_threads", [1, 3])
def test_mixing_is_that_of_a_twin(made, n_threads):
    """Dense vectors, every step of every learner kept."""
    setting = Setting(made)
    learners = LocalLearners(setting.ground)
    state, sums, n_steps = setting.start, 0.0, 0
    for number in (1, 2, 3):
        shares = setting.shares(4, number)
        ends = []
        for share in shares:
            for n in range(1, len(share) + 1):  # the weights after n steps
                result = learn_share(setting.ground, state, share[:n], alone=False)
                values = state.weights.copy()
                values[result.ids] = result.columns["weights"]
                sums, n_steps = sums + values, n_steps + 1
            ends.append(values)
        mixed = np.average(ends, axis=0, weights=[len(share) for share in shares])
        new, results = learners.run(state, shares, n_threads=n_threads)
        np.testing.assert_allclose(new.weights, mixed, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(new.average(), sums / n_steps, rtol=1e-12, atol=1e-14)
        assert new.ticks == n_steps
        untouched = np.ones(len(mixed), bool)
        untouched[np.concatenate([result.ids for result in results])] = False
        assert untouched.any()
        assert new.weights[untouched].tobytes() == state.weights[untouched].tobytes()
        assert (new.weights != state.weights).any()
        state = new
    assert len({len(share) for share in setting.shares(7)}) == 2  # shares differ in size, so their weights do


def test_threads_and_learners(made, tmp_path):
    found = {}
    for n_learners, n_threads in ((None, 1), (15, 2), (1, 2)):
        settings = {} if n_learners is None else {"learners": n_learners}
        tune(made, out := tmp_path / f"{n_learners}", rounds=2, n_threads=n_threads, settings=settings)
        found[n_learners] = (out / "weights.tsv").read_bytes()
    assert found[None] == found[15] != found[1]


class Killed(Worker):
    """A worker that is lost at some items."""

    def __init__(self, worker, items):
        self._worker, self._items = worker, items

    def answer(self, job, item):
        self._items.append(job.number)
        if len(self._items) in {2, 9}:
            self._worker.end()
        return self._worker.answer(job, item)

    def end(self):
        self._worker.end()


class LosingEngine(ProcessEngine):
    """Two processes; some are killed when they get an item."""

    def __init__(self):
        super().__init__(2)
        self.items = []

    def _start(self, *, spare):
        return Killed(super()._start(spare=spare), self.items)


@pytest.mark.parametrize(
    "settings",
    [
        {"learners": 1},
        {"learners": 15, "measure": "live"},
        {"learners": 3, "context": "previous", "mix": "last", "batch": 2},
    ],
)
def test_workers_do_not_matter_even_when_they_are_lost(made, tmp_path, settings):
    words = {"method": "online-rm", "settings": settings, "rounds": 2}
    tune(made, tmp_path / "here", **words, n_threads=2)
    with LosingEngine() as engine:
        tune(made, tmp_path / "there", **words, engine=engine)
        assert len(engine.items) > 9
        assert len(set(engine.items)) == 1  # the workers keep one job open
    assert (tmp_path / "there" / "weights.tsv").read_bytes() == (tmp_path / "here" / "weights.tsv").read_bytes()
    here, there = (System.load(tmp_path / name).manifest.about["tuning"] for name in ("here", "there"))
    assert [entry["score"] for entry in here["rounds"]] == [entry["score"] for entry in there["rounds"]]
    assert here["notes"] == there["notes"]


@pytest.mark.parametrize("n_learners", [1, 5])
def test_live_scores_are_those_of_the_pass(made, tmp_path, n_learners):
    rounds, lists = [], []
    settings = {"learners": n_learners, "measure": "live"}
    tune(made, tmp_path / "live", settings=settings, on_round=rounds.append)
    setting = Setting(made)
    state = setting.start
    for number, (record, after) in enumerate(pairwise(rounds), 1):
        shares = setting.shares(n_learners, number)
        state, results = LocalLearners(setting.ground).run(state, shares, n_threads=1)
        best = [shard for result in results for shard in result.best]
        totals = (
            with_metric(setting.decoder.pool_of(best), BLEU, setting.references, allow_missing=True).shards[0].stats
        )
        assert after.score == pytest.approx(BLEU.score_of(totals.sum(axis=0)), abs=1e-15)
        assert record.learned.trace[-1]["gain"] == after.gain
        lists.append(totals)
    assert (lists[0] != lists[-1]).any()
    tune(made, tmp_path / "decode", settings={"learners": n_learners})
    for name in ("live", "decode"):
        weights = read_weights(tmp_path / name / "weights.tsv")
        pool = with_metric(
            setting.system.kbest(lines_of(made / "dev.de"), 1, weights=weights), BLEU, setting.references
        )
        assert rerank(pool, weights).score() > rounds[0].score
    assert (tmp_path / "live" / "weights.tsv").read_bytes() == (tmp_path / "decode" / "weights.tsv").read_bytes()


@pytest.mark.parametrize("settings", [{}, {"context": "previous", "sparse_rate": 10.0}])
def test_relative_units_are_those_of_the_starts_lists(made, tmp_path, settings):
    """From the lists one by one; a start of another scale makes no difference but its scale."""
    about = {}
    for factor in (1.0, 8.0):
        start = System.load(made / "system").weights
        start.values[:] *= factor
        tuned = tune(made, tmp_path / f"{factor}", method="online-rm", settings=settings, weights=start, n_threads=2)
        about[factor] = tuned.manifest.about["tuning"], tuned.weights
    (one, weights), (other, greater) = about.values()
    assert [entry["score"] for entry in one["rounds"]] == [entry["score"] for entry in other["rounds"]]
    for name, value in weights.items():
        assert greater[name] == pytest.approx(8 * value, rel=1e-9)
    setting = Setting(made, rule=make_optimiser("online-rm", settings).rule())
    scores = []
    for s in setting.sentences.tolist():
        shard = setting.decoder.kbest(s, setting.start.start, K, distinct=True)
        if shard.n_candidates > 1:
            scores.append(np.ptp(shard.totals))
    assert setting.start.scale.start == pytest.approx(0.6 / np.mean(scores), rel=1e-6)
    (note,) = [note for note in one["notes"] if "units" in note]
    assert note == f"round 1: {setting.start.scale.note()}"


def test_a_live_run_that_is_stopped_goes_on_to_the_same_bits(made, tmp_path):
    class StoppedError(Exception):
        pass

    settings = {"settings": {"learners": 4, "measure": "live"}}
    whole, parts = [], []
    tune(made, tmp_path / "whole", **settings, on_round=whole.append)
    for last in (1, 2, 3):

        def stop(record, last=last):
            if record.round == last:
                raise StoppedError

        with pytest.raises(StoppedError):
            tune(made, tmp_path / "t", **settings, resume=last > 1, on_round=stop)
    tune(made, tmp_path / "t", **settings, resume=True, on_round=parts.append)
    assert (tmp_path / "t" / "weights.tsv").read_bytes() == (tmp_path / "whole" / "weights.tsv").read_bytes()
    assert [record.score for record in parts] == [record.score for record in whole]


def test_falls_are_noted(made, tmp_path):
    long_steps = {"aggressiveness": 1e6, "gain_scale": 1e3, "learners": 1, "mix": "last"}
    fell = tune(made, tmp_path / "fell", settings=long_steps).manifest.about["tuning"]
    first, *others = fell["rounds"]
    low = [entry for entry in others if entry["gain"] < 0.9 * first["gain"]]
    assert low
    for entry in others:
        assert any("far below the start" in note for note in entry["notes"]) == (entry in low)
    assert {entry["score"] for entry in low} == {low[0]["score"]}  # so that one note tells of all
    number = f"{low[0]['round']}-{low[-1]['round']}"
    score, start = 100 * low[0]["score"], 100 * first["score"]
    assert f"rounds {number}: the score {score:.2f} is far below the start's {start:.2f}" in fell["notes"]
    kept = tune(made, tmp_path / "kept", settings={"gain_scale": 1e-9}).manifest.about["tuning"]
    assert kept["notes"] == ["no round is better than the start"]
    assert kept["warnings"] == kept["notes"]
    assert "the weights that are kept decode worse than the start" in fell["warnings"]


def test_the_best_live_pass_is_kept_and_the_start_if_all_fall(made, tmp_path):
    for name, settings in (("short", {}), ("long", {"aggressiveness": 1e6, "gain_scale": 1e3, "learners": 1})):
        settings = {"measure": "live", "mix": "last", **settings}
        tuned = tune(made, tmp_path / name, settings=settings, keep=Keep.BEST).manifest.about["tuning"]
        start, *passes = tuned["rounds"]
        assert (start["live"], {entry["live"] for entry in passes}) == (False, {True})
        good = [entry for entry in passes if entry["gain"] >= 0.9 * start["gain"]]
        best = max(good, key=lambda entry: entry["gain"], default=start)
        assert tuned["best_round"] == best["round"]
        assert (name == "short") == bool(good)


def test_wrong_numbers_of_learners_are_refused(made, tmp_path):
    context = SystemContext(System.load(made / "system"), ["das", "", "ist"], [["the"], [""], ["is"]])
    with pytest.raises(InputError, match="3 learners for 2 sentences"):
        OnlineMira(learners=3).learner(context)
    OnlineMira(learners=2).learner(context)
    OnlineMira().learner(context)
    for bad in ({"learners": 0}, {"learners": -1}, {"mix": "none"}, {"measure": "dead"}):
        with pytest.raises(InputError):
            make_optimiser("online-mira", bad)
