"""What every objective promises, and a metric of one's own wherever an objective goes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.kit.small_text import write_splits

from dragoman import _core
from dragoman.analysis.resampling import cross_validate
from dragoman.candidates import (
    ExternalObjective,
    MeasuredObjective,
    MixedObjective,
    Objective,
    oracle,
    read_nbest,
    rerank,
)
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.lm import EstimateConfig
from dragoman.metric import METRICS, Bleu, Chrf, ReferenceLength, Smoothing, Tokenizer, by_name, recorded_metric
from dragoman.metric.base import WordMetric
from dragoman.optim import Mert, Pro
from dragoman.system import TrainConfig, train
from dragoman.tuning import LearnFrom, LoopSettings, TuneConfig, tune_pool, tune_system

N = 24
WORDS = ["the", "a", "cat", "sat", "on", "mat", "dog", "ran", "home", "now"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared(WordMetric):
    """The share of a candidate's words that are in its first reference; `least` are counted at least."""

    name = "shared"
    n_stats = 2
    least: int = 1

    def tokenise(self, lines):
        return [line.split() for line in lines]

    def _count(self, words, spelling, n_threads):
        hyp_at, hyps, sentences, refs_of, ref_at, refs = words
        found = np.zeros((len(sentences), 2))
        for i, s in enumerate(sentences):
            own = hyps[hyp_at[i] : hyp_at[i + 1]]
            first = refs[ref_at[refs_of[s]] : ref_at[refs_of[s] + 1]]
            found[i] = np.isin(own, first).sum(), max(len(own), self.least)
        return found

    def score_of(self, total):
        return total[..., 0] / np.maximum(total[..., 1], 1)

    def scorer(self):
        return _core.mean_scorer()


def texts(seed):
    rng = np.random.default_rng(seed)
    references = [[" ".join(rng.choice(WORDS, size=8))] for _ in range(N)]
    lists = []
    for (reference,) in references:
        of_one = []
        for n_wrong in range(5):
            words = reference.split()
            for place in rng.choice(8, size=n_wrong, replace=False):
                words[place] = str(rng.choice(WORDS))
            of_one.append((" ".join(words), n_wrong + rng.normal(), rng.normal()))
        lists.append([of_one[i] for i in rng.permutation(5)])
    return lists, references


LISTS, REFERENCES = texts(1)


@pytest.fixture(scope="module", name="pool")
def made_pool(tmp_path_factory):
    path = tmp_path_factory.mktemp("lists") / "nbest"
    lines = [
        f"{i} ||| {text} ||| wrong= {wrong:.4f} noise= {noise:.4f} ||| 0\n"
        for i, of_one in enumerate(LISTS)
        for text, wrong, noise in of_one
    ]
    path.write_text("".join(lines))
    return read_nbest(path)


START = {"wrong": 0.1, "noise": 1.0}
NAMES = [*METRICS, "(ter-bleu)/2", "0.3*chrf++ + 0.7*bleu"]
GIVEN = [Bleu(max_order=2), Bleu(smoothing=Smoothing.FLOOR), Chrf(beta=1), Shared(), Shared(least=3)]


@pytest.fixture(params=[*NAMES, *GIVEN], ids=repr, name="objective")
def each_objective(request):
    return Objective(request.param, REFERENCES)


def test_measuring_lists_and_judging_text_agree(objective, pool):
    measured = objective.measure(pool, n_threads=2)
    assert measured.metric == objective.metric
    best = rerank(measured, Weights.from_dict(START))
    assert objective.judge([text for _, text in best.texts()]) == pytest.approx(best.score(), abs=1e-12)
    assert objective.score_of(best.total()) == best.score()
    assert objective.gain(best.total()) == best.gain()


