"""Stored pools and recorded rounds with one byte changed: refused with the name of a file, or without effect."""

from __future__ import annotations

import json
import random
import shutil

import numpy as np
import pytest
from tests.kit import toy_decoder
from tests.kit.fake_runs import fake_run
from tests.kit.pools import arrays_of, random_pool
from tests.kit.toy_runs import tune_inside

from dragoman.candidates import load_pool, rerank, save_pool
from dragoman.errors import InputError
from dragoman.features import read_weights
from dragoman.run import load_cells, load_plans, save_plan

N_CASES = 75


def spoil(path, rng):
    """Flip a bit, or change a digit into another."""
    data = bytearray(path.read_bytes())
    digits = [i for i, byte in enumerate(data) if chr(byte).isdecimal()]
    if digits and rng.random() < 0.5:
        place = rng.choice(digits)
        data[place] = rng.choice([d for d in b"0123456789" if d != data[place]])
    else:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def named(error, folder):
    """1 for an error that names a file of the folder."""
    assert str(error).startswith(str(folder))
    return 1


def files_below(folder, *, without=("lock", "run.json", "trace.jsonl", "result.json")):
    return sorted(p for p in folder.rglob("*") if p.is_file() and p.stat().st_size and p.name not in without)


def tune(folder, run, max_rounds):
    result = tune_inside(folder, run, max_rounds)
    return dict(result.weights.items()), [(entry.score, entry.gain) for entry in result.rounds]


def test_damaged_pools(tmp_path):
    pool = random_pool(3, n_sentences=4, n_candidates=5, bleu=True)
    save_pool(pool, tmp_path / "good")
    weights = np.random.default_rng(0).normal(size=5)
    rng = random.Random(1)

    def result(folder):
        loaded = load_pool(folder)
        named = read_weights(tmp_path / "weights", index=loaded.index)
        choice = rerank(loaded, named)
        return arrays_of(loaded), list(choice.texts()), loaded.dense_names(), loaded.score_names

    (tmp_path / "weights").write_text("".join(f"f{i} {value}\n" for i, value in enumerate(weights)))
    expected = result(tmp_path / "good")
    n_refused = 0
    for _ in range(N_CASES):
        shutil.copytree(tmp_path / "good", tmp_path / "bad")
        spoil(rng.choice(files_below(tmp_path / "bad")), rng)
        try:
            found = result(tmp_path / "bad")
        except InputError as error:
            found, n_refused = expected, n_refused + named(error, tmp_path / "bad")
        assert found == expected
        shutil.rmtree(tmp_path / "bad")
    assert n_refused > 0.9 * N_CASES


def test_damaged_rounds(tmp_path):
    toy_decoder.write_task(tmp_path, n_sentences=3, length=3)
    expected = tune(tmp_path, tmp_path / "whole", 3)
    rng = random.Random(2)
    n_refused = 0
    for _ in range(N_CASES):
        shutil.copytree(tmp_path / "whole", tmp_path / "bad")
        spoil(rng.choice(files_below(tmp_path / "bad" / "rounds")), rng)
        try:
            found = tune(tmp_path, tmp_path / "bad", 3)
        except InputError as error:
            found, n_refused = expected, n_refused + named(error, tmp_path / "bad" / "rounds")
        assert found == expected
        shutil.rmtree(tmp_path / "bad")
    assert n_refused > 0.8 * N_CASES


@pytest.mark.parametrize("name", ["weights.tsv", "learned.tsv", "round.json", "learned.json", "output.txt"])
def test_an_edited_round_is_refused(tmp_path, name):
    toy_decoder.write_task(tmp_path, n_sentences=3, length=3)
    tune(tmp_path, tmp_path / "run", 1)
    with (tmp_path / "run" / "rounds" / "0001" / name).open("r+b") as stream:
        byte = stream.read(1)
        stream.seek(0)
        stream.write(bytes([byte[0] ^ 1]))
    with pytest.raises(InputError, match="does not match its checksum; the run is damaged or was edited"):
        tune(tmp_path, tmp_path / "run", 1)


def fake_cells(folder):
    run = fake_run(folder, rates={"mert": 0.3, "pro": 0.1}, seeds=(1,), n_sentences=6)
    for cell in load_cells(run):
        save_plan(run, cell.key, {"tuning": {"k": 100, "features": ["dense"]}, "seed": cell.key.seed})
    return run


def test_damaged_cells(tmp_path):
    run = fake_cells(tmp_path / "run")
    expected = load_cells(run), load_plans(run)
    rng = random.Random(3)
    n_refused = 0
    for _ in range(N_CASES):
        path = rng.choice([*sorted(run.rglob("cell.json")), *sorted(run.rglob("plan.json"))])
        content = path.read_bytes()
        spoil(path, rng)
        try:
            found = load_cells(run), load_plans(run)
        except InputError as error:
            found, n_refused = expected, n_refused + named(error, path)
        assert found == expected
        path.write_bytes(content)
    assert n_refused > 0.8 * N_CASES


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"best_round": 99}, "'best_round' is 99; the cell has the rounds"),
        ({"scores": 5}, "'scores' is 5"),
        ({"scores": {"bleu": 0.3}}, "'scores' lacks chrf"),
        ({"rounds": [{}]}, "lacks 'round'"),
        ({"rounds": None}, "'rounds' is None"),
        ({"key": "x"}, "CellKey"),
        ({"stages": [{"name": 1}]}, "'stages'|'name' is 1|lacks"),
        ({"error": 1}, "'error' is 1"),
    ],
)
def test_records_of_cells_without_a_checksum_are_checked_field_by_field(tmp_path, change, message):
    run = fake_cells(tmp_path / "run")
    path = min(run.rglob("cell.json"))
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | change))
    with pytest.raises(InputError, match="does not match its checksum; the run is damaged or was edited"):
        load_cells(run)
    del record["checksum"]
    path.write_text(json.dumps(record))
    assert len(load_cells(run)) == 2
    path.write_text(json.dumps(record | change))
    with pytest.raises(InputError, match=message) as caught:
        load_cells(run)
    assert caught.value.path == str(path)


def test_pools_of_the_first_format_are_to_be_made_again(tmp_path):
    save_pool(random_pool(3, bleu=True), tmp_path / "pool")
    (tmp_path / "pool" / "pool.json").write_text('{"format": "dragoman-pool", "version": 1}')
    with pytest.raises(InputError, match="made by an older version of dragoman.*make the pool again"):
        load_pool(tmp_path / "pool")
