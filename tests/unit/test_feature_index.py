"""Feature names, keys and ids."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from dragoman.errors import InputError
from dragoman.features import (
    Block,
    FeatureIndex,
    FeatureTable,
    Weights,
    blocks_by_template,
    feature_key,
    feature_name,
    load_index,
    save_index,
)


def test_ids_count_up_in_the_order_of_first_sight():
    index = FeatureIndex()
    assert [index.intern(name) for name in ["lm", "words", "lm", "été"]] == [0, 1, 0, 2]
    assert index.find("words") == 1
    assert index.find("absent") == -1
    assert index.names(np.array([2, 0], dtype=np.int32)) == ["été", "lm"]
    assert len(index) == 3


def test_ids_survive_growth():
    index = FeatureIndex()
    names = [f"rule:{i}" for i in range(20_000)]
    assert [index.intern(name) for name in names] == list(range(20_000))
    assert [index.find(name) for name in names] == list(range(20_000))
    assert len(set(index.keys().tolist())) == 20_000


def test_keys_are_the_same_in_every_process():
    code = "from dragoman.features import feature_key; print(feature_key('pair:maison,house'))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(other) == feature_key("pair:maison,house")
    assert feature_key("") != feature_key("a")


def test_a_collision_is_an_error_that_names_both():
    index = FeatureIndex(key_bits=8)
    with pytest.raises(InputError, match="'f.*' and 'f.*' have the same") as caught:
        for i in range(300):
            index.intern(f"f{i}")
    assert len(index) < 257
    assert "rename" in str(caught.value)
    # A look-up is no interning: another name with the same key is simply absent.
    assert sum(index.find(f"other{i}") >= 0 for i in range(300)) == 0


@pytest.mark.parametrize("name", ["", "a\tb", "a\nb", "\x7f", "x" * 40_000])
def test_names_that_no_file_could_hold_are_refused(name):
    with pytest.raises(InputError, match="feature"):
        FeatureIndex().intern(name)


def test_names_of_templates_are_a_bijection():
    arguments = ["a", "b", "a,b", "\\", ",", "a b", "a\tb", "a\nb", "s", "\\s", "", "a,", "\\,"]
    names = {feature_name("t", x, y): (x, y) for x in arguments for y in arguments}
    assert len(names) == len(arguments) ** 2
    index = FeatureIndex()
    for name in names:
        index.intern(name)
    assert feature_name("lm") == "lm"
    with pytest.raises(ValueError, match="template"):
        feature_name("a:b", "x")


def test_extend_maps_ids():
    one, two = FeatureIndex(), FeatureIndex()
    for name in "abc":
        one.intern(name)
    for name in "xcay":
        two.intern(name)
    assert one.extend(two).tolist() == [3, 2, 0, 4]


def test_save_and_load(tmp_path):
    index = FeatureIndex()
    for name in ["b", "a b", "été", "c=d"]:
        index.intern(name)
    save_index(index, tmp_path / "features")
    again = load_index(tmp_path / "features")
    assert again.names(np.arange(4, dtype=np.int32)) == ["b", "a b", "été", "c=d"]
    (tmp_path / "features").write_text("a\nb\na\n")
    with pytest.raises(InputError, match="duplicate names"):
        load_index(tmp_path / "features")


def test_unknown_ids_are_errors():
    index = FeatureIndex()
    with pytest.raises(IndexError):
        index.name(0)
    with pytest.raises(IndexError):
        index.names(np.array([-1], dtype=np.int32))


def test_weights_grow_with_their_index():
    index = FeatureIndex()
    weights = Weights.from_dict({"a": 1.5}, index)
    index.intern("b")
    assert weights["b"] == 0.0
    assert weights["nobody"] == 0.0
    assert weights.values.tolist() == [1.5, 0.0]
    assert dict(weights.items()) == {"a": 1.5}
    other = FeatureIndex()
    other.intern("z")
    other.intern("a")
    assert weights.values_on(other).tolist() == [0.0, 1.5]
    assert dict(weights.on(other).items()) == {"a": 1.5}


def test_copies_of_weights_are_apart():
    weights = Weights.from_dict({"a": 1.0})
    copy = weights.copy()
    copy["a"] = 2.0
    assert weights["a"] == 1.0


@pytest.mark.parametrize(
    ("value", "usable"), [(0.0, False), (1e-39, False), (np.nan, False), (np.inf, False), (0.1, True)]
)
def test_usable(value, usable):
    assert Weights.from_dict({"a": value, "b": 0.0}).is_usable() is usable


def test_blocks_are_checked():
    with pytest.raises(ValueError, match="covers no"):
        Block.from_dict("b", {})
    with pytest.raises(ValueError, match="non-finite"):
        Block.from_dict("b", {"x": np.nan})


def test_blocks_by_template():
    names = {"lm": 1.0, "word_pair:a,b": 2.0, "rule_id:x:y": 3.0, "word_pair:é": 4.0, "naïve:z": 5.0, "rule_ix:x": 6.0}
    table = FeatureTable.from_weights(Weights.from_dict({**names, "x": 7.0}))
    found = {
        block.name: dict(zip(block.table.names(), block.coefficients.tolist(), strict=True))
        for block in blocks_by_template(table, "weight", prefix="direction_")
    }
    assert found == {
        "direction_naïve": {"naïve:z": 5.0},
        "direction_rule_id": {"rule_id:x:y": 3.0},
        "direction_rule_ix": {"rule_ix:x": 6.0},
        "direction_word_pair": {"word_pair:a,b": 2.0, "word_pair:é": 4.0},
    }
    assert blocks_by_template(FeatureTable.from_weights(Weights.from_dict({"lm": 1.0})), "weight", prefix="") == []
