"""Frozen features by name or by group."""

from __future__ import annotations

import pytest

from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.optim.frozen import frozen_at_zero, frozen_names

START = Weights.from_dict({"TM0_1": 0.5, "TM0_2": 0.0, "TM0_x": 1.0, "LM0": 1.0, "pair:a:b": 0.1, "pair:c": 0.2})


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([], ()),
        (["LM0"], ("LM0",)),
        (["TM0"], ("TM0_1", "TM0_2")),
        (["TM0", "TM0_1", "pair"], ("TM0_1", "TM0_2", "pair:a:b", "pair:c")),
    ],
)
def test_groups_are_features_with_numbers_or_arguments(asked, expected):
    assert frozen_names(START.index, asked) == expected


@pytest.mark.parametrize("name", ["TM", "LM1", "pair:", ""])
def test_a_misspelt_name_is_refused(name):
    with pytest.raises(InputError, match="cannot be frozen"):
        frozen_names(START.index, [name])


def test_what_is_frozen_at_zero_is_said():
    assert frozen_at_zero(START, ["LM0", "TM0_1"]) == ()
    assert frozen_at_zero(START, ["TM0_2", "unknown", "LM0"]) == (
        "frozen at 0, because the start gives no weight: TM0_2, unknown",
    )
