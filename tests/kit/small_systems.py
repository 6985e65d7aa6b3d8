"""Systems of both kinds, trained in a second, for tests that decode with sparse features."""

from __future__ import annotations

import numpy as np
from tests.kit.small_text import write_splits

from dragoman.lm import EstimateConfig
from dragoman.system import KINDS, System, SystemSettings, TrainConfig, train

TEMPLATES = {
    "phrase": (
        "rule_id",
        "word_pair(top=20)",
        "word_context(top=20)",
        "reorder_local(top=20)",
        "reorder_stack(top=0,classes=1)",
        "reorder_gap(top=20,classes=1)",
        "reorder_phrase",
    ),
    "hiero": ("rule_id", "word_context(top=20)", "structural_distortion"),
}


def make_systems(folder, n_folds=1):
    """A folder for each kind, beside the text."""
    write_splits(folder, 200, 10, 0, seed=3)
    for kind in KINDS:
        settings = SystemSettings(
            model=KINDS[kind].settings(), n_folds=n_folds, features=TEMPLATES[kind], classes=(4, 9)
        )
        config = TrainConfig(settings=settings, lm=EstimateConfig(order=2))
        train(folder / "train.de", folder / "train.en", folder / kind, config=config)
    return folder


def opened(made, kind):
    return System.load(made / kind)


def sentences_of(made):
    return (made / "dev.de").read_text(encoding="utf-8").split("\n")[:-1]


def names_of(index):
    return index.names(np.arange(len(index), dtype=np.int32))


def all_names(made, kind):
    """Names of all features of all options of the sentences."""
    system = opened(made, kind)
    system.translator.prepare(sentences_of(made))
    return names_of(system.index)


def rows_of(lists, index):
    """The features of each candidate by name; their ids ascend."""
    rows = []
    for c in range(len(lists)):
        ids, values = lists.features_of(c)
        assert (np.diff(ids) > 0).all()
        rows.append(dict(zip(index.names(ids), values.tolist(), strict=True)))
    return rows
