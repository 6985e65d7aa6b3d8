"""forest-mert around systems of both kinds."""

from __future__ import annotations

import pytest
from tests.kit.small_text import write_splits

from dragoman.errors import InputError
from dragoman.lm import EstimateConfig
from dragoman.optim import OPTIMISERS, ForestMert, LearningContext, LearnsFrom
from dragoman.system import KINDS, SystemSettings, TrainConfig, train
from dragoman.tuning import LoopSettings, TuneConfig, tune_system


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    write_splits(folder, 300, 15, 1, seed=2)
    return folder


@pytest.mark.parametrize("model", KINDS)
def test_a_system_is_tuned_on_its_forests(text, tmp_path, model):
    config = TrainConfig(settings=SystemSettings(model=KINDS[model].settings()), lm=EstimateConfig(order=3))
    system = train(text / "train.de", text / "train.en", tmp_path / "system", config=config)
    tuned = [
        tune_system(
            system,
            text / "dev.de",
            [text / "dev.en"],
            tmp_path / f"tuned{n}",
            optimiser=ForestMert(n_starts=1, max_passes=1, n_directions=1),
            config=TuneConfig(k=20, loop=LoopSettings(max_rounds=2)),
            seed=1,
            n_threads=n,
        )
        for n in (1, 2)
    ]
    about = tuned[0].manifest.about["tuning"]
    assert about["score_after"] > about["score_before"]
    assert dict(tuned[0].weights.items()) == dict(tuned[1].weights.items())


def test_it_is_not_for_lists():
    for method in OPTIMISERS.values():
        if method.learns_from is LearnsFrom.LISTS:
            assert method().learner(LearningContext())
        else:
            with pytest.raises(InputError, match=f"{method.name} learns from .* tune a system with `system`"):
                method().learner(LearningContext())
