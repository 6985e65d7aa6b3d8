"""The outer loop with decoders that are Python objects."""

from __future__ import annotations

import errno
import os
from dataclasses import replace

import numpy as np
import pytest
from tests.kit.pools import pool_of
from tests.kit.toy_runs import without_times

from dragoman.candidates import MeasuredObjective, load_pool, merge_pools, rerank, score_deviation
from dragoman.errors import FailedError, InputError
from dragoman.features import Weights
from dragoman.metric import External
from dragoman.optim import Learner, LearningContext, Mert, Optimiser, Pro, Units
from dragoman.optim.base import finish
from dragoman.run import RunFolder
from dragoman.tuning import Decoder, Keep, LoopSettings, Phase, settings_to_come, tune_decoder
from dragoman.tuning.loop import _Loop
from dragoman.tuning.notes import length_warning

N_SENTENCES, N_CANDIDATES, N_FEATURES, K = 12, 60, 4, 5
START = {"f0": 1.0}


class LinearDecoder(Decoder):
    """The K best of a fixed space of candidates, the best first; a fresh index every time."""

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(N_SENTENCES, N_CANDIDATES, N_FEATURES)).astype(np.float32).astype(np.float64)
        self.gold = self.x @ np.array([1, -2, 0.5, 1]) + rng.normal(size=(N_SENTENCES, N_CANDIDATES))
        self.n_calls = 0

    def decode(self, weights):
        self.n_calls += 1
        v = np.array([weights[f"f{i}"] for i in range(N_FEATURES)])
        return pool_of([self.sentence(s, v) for s in range(N_SENTENCES)])

    def sentence(self, s, v):
        order = np.argsort(-(self.x[s] @ v), kind="stable")[:K]
        return [({f"f{i}": float(self.x[s, c, i]) for i in range(N_FEATURES)}, float(self.gold[s, c])) for c in order]

    def score(self, weights):
        v = np.array([weights[f"f{i}"] for i in range(N_FEATURES)])
        return float(np.mean([self.gold[s, np.argmax(self.x[s] @ v)] for s in range(N_SENTENCES)]))


OBJECTIVE = MeasuredObjective(External())
"""The statistics come with the candidates; a pool from disk has them but not their metric."""


def tune(decoder, optimiser=None, start=START, **options):
    optimiser = optimiser or Mert(n_starts=4)
    return tune_decoder(decoder, optimiser, Weights.from_dict(start), seed=1, objective=OBJECTIVE, **options)


@pytest.mark.parametrize("optimiser", [Mert(n_starts=4), Pro()], ids=["mert", "pro"])
def test_scores_are_those_of_decoding_and_the_best_round_is_returned(optimiser):
    decoder = LinearDecoder()
    seen = []
    result = tune(decoder, optimiser, on_round=seen.append)
    assert result.score_before == pytest.approx(decoder.score(Weights.from_dict(START)))
    assert result.score_after == pytest.approx(decoder.score(result.weights))
    assert result.score_after == max(record.score for record in result.rounds)
    assert result.score_after > result.score_before
    assert tuple(seen) == result.rounds
    assert [record.round for record in seen] == list(range(1, decoder.n_calls + 1))
    assert seen[-1].learned is None
    assert all(record.learned for record in seen[:-1])
    assert seen[-1].n_candidates == sum(record.n_new for record in seen) == result.n_candidates


def test_the_pool_holds_every_candidate_once():
    decoder = LinearDecoder()
    pools = []

    class Spy(LinearDecoder):
        def decode(self, weights):
            pools.append(decoder.decode(weights))
            return pools[-1]

    result = tune(Spy())
    assert result.n_candidates == merge_pools(pools).n_candidates < sum(pool.n_candidates for pool in pools)
    rounds = {int(r) for shard in merge_pools(pools).shards for r in shard.rounds}
    assert rounds == {0}  # the decoder's own pools are not touched


def test_stops_when_nothing_new_comes():
    result = tune(LinearDecoder())
    assert result.stopped == "no new candidates"
    assert result.rounds[-1].n_new == 0