def test_scores_are_shown_in_points(objective):
    arrow = "" if objective.higher_is_better else " ↓"
    assert objective.points(0.41205) == pytest.approx(41.205)
    assert objective.shown(0.4121) == "41.21"
    assert objective.shown(0.4121, 0.5) == "41.21 -> 50.00"
    assert objective.describe(0.4121) == f"{objective.name}{arrow}: 41.21"
    assert objective.describe(0.4121, 0.5) == f"{objective.name}{arrow}: 41.21 -> 50.00"
    assert objective.change(0.4121, 0.5) == f"{objective.name} 41.21 -> 50.00"


def test_the_identity_is_that_of_what_is_counted(objective):
    same = Objective(objective.metric, [list(several) for several in REFERENCES])
    assert same.identity == objective.identity
    assert objective.on(REFERENCES[:5]).identity != objective.identity
    others = {Objective(metric, REFERENCES).identity for metric in (*NAMES, *GIVEN)}
    assert len(others) == len(NAMES) + len(GIVEN)


def test_an_objective_goes_to_workers(objective, pool):
    again = pickle.loads(pickle.dumps(objective))
    assert again.identity == objective.identity
    measured = again.measure(pool)
    assert (
        rerank(measured, Weights.from_dict(START)).score()
        == rerank(objective.measure(pool), Weights.from_dict(START)).score()
    )


def test_a_name_has_the_settings_beside_it_and_is_unsmoothed():
    told = {"tokenizer": Tokenizer.INTL, "lowercase": True, "reference_length": ReferenceLength.SHORTEST}
    assert Objective("bleu", **told).metric == by_name("bleu", smoothing=Smoothing.NONE, **told)
    assert Objective("bleu", tokenizer="13a").metric == Bleu(smoothing=Smoothing.NONE, tokenizer=Tokenizer("13a"))
    assert Objective("bleu", smoothing=Smoothing.EXP).metric == Bleu()


@pytest.mark.parametrize("told", [{"tokenizer": "13a"}, {"lowercase": True}, {"reference_length": "average"}])
def test_a_metric_that_is_given_takes_no_settings_beside_it(told):
    with pytest.raises(InputError, match="the metric bleu is given with its settings"):
        Objective(Bleu(), **told)


def test_what_is_no_metric_is_refused(pool):
    with pytest.raises(InputError, match="'blue' is not a metric"):
        Objective("blue")
    with pytest.raises(InputError, match="expected a metric or its name, not 3"):
        Objective(3)
    with pytest.raises(InputError, match="no references"):
        Objective("bleu").measure(pool)
    with pytest.raises(InputError, match="no references"):
        Objective("bleu").judge([])


def scored(pool):
    """The pool with a score `quality` for every candidate."""
    shards = tuple(replace(shard, scores=shard.feature_values[0::2, None].astype(float)) for shard in pool.shards)
    return replace(pool, shards=shards, score_names=("quality",))


def test_numbers_from_outside_are_shown_as_they_are(pool):
    objective = ExternalObjective("quality", higher_is_better=False)
    measured = objective.measure(scored(pool))
    assert measured.metric == objective.metric
    assert not objective.higher_is_better
    assert objective.describe(0.123456789, 2) == "quality ↓: 0.123457 -> 2"
    assert objective.points(3.5) == 3.5
    with pytest.raises(InputError, match="quality"):
        objective.measure(pool)


def test_a_mixture_adds_metrics_to_numbers(pool):
    objective = MixedObjective("0.5*chrf - 0.01*quality", REFERENCES)
    measured = objective.measure(scored(pool))
    assert measured.metric == objective.metric
    assert objective.shown(0.5) == "0.5"
    weights = Weights.from_dict(START)
    chrf = rerank(Objective("chrf", REFERENCES).measure(pool), weights).score()
    quality = rerank(ExternalObjective("quality").measure(scored(pool)), weights).score()
    assert rerank(measured, weights).score() == pytest.approx(0.5 * chrf - 0.01 * quality)
    with pytest.raises(InputError, match="needs no references"):
        MixedObjective("quality", REFERENCES).measure(scored(pool))
    with pytest.raises(InputError, match="'nope' is no score of the candidates"):
        MixedObjective("chrf + nope", REFERENCES).measure(scored(pool))


