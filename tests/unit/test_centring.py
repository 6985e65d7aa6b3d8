"""Weights of features that differ in their target sides alone, shifted to a mean of 0."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.features import FeatureIndex, feature_arguments, feature_name
from dragoman.optim.centring import centred, source_groups

WORDS = st.sampled_from(["a", "b", "a,b", "\\", "\\,", "a b", "\n", ""])
NAMES = st.one_of(
    st.builds(feature_name, st.sampled_from(["rule_id", "word_pair"]), WORDS, WORDS),
    st.builds(feature_name, st.just("rule_id"), st.just("[X]"), WORDS, WORDS),
    st.builds(feature_name, st.just("word_context"), WORDS, WORDS, st.sampled_from([-1, 1]), WORDS),
    st.builds(feature_name, st.sampled_from(["target_insertion", "rule_shape"]), WORDS),
    st.sampled_from(["lm", "words"]),
)


def index_of(names):
    index = FeatureIndex()
    for name in names:
        index.intern(name)
    return index


@given(st.lists(NAMES, unique=True))
def test_groups_are_those_of_names_that_agree_in_all_but_the_target_side(names):
    groups = source_groups(index_of(names))
    keys = {}
    for name, group in zip(names, groups, strict=True):
        template = name.partition(":")[0]
        if template not in ("rule_id", "word_pair", "word_context"):
            assert group == -1
            continue
        arguments = list(feature_arguments(name))
        del arguments[1 if template == "word_context" else len(arguments) - 1]
        keys.setdefault((template, *arguments), set()).add(group)
    assert all(len(found) == 1 for found in keys.values())
    assert len({group for found in keys.values() for group in found}) == len(keys)


def test_means_by_counts_are_taken_off_and_other_weights_stay():
    names = ["lm", "word_pair:a,x", "word_pair:a,y", "word_pair:b,x", "rule_id:a,x", "rule_id:a,y"]
    values = np.array([0.5, 1.0, 4.0, 3.0, 2.0, -1.0])
    counts = np.array([9.0, 2.0, 1.0, 5.0, 0.0, 1.0])
    found = centred(values, source_groups(index_of(names)), counts)
    # What was counted nowhere stays. word_pair:b has one translation: there is nothing to prefer.
    assert found == pytest.approx([0.5, -1.0, 2.0, 0.0, 2.0, 0.0])
    assert values[1] == 1.0


def test_nothing_to_centre():
    assert len(centred(np.zeros(0), np.zeros(0, np.int64), np.zeros(0))) == 0
    assert centred(np.ones(2), np.full(2, -1), np.ones(2)).tolist() == [1.0, 1.0]
