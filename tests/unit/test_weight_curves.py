"""Curves of a system's weights: widened lists, checks by decoding, the choice of features and ranges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.kit.pools import pool_of, random_pool
from tests.kit.small_systems import make_systems, names_of, opened, sentences_of
from tests.kit.small_text import write_lines

from dragoman.analysis.curves import CurveConfig, Frequency, curve_of, frequent_and_rare, system_curves, weight_curve
from dragoman.analysis.curves.features import list_counts, reaches_of
from dragoman.candidates import MeasuredObjective, rerank
from dragoman.errors import InputError, MismatchError
from dragoman.features import FeatureIndex, Weights
from dragoman.metric import Smoothing, by_name, score_text
from dragoman.system import SystemView
from dragoman.view.report import LineChart, draw_chart
from dragoman.view.report.charts import PanelChart
from dragoman.view.report.curves import curve_chart, curve_table, write_curve_page

CONFIG = CurveConfig(k=200, n_rounds=6, n_checks=6, n_frequent=1, n_rare=1)
KINDS = pytest.mark.parametrize("kind", ["phrase", "hiero"])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_systems(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def curves(made):
    found = {}

    def of(kind, n_threads=1):
        if (kind, n_threads) not in found:
            found[kind, n_threads] = system_curves(
                made / kind, made / "dev.de", [made / "dev.en"], ["lm"], config=CONFIG, n_threads=n_threads
            )
        return found[kind, n_threads]

    return of


def decoded_score(made, kind, feature, weight):
    """By translating everything with the command's own function and scoring text."""
    system = opened(made, kind)
    weights = system.weights.copy()
    weights[feature] = weight
    output = list(system.translate(sentences_of(made), weights=weights))
    references = (made / "dev.en").read_text(encoding="utf-8").split("\n")[:-1]
    return score_text(by_name("bleu", smoothing=Smoothing.NONE), output, [references]).score


@KINDS
def test_checks_are_scores_of_decoding_and_the_curve_agrees(made, curves, kind):
    found = curves(kind)
    assert [one.frequency for one in found] == [Frequency.NAMED, Frequency.FREQUENT, Frequency.RARE]
    for one in found:
        assert len(one.checks) in (5, 6)  # fewer where two weights coincide
        assert {one.curve.low, one.curve.high, one.curve.best().middle} <= {check.weight for check in one.checks}
        for check in one.checks:
            assert check.decoded == pytest.approx(decoded_score(made, kind, one.feature, check.weight), abs=1e-12)
            assert check.curve == one.curve.at(check.weight)
        assert one.deviation() == max(abs(check.decoded - check.curve) for check in one.checks)
        assert one.decoded[:3] == (one.weight, one.curve.low, one.curve.high)
        assert len(one.decoded) <= 1 + 2 * CONFIG.n_rounds
        assert one.gain() >= 0
    # Wide lists of a small system hold what decoding finds; but hierarchical search without the language model errs.
    assert max(one.deviation() for one in found[kind == "hiero" :]) < 1e-12
    assert found[0].deviation() < 0.01
    assert found[0].curve.span() > 0


@KINDS
def test_threads_do_not_matter(curves, kind):
    for one, other in zip(curves(kind), curves(kind, 2), strict=True):
        assert one.feature == other.feature
        assert one.checks == other.checks
        assert one.curve.corners.tobytes() == other.curve.corners.tobytes()
        assert one.curve.scores.tobytes() == other.curve.scores.tobytes()


@KINDS
def test_sentences_whose_options_have_a_feature(made, kind):
    system = opened(made, kind)
    sentences = sentences_of(made)
    names_by_sentence = []
    for sentence in sentences:
        alone = opened(made, kind).view_on(FeatureIndex())
        alone.translator.prepare([sentence])
        names_by_sentence.append(set(names_of(alone.index)))
    sparse = sorted(set().union(*names_by_sentence) - set(system.translator.dense()))
    ids = np.array([system.index.intern(name) for name in sparse], np.int32)
    found = system.translator.can_have(sentences, ids)
    expected = np.array([[name in names for name in sparse] for names in names_by_sentence])
    assert expected.any(axis=0).all()
    np.testing.assert_array_equal(found, expected)
    counts = {prefix: sum(name.startswith(prefix) for name in sparse) for prefix in ("rule_id", "word_context")}
    assert all(counts.values())


