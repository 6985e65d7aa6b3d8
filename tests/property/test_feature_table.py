"""Tables of features against dicts, and their files against damage."""

from __future__ import annotations

import json
import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman._core import FeatureNames
from dragoman.errors import InputError
from dragoman.features import FeatureIndex, FeatureTable, Weights, feature_key, is_feature_table
from dragoman.files.store import seal

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\x7f"), min_size=1, max_size=12
)
VECTORS = st.dictionaries(NAMES, st.tuples(st.floats(-1e6, 1e6), st.integers(-1000, 1000)), max_size=30)


def table_of(vector, about=None):
    index = FeatureIndex()
    ids = np.array([index.intern(name) for name in vector], dtype=np.int32)
    values = np.array([value for value, _ in vector.values()], dtype=np.float64)
    counts = np.array([count for _, count in vector.values()], dtype=np.int64)
    return FeatureTable.from_ids(index, ids, {"value": values, "count": counts}, about)


def content(table):
    columns = [column.tolist() for column in table.columns.values()]
    return dict(zip(table.names(), zip(*columns, strict=True), strict=True))


@given(VECTORS)
def test_a_table_is_what_it_was_made_of(vector):
    table = table_of(vector)
    assert content(table) == vector
    assert table.features.keys.tolist() == sorted(feature_key(name) for name in vector)
    copy = pickle.loads(pickle.dumps(table))
    assert content(copy) == vector
    assert list(copy.columns) == ["value", "count"]


@given(VECTORS, VECTORS)
def test_sums(left, right):
    total = content(table_of(left).add(table_of(right)))
    assert total == {
        name: tuple(a + b for a, b in zip(left.get(name, (0, 0)), right.get(name, (0, 0)), strict=True))
        for name in {**left, **right}
    }


@given(VECTORS, st.lists(NAMES, max_size=5))
def test_weights_over_an_index(vector, before):
    index = FeatureIndex()
    for name in before:
        index.intern(name)
    weights = table_of(vector).weights("value", index)
    assert dict(weights.items()) == {name: value for name, (value, _) in vector.items() if value}
    assert len(index) == len({*before, *vector})
    assert all(index.name(index.find(name)) == name for name in {*before, *vector})
    assert content(FeatureTable.from_weights(weights)) == {n: (v,) for n, (v, _) in vector.items() if v}
    index.intern("later")
    assert weights["later"] == (vector["later"][0] if "later" in vector else 0)


@given(VECTORS)
def test_features_can_be_added_in_another_order(vector):
    table = table_of(vector)
    places = np.array([list(vector).index(name) for name in table.names()], dtype=np.int64)
    table = table.with_columns({"value": table.columns["value"], "place": places})
    weights = table.weights("value", places="place")
    assert weights.index.names(np.arange(len(vector), dtype=np.int32)) == list(vector)


@given(VECTORS, st.data())
def test_parts(vector, data):
    table = table_of(vector)
    places = np.array(sorted(data.draw(st.sets(st.integers(0, len(vector) - 1)) if vector else st.just(set()))))
    part = table.take(places.astype(np.int64))
    assert content(part) == {name: vector[name] for name in part.names()}
    assert part.names() == table.names(places.astype(np.int64))


@given(VECTORS)
def test_files(tmp_path_factory, vector):
    path = tmp_path_factory.mktemp("table") / "vector.bin"
    table_of(vector, {"loss": 0.5}).save(path)
    loaded = FeatureTable.load(path)
    assert content(loaded) == vector
    assert loaded.about == {"loss": 0.5}
    assert is_feature_table(path)
    weights = loaded.weights("value")
    del loaded
    path.unlink()  # the names are mapped, and remain
    assert dict(weights.items()) == {name: value for name, (value, _) in vector.items() if value}


def test_damaged_files(tmp_path):
    vector = {f"template:naïve,{i}": (i / 7, i) for i in range(40)}
    table_of(vector, {"shards": [1, 2]}).save(tmp_path / "good")
    good = (tmp_path / "good").read_bytes()
    rng = random.Random(1)
    bad = tmp_path / "bad"
    expected = vector, {"shards": [1, 2]}
    n_refused = 0
    for _ in range(400):
        data = bytearray(good)
        match rng.randrange(4):
            case 0:
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            case 1:
                del data[rng.randrange(len(data)) :]
            case 2:
                at = rng.randrange(data.index(b"\n"))
                data[at : at + rng.randrange(4)] = bytes(rng.choices(b'0123456789{}[]",:- x', k=rng.randrange(4)))
            case 3:
                data += bytes(rng.randrange(1, 100))
        bad.write_bytes(data)
        try:
            loaded = FeatureTable.load(bad)
            found = content(loaded), loaded.about
        except InputError as error:
            found, n_refused = expected, n_refused + str(error).startswith(str(bad))
        assert found == expected
    assert n_refused > 300