class Small(LinearDecoder):
    """All of a small space in the first round: nothing new ever comes again, and lists soon repeat."""

    def __init__(self):
        super().__init__()
        self.x, self.gold = self.x[:, :K], self.gold[:, :K]


def test_interpolation_goes_on_when_nothing_new_comes():
    learned = []

    class Spy(Pro):
        def optimise(self, *arguments, **options):
            result = super().optimise(*arguments, **options)
            learned.append(result.weights.copy())
            return result

    result = tune(Small(), Spy(), settings=LoopSettings(max_rounds=25, keep=Keep.LAST))
    assert [record.n_new for record in result.rounds[1:]] == [0] * (len(result.rounds) - 1)
    assert result.stopped in {"25 rounds are done", "weights and score have settled"}
    # A tenth of the way a round: the weights have arrived where every round wants them.
    aim = np.mean([weights.values / np.linalg.norm(weights.values) for weights in learned], axis=0)
    values = result.weights.values
    assert values @ aim / (np.linalg.norm(values) * np.linalg.norm(aim)) > 0.99
    assert tune(Small()).stopped == "no new candidates"


class Counting(Optimiser):
    """An optimiser whose result depends on how often it was asked, not only on the pool."""

    def _learner(self, context):
        return Counted(self)


class Counted(Learner):
    gradual = True
    keeps_state = True

    def __init__(self, optimiser):
        super().__init__(optimiser)
        self.n = 0

    def learn(self, pool, start, **_):
        self.n += 1
        return finish(pool, start, Weights.from_dict({"f0": 1.0, "f1": -0.1 * self.n}, pool.index), n_threads=1)

    def save_state(self, folder):
        (folder / "count").write_text(str(self.n))

    def load_state(self, folder):
        self.n = int((folder / "count").read_text())


def test_an_optimiser_with_a_state_finds_it_again(tmp_path):
    settings = LoopSettings(max_rounds=4, keep=Keep.LAST)
    whole = tune(LinearDecoder(), Counting(), settings=settings)
    assert whole.weights["f1"] == pytest.approx(-0.4)

    def stop(number, step):
        if (number, step) == (3, Phase.LEARN):
            raise KilledError

    with pytest.raises(KilledError), RunFolder.open(tmp_path / "run", {}) as run:
        tune(LinearDecoder(), Counting(), run=run, settings=settings, on_step=stop)
    with RunFolder.open(tmp_path / "run", {}, resume=True) as run:
        resumed = tune(LinearDecoder(), Counting(), run=run, settings=settings)
    assert resumed.weights.values.tobytes() == whole.weights.values.tobytes()


def test_the_last_weights_are_measured_by_one_more_decoding():
    decoder = LinearDecoder()
    result = tune(decoder, Pro(), settings=LoopSettings(max_rounds=2, keep=Keep.LAST))
    assert decoder.n_calls == 3
    assert (result.best_round, result.stopped) == (3, "2 rounds are done")
    assert result.score_after == pytest.approx(decoder.score(result.weights))


def test_keeping_the_last_may_be_worse_than_keeping_the_best():
    class Worsening(LinearDecoder):
        """Its quality falls with every call, so that the first round is the best."""

        def sentence(self, s, v):
            return [(features, value - 100 * self.n_calls) for features, value in super().sentence(s, v)]

    best = tune(Worsening(), settings=LoopSettings(max_rounds=2))
    last = tune(Worsening(), settings=LoopSettings(max_rounds=2, keep=Keep.LAST))
    assert (best.best_round, last.best_round) == (1, 3)
    assert dict(best.weights.items()) == START


def test_settled_weights_and_score_stop_the_loop():
    settings = LoopSettings(weight_tolerance=3.0, score_tolerance=1e9)
    result = tune(LinearDecoder(), settings=settings)
    assert (len(result.rounds), result.stopped) == (2, "weights and score have settled")
    # Either alone is not enough.
    for one in (LoopSettings(weight_tolerance=3.0, score_tolerance=0), LoopSettings(score_tolerance=1e9)):
        assert len(tune(LinearDecoder(), settings=one).rounds) > 2


