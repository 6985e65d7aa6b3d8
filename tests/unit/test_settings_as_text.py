"""Settings given as text, as one types them in a notebook, do what the members of their enumerations do."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.kit.pools import pool_of, random_pool

from dragoman.candidates import MeasuredObjective, Pool
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Bleu, External, Smoothing, output_statistics
from dragoman.optim import Fear, MarginUpdate, Mira, Optimiser, Prior, Pro, Scaling
from dragoman.optim.base import Learned, Problem
from dragoman.tuning import Decoder, Keep, LoopSettings, tune_decoder


def score_of(metric: Bleu) -> float:
    total = output_statistics(metric, [["the cat sat on a mat"]], [["the cat is on the mat"]]).sum(axis=(0, 1))
    return float(metric.score_of(total))


@pytest.mark.parametrize("smoothing", list(Smoothing))
def test_bleu_is_smoothed_as_the_text_says(smoothing):
    found = score_of(Bleu(smoothing=smoothing.value))
    assert found == score_of(Bleu(smoothing=smoothing))
    assert (found > 0) == (smoothing is not Smoothing.NONE)


def learned(optimiser: Optimiser, pool: Pool) -> list[float]:
    start = Weights(pool.index, np.linspace(1, 2, len(pool.index)))
    return optimiser.optimise(pool, start, seed=1).weights.values.tolist()


@pytest.mark.parametrize(
    ("text", "member", "default"),
    [
        (Pro(prior="previous"), Pro(prior=Prior.PREVIOUS), Pro()),
        (Pro(scaling="none"), Pro(scaling=Scaling.NONE), Pro()),
        (Mira(update="cutting-plane"), Mira(update=MarginUpdate.CUTTING_PLANE), Mira()),
    ],
)
def test_methods_learn_what_the_text_says(text, member, default):
    pool = random_pool(1, n_sentences=20, bleu=True)
    assert learned(text, pool) == learned(member, pool) != learned(default, pool)


def test_what_contradicts_is_refused_as_text_too():
    for fear in ("max-cost", Fear.MAX_COST):
        with pytest.raises(InputError, match="fear must be cost-based"):
            Mira(update="cutting-plane", fear=fear)
    with pytest.raises(InputError, match="decay would not be used"):
        Mira(context="sentence", decay=0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worse(Optimiser):
    """The opposite of what was good."""

    name = "worse"

    def learn(self, problem: Problem) -> Learned:
        return Learned(values=-np.abs(problem.start.values) - 1, trace=({"step": 1},))


class ByWeight(Decoder):
    """Lists with the good candidate first if the weight is positive."""

    def decode(self, weights):
        good, bad = ({"f": 1.0, "g": 0.5}, 1.0), ({"f": -1.0, "g": 1.0}, 0.0)
        return pool_of([[good, bad] if weights["f"] > 0 else [bad, good]])


@pytest.mark.parametrize("keep", [*Keep, *map(str, Keep)])
def test_the_loop_keeps_the_round_that_the_text_says(keep):
    start = Weights.from_dict({"f": 1.0, "g": 0.5})
    settings = LoopSettings(max_rounds=2, keep=keep)
    found = tune_decoder(ByWeight(), Worse(), start, seed=1, objective=MeasuredObjective(External()), settings=settings)
    assert (found.weights["f"] > 0) == (str(keep) == "best")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Pro(prior="previuos"),
            "Pro.prior = 'previuos': did you mean previous? expected one of zero",
        ),
        (lambda: Pro(acceptance="logistics"), "Pro.acceptance = 'logistics': did you mean logistic? expected step or"),
        (lambda: Pro(l2="big"), "Pro.l2 = 'big': expected a number"),
        (lambda: Pro(n_kept=2.5), "Pro.n_kept = 2.5: expected a whole number or none"),
        (lambda: LoopSettings(max_rounds="3"), "LoopSettings.max_rounds = '3': expected a whole number"),
        (lambda: replace(Bleu(), smoothing="expo"), "Bleu.smoothing = 'expo': did you mean exp? expected one of"),
    ],
)
def test_mistakes_name_the_class_and_the_field(make, message):
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)