@pytest.mark.parametrize(
    "change",
    [
        {"n_features": -1},
        {"n_features": True},
        {"n_features": 10**30},
        {"n_features": 39},
        {"n_name_bytes": None},
        {"columns": {"value": "<f8"}},
        {"columns": {"value": "|O8", "count": "<i8"}},
        {"columns": [1, 2]},
        {"columns": {"value": ["<f8"], "count": "<i8"}},
        {"checksums": "x"},
        {"checksums": []},
        {"checksums": [{}, 1, None, "x", []]},
        {"about": 3},
        {"version": 2},
    ],
)
def test_hostile_headers(tmp_path, change):
    path = tmp_path / "table"
    table_of({f"f{i}": (1.0, i) for i in range(40)}).save(path)
    line, _, body = path.read_bytes().partition(b"\n")
    record = {key: value for key, value in json.loads(line).items() if key != "checksum"}
    path.write_bytes(json.dumps(seal({**record, **change})).encode().ljust(len(line)) + b"\n" + body)
    with pytest.raises(InputError, match=str(path)):
        FeatureTable.load(path)


def test_files_that_are_no_tables(tmp_path):
    (tmp_path / "text").write_text("lm\t0.5\n")
    (tmp_path / "empty").write_bytes(b"")
    for name in ("text", "empty", "absent"):
        assert not is_feature_table(tmp_path / name)
        with pytest.raises(InputError, match=name):
            FeatureTable.load(tmp_path / name)


@pytest.mark.parametrize(
    ("keys", "offsets", "blob", "message"),
    [
        ([1], [0], b"a", "offsets"),
        ([1], [0, 2], b"a", "offsets"),
        ([1, 2], [0, 5, 1], b"a", "empty or too long"),
        ([1, 2], [0, -3, 1], b"a", "empty or too long"),
        ([1], [0, 0], b"", "empty or too long"),
        ([feature_key("a")], [0, 1], b"\t", "control character"),
        ([feature_key("a")], [0, 1], b"\xff", "UTF-8"),
        ([1, 2], [0, 1, 2], "é".encode(), "UTF-8"),
        ([1], [0, 1], b"a", "not that of its name"),
        ([feature_key("a")] * 2, [0, 1, 2], b"aa", "ascend"),
    ],
)
def test_hostile_arrays(keys, offsets, blob, message):
    with pytest.raises(InputError, match=message):
        FeatureNames(
            np.array(keys, dtype=np.uint64), np.array(offsets, dtype=np.int64), np.frombuffer(blob, dtype=np.uint8)
        )


MASK = 2**64 - 1


def mix(h):
    h = ((h ^ (h >> 33)) * 0xFF51AFD7ED558CCD) & MASK
    h = ((h ^ (h >> 29)) * 0xC4CEB9FE1A85EC53) & MASK
    return h ^ (h >> 32)


def names_with_one_key():
    """Two names of 16 bytes: the second half undoes what another first half does to the key."""
    start = (0x9E3779B97F4A7C15 * 17) & MASK

    def state(half):
        return (mix(start ^ int.from_bytes(half, "little")) + 0x9E3779B97F4A7C15) & MASK

    first, rest = b"template", b":one,two"
    wanted = state(first) ^ int.from_bytes(rest, "little")
    rng = random.Random(0)
    while True:
        other = bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=8))
        undone = (wanted ^ state(other)).to_bytes(8, "little")
        if all(0x20 <= byte < 0x7F for byte in undone):
            return (first + rest).decode(), (other + undone).decode()


def test_two_names_with_one_key():
    name, other = names_with_one_key()
    assert name != other
    assert feature_key(name) == feature_key(other)
    left, right = table_of({name: (1.0, 1), "x": (1.0, 1)}), table_of({other: (2.0, 2)})
    with pytest.raises(InputError, match="have the same 64-bit key"):
        left.add(right)
    index = FeatureIndex()
    index.intern(other)
    with pytest.raises(InputError, match="have the same 64-bit key"):
        left.weights("value", index)
    assert index.find_table(left.features).tolist() == [-1, -1]


def test_bad_arguments():
    table = table_of({"a": (1.0, 1), "b": (2.0, 2)})
    with pytest.raises(InputError, match="cannot be added"):
        table.add(table.with_columns({"value": np.zeros(2)}))
    with pytest.raises(ValueError, match="'value' needs"):
        table.with_columns({"value": np.zeros(3)})
    with pytest.raises(ValueError, match="'value' needs"):
        table.with_columns({"value": np.zeros(2, dtype=np.float32)})
    for places in ([0, 0], [1, 2], [-1, 0]):
        odd = table.with_columns({"value": np.zeros(2), "place": np.array(places)})
        with pytest.raises(InputError, match="not a permutation"):
            odd.weights("value", places="place")
    index = FeatureIndex()
    index.intern("a")
    with pytest.raises(ValueError, match="twice"):
        FeatureTable.from_ids(index, np.zeros(2, dtype=np.int32), {})
    with pytest.raises(ValueError, match="no feature has the id 1"):
        FeatureTable.from_ids(index, np.ones(1, dtype=np.int32), {})


def test_indexes_with_short_keys():
    index = FeatureIndex(key_bits=20)
    weights = table_of({f"f{i}": (i + 1.0, 0) for i in range(50)}).weights("value", index)
    assert weights["f7"] == 8.0
    assert dict(Weights(index, weights.values).items()) == {f"f{i}": i + 1.0 for i in range(50)}