def test_a_decoder_that_ignores_its_weights_is_noticed():
    class Deaf(LinearDecoder):
        def decode(self, weights):
            return super().decode(Weights.from_dict(START))

    result = tune(Deaf())
    assert (len(result.rounds), result.stopped) == (2, "the decoder repeats its lists")
    assert any("although the weights changed" in note for note in result.notes)


def test_weights_of_the_start_that_fit_nothing_are_noted():
    result = tune(LinearDecoder(), start={"f0": 1.0, "typo": 1.0})
    assert "round 1: 1 weight fits no feature (typo)" in " ".join(result.notes)


class Foreign(LinearDecoder):
    """Prints its candidates in an order of its own."""

    foreign = True

    def sentence(self, s, v):
        return super().sentence(s, v)[::-1]


def test_the_score_of_a_foreign_decoder_is_that_of_its_first_candidates():
    pools = []

    class Spy(Foreign):
        def decode(self, weights):
            pools.append(super().decode(weights))
            return pools[-1]

    result = tune(Spy(), settings=LoopSettings(max_rounds=1))
    for record, pool in zip(result.rounds, pools, strict=True):
        (shard,) = pool.shards
        assert record.score == pytest.approx(float(shard.stats[shard.sentences[:-1], 0].mean()))
        assert record.reranked != record.score
    assert result.rounds[0].reranked == pytest.approx(LinearDecoder().score(Weights.from_dict(START)))
    misread = [note for note in result.notes if "is not the best one by the weights" in note]
    assert len(misread) == 1
    assert misread[0].startswith(f"round 1: in {N_SENTENCES} of {N_SENTENCES} sentences")

    class InOrder(LinearDecoder):
        foreign = True

    ours, theirs = tune(LinearDecoder()), tune(InOrder())
    assert [record.score for record in theirs.rounds] == [record.score for record in ours.rounds]
    assert theirs.notes == ours.notes


def test_a_group_is_frozen_and_what_is_frozen_at_zero_is_noted():
    class Grouped(LinearDecoder):
        def sentence(self, s, v):
            lists = super().sentence(s, v)
            return [({name.replace("f", "tm_"): x for name, x in found.items()}, value) for found, value in lists]

        def decode(self, weights):
            return super().decode(Weights.from_dict({f"f{i}": weights[f"tm_{i}"] for i in range(N_FEATURES)}))

    with pytest.raises(InputError, match="all are frozen"):
        tune(Grouped(), start={"tm_0": 1.0}, frozen=["tm"])
    result = tune(Grouped(), start={"tm_0": 1.0}, frozen=["tm_0", "tm_1"])
    assert (result.weights["tm_0"], result.weights["tm_1"]) == (1.0, 0.0)
    assert "round 1: frozen at 0, because the start gives no weight: tm_1" in result.notes


def test_a_note_of_another_kind_does_not_stop_the_loop(monkeypatch):
    monkeypatch.setattr(_Loop, "_doubts", lambda *_: ("a remark",))
    result = tune(LinearDecoder())
    assert f"rounds 1-{len(result.rounds)}: a remark" in result.notes
    assert result.stopped == "no new candidates"


def test_weights_are_interpolated_between_rounds():
    seen = []

    class Spy(LinearDecoder):
        def decode(self, weights):
            seen.append(dict(weights.items()))
            return super().decode(weights)

    tune(Spy(), Pro(interpolation=0.25), settings=LoopSettings(max_rounds=1))
    quarter = dict(seen[1])
    seen.clear()
    tune(Spy(), Pro(interpolation=1.0), settings=LoopSettings(max_rounds=1))
    assert quarter == {f: pytest.approx(0.25 * seen[1].get(f, 0) + 0.75 * START.get(f, 0)) for f in quarter}


@pytest.mark.parametrize("factor", [8, 10, 1e-6])
def test_the_length_of_the_start_is_not_its_share_of_what_pro_mixes(factor):
    """A decoder of a linear model knows no length; weights keep that of the start."""
    settings = LoopSettings(max_rounds=4, keep=Keep.LAST)
    plain, other = (tune(LinearDecoder(), Pro(), {"f0": size, "f1": -size}, settings=settings) for size in (1, factor))
    assert [r.score for r in other.rounds] == [r.score for r in plain.rounds]
    for name, weight in plain.weights.items():
        assert other.weights[name] == pytest.approx(factor * weight, rel=1e-9)
        if factor == 8:
            assert other.weights[name] == factor * weight
    raw = [
        tune(LinearDecoder(), Pro(units=Units.RAW), {"f0": size, "f1": -size}, settings=settings).weights["f3"]
        for size in (1, factor)
    ]
    assert raw[1] != pytest.approx(factor * raw[0], rel=0.1)


