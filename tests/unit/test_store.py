"""Checksummed folders and the records in them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import pytest

from dragoman.errors import FailedError, InputError, naming
from dragoman.files.store import (
    Format,
    checksum,
    from_plain,
    make_folder,
    new_folder,
    read_json,
    seal,
    unseal,
    write_json,
)

THING = Format("dragoman-thing", 2, "thing", "thing.json")


@contextlib.contextmanager
def must_name(path):
    try:
        yield
    except InputError as error:
        if error.path != str(path):
            raise AssertionError(f"{error} does not name {path}") from error
        raise


@pytest.fixture
def thing(tmp_path):
    with new_folder(tmp_path / "thing") as work:
        (work / "numbers").write_bytes(np.arange(100, dtype=np.int32).tobytes())
        (work / "empty").touch()
        THING.write(work, ["numbers", "empty"], {"n": 100, "name": "ä"})
    return tmp_path / "thing"


def test_what_was_written_is_read(thing):
    manifest = THING.read(thing)
    assert manifest.content == {"n": 100, "name": "ä"}
    assert manifest.counts("n") == [100]
    manifest.check_all()
    assert manifest.map_array("numbers", np.int32).tolist() == list(range(100))
    assert not manifest.map_array("numbers", np.int32).flags.writeable
    assert len(manifest.map_array("empty", np.int64)) == 0


def test_every_flipped_bit_is_noticed(thing):
    path = thing / "numbers"
    data = path.read_bytes()
    manifest = THING.read(thing)
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        with pytest.raises(InputError, match="does not match its checksum; the thing is damaged or was edited") as e:
            manifest.check("numbers")
        assert e.value.path == str(path)


def test_every_change_of_the_manifest_is_noticed_or_has_no_effect(thing):
    path = thing / "thing.json"
    data, good = path.read_bytes(), THING.read(thing)
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        path.write_bytes(changed)
        with contextlib.suppress(InputError), must_name(path):
            assert THING.read(thing) == good


@pytest.mark.parametrize("size", [0, 399, 401])
def test_sizes_are_compared_before_mapping(thing, size):
    (thing / "numbers").write_bytes(b"\0" * size)
    for look in (lambda m: m.map_array("numbers", np.int32), lambda m: m.check("numbers")):
        with pytest.raises(InputError, match=f"has {size} bytes, 400 were expected; the thing is damaged"):
            look(THING.read(thing))


@pytest.mark.parametrize(
    ("version", "message"), [(1, "made by an older version.*make the thing again"), (9, "made by another version")]
)
def test_other_versions_say_what_to_do(thing, version, message):
    Format("dragoman-thing", version, "thing", "thing.json").write(thing, [], {})
    with pytest.raises(InputError, match=message):
        THING.read(thing)


@pytest.mark.parametrize("text", ["", "{}", "[]", "[" * 100_000, '{"format": "dragoman-thing", "version": 2}'])
def test_things_that_are_no_manifest(thing, text):
    (thing / "thing.json").write_text(text)
    with pytest.raises(InputError, match="thing"):
        THING.read(thing)
    (thing / "thing.json").unlink()
    with pytest.raises(InputError, match=r"is not a thing: there is no thing\.json in it"):
        THING.read(thing)


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    with pytest.raises(RuntimeError), new_folder(tmp_path / "a" / "b") as work:
        (work / "half").touch()
        raise RuntimeError
    assert list((tmp_path / "a").iterdir()) == []
    with pytest.raises(InputError, match="exists already"), new_folder(tmp_path):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(FailedError, match="cannot be made"):
        make_folder(tmp_path / "file" / "below")


def test_records_keep_their_seal_through_json(tmp_path):
    record = {"b": (1, 2.5), "a": {3: "ü", 20: None}}
    write_json(tmp_path / "r", seal(record))
    assert unseal(read_json(tmp_path / "r", "run"), "run") == json.loads(json.dumps(record))
    (tmp_path / "r").write_text((tmp_path / "r").read_text().replace("2.5", "2.6"))
    with pytest.raises(InputError, match="does not match its checksum; the run is damaged or was edited"):
        unseal(read_json(tmp_path / "r", "run"), "run")


def test_checksums_depend_on_every_byte_and_its_place(tmp_path):
    found = set()
    for data in (b"", b"a", b"b", b"ab" * 40, b"ba" * 40, b"x" * 32 + b"y" * 32, b"y" * 32 + b"x" * 32):
        (tmp_path / "f").write_bytes(data)
        found.add(checksum(tmp_path / "f"))
    assert len(found) == 7


@dataclass(frozen=True, kw_only=True)
class _Inner:
    n: int
    x: float | None = None


@dataclass(frozen=True, kw_only=True)
class _Outer:
    name: str
    inner: _Inner
    several: tuple[_Inner, ...] = ()
    scores: Mapping[str, float] | None = None
    flag: bool = False


def test_records_come_back_as_they_were():
    record = _Outer(name="a", inner=_Inner(n=1), several=(_Inner(n=2, x=0.5),), scores={"bleu": 1})
    assert from_plain(_Outer, json.loads(json.dumps(asdict(record)))) == record


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": 5}, "'name' is 5; expected str"),
        ({"inner": None}, "_Inner"),
        ({"inner": {}}, "lacks 'n'"),
        ({"inner": {"n": True}}, "'n' is True; expected int"),
        ({"several": 3}, "'several' is 3"),
        ({"scores": 5}, "'scores' is 5; expected Mapping"),
        ({"scores": {"bleu": "x"}}, r"'scores.bleu' is 'x'"),
        ({"scores": {"bleu": float("nan")}}, r"'scores.bleu' is nan"),
        ({"flag": 1}, "'flag' is 1"),
        ({"else": 1}, "'else' is no field"),
    ],
)
def test_records_of_other_types_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        from_plain(_Outer, {"name": "a", "inner": {"n": 1}} | change)


def test_naming_keeps_a_name_that_is_there():
    with pytest.raises(InputError) as caught, naming("outer"), naming("inner"):
        raise InputError("wrong", line=3)
    assert str(caught.value) == "inner, line 3: wrong"