def test_candidates_may_come_with_their_statistics(pool):
    measured = Objective("ter", REFERENCES).measure(pool)
    objective = MeasuredObjective.of(measured)
    assert objective.measure(measured) is measured
    assert objective.measure(replace(measured, metric=None)).metric == measured.metric
    with pytest.raises(InputError, match="were measured by ter, not by bleu"):
        MeasuredObjective(Bleu()).measure(measured)
    with pytest.raises(InputError, match="have no statistics of bleu"):
        MeasuredObjective(Bleu()).measure(replace(measured, metric=None))


def test_a_metric_of_ones_own_chooses_and_learns_on_lists(pool):
    objective = Objective(Shared(), REFERENCES)
    measured = objective.measure(pool)
    best = oracle(measured)
    start = Weights.from_dict(START)
    record = tune_pool(pool, Mert(n_starts=2), start, seed=1, objective=objective)
    assert record.metric == "shared"
    assert rerank(measured, start).score() == record.score_before < record.score_after <= best.score() == 1
    assert rerank(measured, record.weights).score() == record.score_after
    assert tune_pool(measured, Mert(n_starts=2), start, seed=1).score_after == record.score_after
    rows = cross_validate(measured, {"mert": Mert(n_starts=2), "pro": Pro()}, start, seed=1, n_folds=3)
    assert not [row.failure for row in rows if row.failure]
    held_out = {row.method: row.held_out for row in rows}
    assert held_out["mert"] > held_out["start"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    write_splits(folder, 300, 20, 0, seed=1)
    train(folder / "train.de", folder / "train.en", folder / "system", config=TrainConfig(lm=EstimateConfig(order=3)))
    return folder


def tune(made, out, method="mert", **options):
    config = TuneConfig(k=20, loop=LoopSettings(max_rounds=2), **options)
    return tune_system(made / "system", made / "dev.de", [made / "dev.en"], out, optimiser=method, config=config)


@pytest.mark.parametrize("metric", [Shared(), Bleu(max_order=2)], ids=["own", "bleu of pairs"])
def test_a_system_is_tuned_for_a_metric_that_is_given(made, tmp_path, metric):
    about = tune(made, tmp_path / "t", metric=metric).manifest.about["tuning"]
    assert about["metric"] == metric.name
    assert about["score_after"] >= about["score_before"]
    lines = [(tmp_path / "t/tune/development/after.txt"), made / "dev.en"]
    after, references = (path.read_text(encoding="utf-8").split("\n")[:-1] for path in lines)
    objective = Objective(metric, [[line] for line in references])
    assert objective.judge(after) == pytest.approx(about["score_after"], abs=1e-12)


def test_a_run_goes_on_only_for_the_same_metric(made, tmp_path):
    tune(made, tmp_path / "t", metric=Shared())
    config = TuneConfig(k=20, loop=LoopSettings(max_rounds=2), metric=Shared(least=2))
    with pytest.raises(InputError, match="objective"):
        tune_system(made / "system", made / "dev.de", [made / "dev.en"], tmp_path / "t", config=config, resume=True)


def test_lists_on_disk_want_the_name_of_a_metric(made, tmp_path):
    for method, learn_from in (("hols", LearnFrom.DEVELOPMENT), ("xbleu", LearnFrom.LISTS)):
        with pytest.raises(InputError, match="the metric shared is given with its settings, but lists"):
            tune(made, tmp_path / "t", method, metric=Shared(), learn_from=learn_from)
        assert not (tmp_path / "t").exists()


def test_the_name_in_a_record_says_how_scores_are_shown():
    assert recorded_metric("ter") == by_name("ter")
    assert recorded_metric("ter").shown(0.5) == "50.00"
    assert recorded_metric("comet").shown(0.5) == "0.5"