def test_pro_keeps_the_spread_of_the_start():
    pool = LinearDecoder().decode(Weights.from_dict(START))
    pool = replace(pool, metric=External())
    start = Weights.from_dict({"f0": 3.0, "f1": 1.0}, pool.index)
    pro = Pro(interpolation=1.0)
    learner = pro.learner(LearningContext())
    learned = learner.learn(pool, start, seed=1, round_number=1).weights
    mixed = learner.next_weights(start, learned)
    assert score_deviation(pool, mixed) == pytest.approx(score_deviation(pool, start))
    np.testing.assert_allclose(mixed.values / mixed["f0"], learned.values / learned["f0"])
    frozen = learner.learn(pool, start, seed=1, round_number=1, frozen=["f1"]).weights
    assert learner.next_weights(start, frozen).values == pytest.approx(frozen.values)  # which the frozen weight fits


def test_the_deviation_of_scores_is_that_within_lists():
    pool = pool_of([[({"a": 1.0}, 0.0), ({"a": 3.0}, 0.0)], [({"a": 100.0}, 0.0)], [], [({}, 0.0), ({"b": 2.0}, 0.0)]])
    weights = Weights.from_dict({"a": 2.0, "b": 0.5})
    assert score_deviation(pool, weights) == pytest.approx(np.sqrt((2.0**2 + 0.5**2) / 2))
    assert score_deviation(pool_of([[({"a": 1.0}, 0.0)]]), weights) == 0


def test_frozen_weights_do_not_move_by_a_bit():
    start = {"f0": 0.1, "f1": 1 / 3}
    result = tune(LinearDecoder(), Pro(), start, frozen=["f1"], settings=LoopSettings(keep=Keep.LAST))
    assert result.weights["f1"] == 1 / 3
    assert result.weights["f0"] != 0.1


def test_the_round_is_told_to_those_who_ask(tmp_path):
    told = []

    class Aware(LinearDecoder):
        def begin_round(self, current):
            told.append((current.number, current.seed, current.dense))
            (current.folder / "notes").write_text("hello")

    with RunFolder.open(tmp_path / "run", {}) as run:
        tune(Aware(), run=run, settings=LoopSettings(max_rounds=1))
    names = tuple(f"f{i}" for i in range(N_FEATURES))
    assert told == [(1, 1, None), (2, 1, names)]
    assert (tmp_path / "run" / "rounds" / "0001" / "notes").read_text() == "hello"


def test_steps_are_announced():
    steps = []
    tune(LinearDecoder(), settings=LoopSettings(max_rounds=1), on_step=lambda n, step: steps.append((n, step)))
    assert steps == [(1, Phase.DECODE), (1, Phase.LEARN), (2, Phase.DECODE)]


class KilledError(Exception):
    pass