def test_a_sparse_feature_is_decoded_where_it_can_be(made, curves, monkeypatch):
    rare = curves("phrase")[2]
    assert rare.n_lists == 1
    assert rare.n_lists <= rare.n_sentences < 10
    n_decoded = []
    kbest = SystemView.kbest
    monkeypatch.setattr(
        SystemView, "kbest", lambda self, s, *a, **b: n_decoded.append(len(s)) or kbest(self, s, *a, **b)
    )
    config = replace(CONFIG, n_frequent=0, n_rare=0, n_checks=2)
    (again,) = system_curves(opened(made, "phrase"), made / "dev.de", [made / "dev.en"], [rare.feature], config=config)
    assert n_decoded[0] == 10
    assert set(n_decoded[1:]) == {rare.n_sentences}
    assert again.curve.corners.tobytes() == rare.curve.corners.tobytes()
    assert again.frequency is Frequency.NAMED


class FixedDecoder:
    """Has nothing to say but the lists that are known."""

    def __init__(self, pool):
        self.pool, self.asked = pool, []

    def decode(self, weights, sentences, k, progress=None):
        self.asked.append((weights["f0"], k))
        if progress is not None:
            progress(len(sentences))
        return self.pool.of_sentences(sentences)


def test_lists_that_do_not_grow_end_the_rounds():
    pool = random_pool(3, bleu=True)
    weights = Weights(pool.index, np.random.default_rng(1).normal(size=len(pool.index)))
    decoder, seen = FixedDecoder(pool), []
    # Sentence 0 cannot have the feature, says the caller: its candidates are those of the lists.
    found = weight_curve(
        decoder,
        pool,
        weights,
        "f0",
        -2.0,
        2.0,
        sentences=np.arange(1, 12),
        objective=MeasuredObjective.of(pool),
        k=7,
        n_rounds=9,
        progress=seen.append,
    )
    assert decoder.asked[:2] == [(-2.0, 7), (2.0, 7)]
    assert len(decoder.asked) == 4  # the second round brought nothing
    assert [weight for weight, _ in decoder.asked] == list(found.decoded[1:])
    assert seen == [11, 22, 33, 44]
    expected = curve_of(pool, weights, "f0", -2.0, 2.0)
    np.testing.assert_array_equal(found.curve.corners, expected.corners)
    assert found.score == rerank(pool, weights).score()
    assert (found.weight, found.n_sentences, found.n_lists, found.deviation()) == (weights["f0"], 11, 12, None)
    assert all(-2 < weight < 2 for weight in found.decoded[3:])


def test_the_present_weight_may_be_outside():
    pool = pool_of([[({"a": 1.0}, 0.2), ({"b": 1.0}, 0.9)]])
    weights = Weights.from_dict({"a": 5.0, "b": 1.0}, pool.index)
    decoder = FixedDecoder(pool)
    found = weight_curve(
        decoder, pool, weights, "a", -1.0, 3.0, sentences=np.arange(1), objective=MeasuredObjective.of(pool), n_rounds=0
    )
    assert found.curve.corners.tolist() == [1.0]
    assert found.curve.scores.tolist() == pytest.approx([0.9, 0.2])
    assert (found.score, found.weight, found.gain()) == (0.2, 5.0, pytest.approx(0.7))


def test_frequent_and_rare_features():
    def row(**features):
        return (features, 0.0)

    sentences = [
        [row(lm=-1.0, often=1.0, always=1.0), row(lm=-2.0, always=1.0)],
        [row(lm=-1.0, often=1.0, twice=1.0, always=1.0), row(lm=-2.0, often=2.0, always=1.0)],
        [row(lm=-1.0, often=1.0, always=1.0, twice=1.0), row(lm=-2.0, once=1.0, always=1.0)],
    ]
    pool = pool_of(sentences, dense=False)
    pool = replace(pool, dense=frozenset([pool.index.find("lm")]))
    counts = dict(zip(names_of(pool.index), list_counts(pool).tolist(), strict=True))
    assert counts == {"lm": 3, "often": 3, "always": 0, "twice": 2, "once": 1}
    assert frequent_and_rare(pool, 1, 1) == (["often"], ["once"])
    assert frequent_and_rare(pool, 2, 0, besides={"often", "unheard"}) == (["twice", "once"], [])
    assert frequent_and_rare(pool, 1, 2) == (["often"], ["once", "twice"])
    with pytest.raises(InputError, match="4 sparse features are asked for, but candidates differ in 3; ask for fewer"):
        frequent_and_rare(pool, 2, 2)
    with pytest.raises(InputError, match="`features`"):
        frequent_and_rare(replace(pool, dense=frozenset(range(len(pool.index)))), 1, 0)
    # lm deviates by 1/2 in each list: with its weight twice as far as the range of an indicator is wide.
    weights = Weights.from_dict({"lm": 0.3}, pool.index)
    assert reaches_of(pool, weights, ["lm", "once", "unheard"]) == [0.6, 0.6, 0.6]
    assert reaches_of(pool, Weights(pool.index), ["lm"]) == [4.0]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"low": 1.0, "high": 1.0}, "from 1 to 1 is not a range of weights"),
        ({"low": 2.0, "high": -1.0}, "from 2 to -1 is not a range"),
        ({"low": float("nan")}, "cannot end at nan"),
        ({"high": float("inf")}, "cannot end at inf"),
        ({"low": -1e200, "high": 0.0}, "too great to sum scores"),
        ({"k": 1}, "at least two candidates"),
        ({"n_rounds": -1}, "must not be negative"),
    ],
)
def test_settings_that_cannot_be(changes, why):
    with pytest.raises(InputError, match=why):
        CurveConfig(**changes)


def test_input_that_cannot_be(made, tmp_path):
    source, references, system = made / "dev.de", [made / "dev.en"], opened(made, "phrase")
    with pytest.raises(InputError, match="no translation of these sentences can have a feature 'lmm'; dense .* lm, "):
        system_curves(system, source, references, ["lmm"])
    with pytest.raises(InputError, match="no feature to vary"):
        system_curves(system, source, references)
    with pytest.raises(InputError, match="not a range"):  # above the default upper end
        system_curves(system, source, references, ["lm"], config=CurveConfig(low=100.0, k=2))
    with pytest.raises(InputError, match="all zero"):
        system_curves(system, source, references, ["lm"], weights=Weights(system.index))
    with pytest.raises(MismatchError, match=r"10 lines but its references \(.*train.en\) have 200"):
        system_curves(system, source, [made / "train.en"], ["lm"])
    empty = write_lines(tmp_path / "empty", [" "])
    with pytest.raises(InputError, match="no words"):
        system_curves(system, empty, [empty], ["lm"])


def test_another_metric_and_templates(made):
    config = CurveConfig(k=20, n_rounds=1, n_checks=3, metric="ter", features=("rule_id",), n_frequent=2, low=-1.0)
    found = system_curves(opened(made, "phrase"), made / "dev.de", [made / "dev.en"], ["words"], config=config)
    assert [one.feature.partition(":")[0] for one in found] == ["words", "rule_id", "rule_id"]
    for one in found:
        assert one.curve.low == -1.0
        assert one.curve.best().score == one.curve.scores.min()
        assert one.gain() == pytest.approx(one.score - one.curve.scores.min())
        assert one.deviation() < 0.05
    assert "TER ↓" in str(draw_chart(curve_chart(found)))


def test_pictures(curves, tmp_path):
    found = curves("phrase")
    alone, several = curve_chart(found[:1]), curve_chart(found)
    assert isinstance(alone, LineChart)
    assert isinstance(several, PanelChart)
    assert [panel.title for panel in several.panels] == [one.feature for one in found]
    assert several.panels[2].note == "rare, 1 list"
    for chart in (alone, several):
        drawn = str(draw_chart(chart))
        assert "BLEU, decoded" in drawn
        assert "present weight" in drawn
    header, rows = curve_table(found)
    assert [len(row) for row in rows] == [len(header)] * 3
    write_curve_page(tmp_path / "page.html", found, "Three weights")
    assert "Three weights" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_picture_of_a_long_curve_is_short_and_keeps_its_spikes(curves):
    curve = curves("phrase")[0]
    rng = np.random.default_rng(1)
    corners, scores = np.sort(rng.uniform(0, 1, 50_000)), rng.uniform(0.2, 0.3, 50_001)
    scores[777], scores[40_000] = 0.9, 0.05
    long = replace(curve, curve=replace(curve.curve, low=0.0, high=1.0, corners=corners, scores=scores), checks=())
    line = curve_chart([long]).lines[0]
    assert len(line.points) <= 2000
    assert (min(y for _, y in line.points), max(y for _, y in line.points)) == (5.0, 90.0)
    assert (line.points[0][0], line.points[-1][0]) == (0.0, 1.0)
    assert all(a[0] <= b[0] for a, b in zip(line.points, line.points[1:], strict=False))