@pytest.mark.parametrize("optimiser", [Mert(n_starts=4), Pro()], ids=["mert", "pro"])
@pytest.mark.parametrize("moment", range(1, 8))
def test_a_run_resumes_bit_by_bit_without_decoding_again(tmp_path, optimiser, moment):
    """The moment is the n-th step; whatever was complete before it is not done again."""
    settings = LoopSettings(max_rounds=5)
    with RunFolder.open(tmp_path / "whole", {}) as run:
        whole = tune(LinearDecoder(), optimiser, run=run, settings=settings)
        trace = run.trace()
    steps = []

    def stop(number, step):
        steps.append((number, step))
        if len(steps) == moment:
            raise KilledError

    first, second = LinearDecoder(), LinearDecoder()
    with pytest.raises(KilledError), RunFolder.open(tmp_path / "run", {}) as run:
        tune(first, optimiser, run=run, settings=settings, on_step=stop)
    with RunFolder.open(tmp_path / "run", {}, resume=True) as run:
        result = tune(second, optimiser, run=run, settings=settings)
        assert without_times(run.trace()) == without_times(trace)
    assert first.n_calls + second.n_calls == len(whole.rounds)
    assert result.weights.values.tobytes() == whole.weights.values.tobytes()
    assert result.score_after == whole.score_after
    for name in ("weights.tsv", "rounds/0001/learned.tsv", "rounds/0002/weights.tsv"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize("moment", [1, 6, 12, 17, 20, 23, 40])
def test_a_full_disk_costs_nothing_but_the_wait(tmp_path, monkeypatch, moment):
    with RunFolder.open(tmp_path / "whole", {}) as run:
        whole = tune(LinearDecoder(), run=run)
    left = moment

    def full(descriptor):
        nonlocal left
        left -= 1
        if left == 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        failing = pytest.raises(FailedError, match="cannot be written: No space left")
        with failing, RunFolder.open(tmp_path / "run", {}) as run:
            tune(LinearDecoder(), run=run)
    with RunFolder.open(tmp_path / "run", {}, resume=True) as run:
        assert tune(LinearDecoder(), run=run).weights.values.tobytes() == whole.weights.values.tobytes()


def test_the_record_of_a_run(tmp_path):
    with RunFolder.open(tmp_path, {}) as run:
        result = tune(LinearDecoder(), run=run)
        assert [entry["event"] for entry in run.trace()][:3] == ["decoded", "learned", "decoded"]
        assert run.trace()[-1]["event"] == "end"
    assert (tmp_path / "result.json").exists()
    best = load_pool(tmp_path / "rounds" / "0001" / "candidates")
    assert best.n_candidates == N_SENTENCES * K
    with RunFolder.open(tmp_path, {}, resume=True) as run:
        decoder = LinearDecoder()
        again = tune(decoder, run=run)
    assert decoder.n_calls == 0
    assert again.weights.values.tobytes() == result.weights.values.tobytes()


@pytest.mark.parametrize("file", ["round.json", "learned.json"])
def test_a_damaged_round_is_refused(tmp_path, file):
    with RunFolder.open(tmp_path, {}) as run:
        tune(LinearDecoder(), run=run)
    (tmp_path / "rounds" / "0001" / file).write_text("{}")
    with pytest.raises(InputError, match="damaged"), RunFolder.open(tmp_path, {}, resume=True) as run:
        tune(LinearDecoder(), run=run)


def test_mistakes():
    with pytest.raises(InputError, match="at least one round"):
        LoopSettings(max_rounds=0)
    with pytest.raises(InputError, match="tolerances"):
        LoopSettings(score_tolerance=-1)
    with pytest.raises(InputError, match="no weight belongs to a feature"):
        tune(LinearDecoder(), start={"LM0": 1.0})

    class Empty(LinearDecoder):
        def decode(self, weights):
            return pool_of([])

    with pytest.raises(FailedError, match="no candidates in round 1"):
        tune(Empty())


def test_the_best_of_a_list_is_by_the_weights_of_the_round():
    decoder = LinearDecoder()
    start = Weights.from_dict(START)
    assert tune(decoder).score_before == pytest.approx(rerank(decoder.decode(start), start).score())


def test_patience_ends_a_loop_that_gains_nothing():
    class Worsening(LinearDecoder):
        """The first weights decode best; after that every round is worse."""

        def sentence(self, s, v):
            return [(features, gold - 10.0 * self.n_calls) for features, gold in super().sentence(s, v)]

    result = tune(Worsening(), Pro(), settings=LoopSettings(max_rounds=9, patience=3))
    assert result.stopped == "no better score in 3 rounds"
    assert (len(result.rounds), result.best_round) == (4, 1)
    assert len(tune(Worsening(), Pro(), settings=LoopSettings(max_rounds=6)).rounds) == 7
    with pytest.raises(InputError, match="patience"):
        LoopSettings(patience=0)


def test_a_run_may_end_earlier_or_later_than_it_was_started_for(tmp_path):
    def run(rounds, *, resume=True):
        settings = LoopSettings(max_rounds=rounds, keep=Keep.LAST)
        changes = settings_to_come(tmp_path / "run")
        with RunFolder.open(tmp_path / "run", settings.record(), resume=resume, may_change=changes) as folder:
            decoder = LinearDecoder()
            return tune(decoder, Pro(), run=folder, settings=settings), decoder.n_calls

    first, n_first = run(3, resume=False)
    longer, n_more = run(5)
    assert (n_first, n_more) == (4, 2)
    shorter, none = run(2)
    assert none == 0
    alone = tune(LinearDecoder(), Pro(), settings=LoopSettings(max_rounds=5, keep=Keep.LAST))
    assert longer.weights.values.tobytes() == alone.weights.values.tobytes()
    assert [record.score for record in shorter.rounds] == [record.score for record in first.rounds[:3]]


class Live(Optimiser):
    """Learns these weights, and shows translations by good ones as those that it made on the way."""

    def __init__(self, weights):
        self.weights = weights

    def _learner(self, context):
        return LiveLearner(self)


class LiveLearner(Learner):
    gradual = True
    uses_pool = False
    shown = None

    def learn(self, pool, start, **_):
        self.shown = LinearDecoder().decode(Weights.from_dict(GOLD))
        weights = Weights.from_dict(self._optimiser.weights, pool.index)
        return finish(pool, start, weights, n_threads=1)

    def translations(self):
        return self.shown


GOLD = {"f0": 1.0, "f1": -2.0, "f2": 0.5, "f3": 1.0}


@pytest.mark.parametrize("keep", Keep)
def test_the_weights_of_the_best_live_pass_must_decode_as_well_as_the_start(keep):
    settings = LoopSettings(max_rounds=2, keep=keep)
    bad = tune(LinearDecoder(), Live({name: -value for name, value in GOLD.items()}), settings=settings)
    good = tune(LinearDecoder(), Live(GOLD), settings=settings)
    assert [record.live for record in bad.rounds] == [False, True, True]
    assert bad.rounds[1].score > bad.rounds[0].score
    if keep is Keep.LAST:
        assert (bad.best_round, good.best_round) == (3, 3)
        return
    assert (bad.best_round, good.best_round) == (1, 2)
    assert dict(bad.weights.items()) == START
    assert bad.score_after == bad.score_before
    (warning,) = [text for text in bad.warnings if "decode the development set" in text]
    assert warning.endswith("the start is kept")
    assert good.weights["f1"] == GOLD["f1"]
    assert any("round 2 decode the development set to" in note for note in good.notes)
    assert not [text for text in good.warnings if "decode" in text]


def test_what_every_round_says_is_said_once():
    class Constant(LinearDecoder):
        """The last feature is the same everywhere."""

        def __init__(self):
            super().__init__()
            self.x[:, :, -1] = 1.0

    result = tune(Constant())
    assert len(result.rounds) > 3
    never = [note for note in result.notes if "never differs" in note]
    assert len(never) == 1
    assert never[0].startswith("rounds 1-")
    assert never[0].endswith("1 feature never differs and keeps its weight: f3")


def test_what_is_wrong_is_a_warning_and_the_rest_is_not():
    class Deaf(LinearDecoder):
        def decode(self, weights):
            return super().decode(Weights.from_dict(START))

    deaf, fits = tune(Deaf(), start=START | {"typo": 1.0}), tune(LinearDecoder())
    warnings = "; ".join(deaf.warnings)
    for text in ("although the weights changed", "fits no feature (typo)"):
        assert text in warnings
    assert set(deaf.warnings) <= set(deaf.notes)
    assert not [text for text in fits.warnings if "no weight" not in text]


def test_lengths_far_from_the_references_are_a_warning_if_they_got_worse():
    assert length_warning(1.0, 0.98) is None
    assert length_warning(0.94, 0.95) is None  # nearer than the start
    assert length_warning(None, None) is None
    assert length_warning(0.99, 0.96) == (
        "the translations are too short: the ratio of their words to those of the references went from 0.990 to 0.960"
    )
    assert "too long" in length_warning(0.98, 1.04)
