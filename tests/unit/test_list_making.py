"""Lists of the training text: made at once, in parts, by threads, with kills in between, the bytes are the same."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from tests.kit.small_text import damage, write_lines, write_splits

from dragoman.candidates import oracle
from dragoman.errors import FailedError, InputError, MismatchError
from dragoman.features import Block, Weights
from dragoman.metric import Smoothing, by_name
from dragoman.sources.lists import ListsFolder, ListsSettings, join_lists, list_scores, make_lists, map_shard
from dragoman.system import FoldDecoder, System, SystemSettings, TrainConfig, train
from dragoman.work.engine import Part

SETTINGS = ListsSettings(k=8, lines_per_shard=16)
N_LINES = 150


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A system with three folds and two domains, and lists of its training text."""
    folder = tmp_path_factory.mktemp("made")
    write_splits(folder, N_LINES, 1, 1, seed=5)
    domains = write_lines(folder / "domains", ["news" if i % 3 else "talks" for i in range(N_LINES)])
    config = TrainConfig(settings=SystemSettings(n_folds=3))
    train(folder / "train.de", folder / "train.en", folder / "system", config=config, domains=domains)
    make_lists(folder / "system", folder / "lists", SETTINGS)
    return folder


@pytest.fixture
def copy(made, tmp_path):
    """The lists in a folder of their own, beside a link to their system."""
    (tmp_path / "system").symlink_to(made / "system")
    shutil.copytree(made / "lists", tmp_path / "lists")
    return tmp_path / "lists"


def content(folder):
    """Every file that counts, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in {"lock", "run.json"}}


def shards(folder):
    return {name: data for name, data in content(folder).items() if name.startswith("shard-")}


def test_lists_are_what_the_fold_decoder_finds(made):
    lists = ListsFolder.load(made / "lists")
    assert (lists.n_lists, len(lists.shards), lists.n_shards) == (N_LINES, 10, 10)
    system = lists.open_system()
    decoder = FoldDecoder(system)
    metric = by_name("bleu", smoothing=Smoothing.NONE)
    pool = decoder.measured(decoder.kbest(np.arange(N_LINES), system.weights, 8), metric)
    shards = [map_shard(path) for path in lists.paths()]
    assert [line for shard in shards for line in shard.lines] == list(range(N_LINES))
    np.testing.assert_array_equal(np.concatenate([shard.totals for shard in shards]), pool.shards[0].totals)
    np.testing.assert_array_equal(np.concatenate([shard.stats for shard in shards]), pool.shards[0].stats)
    np.testing.assert_array_equal(np.concatenate([shard.folds for shard in shards]), decoder.training.folds)
    assert lists.n_candidates == pool.n_candidates
    assert dict(lists.weights().items()) == dict(system.weights.items())
    rows = list_scores(shards, metric)
    assert [row.fold for row in rows] == [None, 0, 1, 2]
    assert sum(row.n_candidates for row in rows[1:]) == rows[0].n_candidates == pool.n_candidates
    first = pool.shards[0].stats[pool.shards[0].sentences[:-1]].sum(axis=0)
    assert rows[0].score == metric.score_of(first)
    assert rows[0].length_ratio == metric.length_ratio(first)
    assert rows[0].oracle == oracle(pool).score() > rows[0].score


def test_lists_of_all_data_have_seen_the_lines(made, tmp_path):
    seen = make_lists(made / "system", tmp_path / "seen", ListsSettings(k=8, lines_per_shard=64, all_data=True))
    (row,) = list_scores(map(map_shard, seen.paths()), seen.settings.measure())
    unseen = list_scores(map(map_shard, ListsFolder.load(made / "lists").paths()), SETTINGS.measure())[0]
    assert row.fold is None
    assert row.n_lists == unseen.n_lists
    assert row.score > unseen.score


def test_lines_can_be_chosen(made, tmp_path):
    chosen = make_lists(made / "system", tmp_path / "l", ListsSettings(k=4, where="talks", limit=7, metric="chrf"))
    (shard,) = map(map_shard, chosen.paths())
    assert shard.lines.tolist() == [0, 3, 6, 9, 12, 15, 18]
    assert shard.stats.shape[1] == by_name("chrf").n_stats
    for wrong, why in (({"where": "sports"}, "news"), ({"limit": 0}, "limit"), ({"k": 1}, "at least 2")):
        with pytest.raises(InputError, match=why):
            make_lists(made / "system", tmp_path / "w", ListsSettings(**wrong))
    assert not (tmp_path / "w").exists()


def test_other_weights(made, tmp_path):
    weights = Weights.from_dict({**dict(ListsFolder.load(made / "lists").weights().items()), "lm": 3.0})
    other = make_lists(made / "system", tmp_path / "l", SETTINGS, weights=weights)
    assert other.weights()["lm"] == 3.0
    with pytest.raises(InputError, match=r"other settings \(weights\)"):
        make_lists(made / "system", tmp_path / "l", SETTINGS, resume=True)


def test_blocks_in_the_search(made, tmp_path):
    system = System.load(made / "system").with_templates(["word_pair(top=80)"])
    decoder = FoldDecoder(system)
    some = decoder.kbest(np.arange(20), system.weights, 4)
    sparse = {name: 0.5 for name in some.index.names(np.arange(len(some.index), dtype=np.int32)) if ":" in name}
    settings = ListsSettings(k=4, limit=20, features=("word_pair(top=80)",))
    dense = dict(system.weights.items())
    summed = make_lists(made / "system", tmp_path / "sparse", settings, weights=Weights.from_dict({**dense, **sparse}))
    blocked = system.with_blocks([Block.from_dict("pairs", dict.fromkeys(sparse, 0.25))])
    weights = Weights.from_dict({**dense, "pairs": 2.0})
    found = make_lists(blocked, tmp_path / "block", settings, weights=weights)
    one, other = (map_shard(lists.paths()[0]) for lists in (summed, found))
    np.testing.assert_allclose(one.totals, other.totals, rtol=1e-5)
    assert "pairs" in other.dense_names
    with pytest.raises(InputError, match=r"other settings \(blocks\)"):
        make_lists(system, tmp_path / "block", settings, weights=weights, resume=True)


def test_threads_and_parts_give_the_same_bytes(made, tmp_path):
    (tmp_path / "system").symlink_to(made / "system")
    threads = make_lists(tmp_path / "system", tmp_path / "threads", SETTINGS, n_threads=3)
    assert shards(threads.base) == shards(made / "lists")
    for i in (1, 2, 3):
        make_lists(tmp_path / "system", tmp_path / f"part-{i}", SETTINGS, part=Part(i, 3))
    joined = join_lists([tmp_path / f"part-{i}" for i in (3, 1, 2)], tmp_path / "joined")
    assert content(joined.base) == content(threads.base)


def test_parts_that_do_not_belong_together(made, tmp_path):
    system = made / "system"
    one, two = (make_lists(system, tmp_path / str(i), SETTINGS, part=Part(i, 2)).base for i in (1, 2))
    other = make_lists(system, tmp_path / "other", ListsSettings(k=9, lines_per_shard=16), part=Part(2, 2)).base
    for parts, why in (
        ([one], "shards 5 to 9"),
        ([two], "shards 0 to 4"),
        ([one, one, two], "give each once"),
        ([one, other], "k differs"),
        ([made / "lists", one], "give each once"),
    ):
        with pytest.raises(MismatchError, match=why):
            join_lists(parts, tmp_path / "joined")
    assert not (tmp_path / "joined").exists()
    (two / "shard-000007").write_bytes(b"x")
    with pytest.raises(InputError, match=r"shard-000007"):
        join_lists([one, two], tmp_path / "joined")
    (two / "shard-000007").unlink()
    with pytest.raises(InputError, match=r"shard-000007.*No such file"):
        join_lists([one, two], tmp_path / "joined")


def test_damaged_and_missing_shards_are_named_and_made_again(copy, tmp_path):
    before = shards(copy)
    data = bytearray(before["shard-000003"])
    data[len(data) // 2] ^= 1
    (copy / "shard-000003").write_bytes(data)
    (copy / "shard-000004").unlink()
    with pytest.raises(InputError, match=r"shard-000003: does not match its checksum.*`resume=True` makes it again"):
        ListsFolder.load(copy).paths()
    said = []
    made_again = make_lists(tmp_path / "system", copy, SETTINGS, resume=True, say=said.append)
    assert shards(made_again.base) == before
    (text,) = said
    assert "shard-000003" in text
    assert "made again" in text


def test_a_full_disk(made, tmp_path, monkeypatch):
    real = os.fsync
    n_left = 4

    def full(descriptor):
        nonlocal n_left
        n_left -= 1
        if n_left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    (tmp_path / "system").symlink_to(made / "system")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FailedError, match=r"shard-0000\d\d: .*No space left on device; .*`resume=True`"):
        make_lists(tmp_path / "system", tmp_path / "lists", SETTINGS)
    kept = set(content(tmp_path / "lists"))
    assert "shard-000000" in kept
    assert "lists.json" not in kept
    with pytest.raises(InputError, match=r"not complete.*`resume=True`"):
        ListsFolder.load(tmp_path / "lists")
    monkeypatch.undo()
    resumed = make_lists(tmp_path / "system", tmp_path / "lists", SETTINGS, resume=True)
    whole = make_lists(tmp_path / "system", tmp_path / "whole", SETTINGS)
    assert content(resumed.base) == content(whole.base)


def test_a_folder_in_use(made, copy, tmp_path):
    with pytest.raises(InputError, match="holds a run already; say `resume=True`"):
        make_lists(made / "system", copy, SETTINGS)
    with pytest.raises(InputError, match=r"other settings \(distinct, k\)"):
        make_lists(made / "system", copy, ListsSettings(k=9, distinct=True, lines_per_shard=16), resume=True)
    (tmp_path / "full").mkdir()
    write_lines(tmp_path / "full" / "x", ["y"])
    with pytest.raises(InputError, match="is not empty"):
        make_lists(made / "system", tmp_path / "full", SETTINGS)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["x"]


@pytest.mark.parametrize("name", ["lm.fold-1.bin", "grammar/word_pairs.values", "training/links.zst"])
def test_a_system_that_changes_under_the_run(made, tmp_path, name):
    system = tmp_path / "system"
    shutil.copytree(made / "system", system)

    def change(_):
        with (system / name).open("r+b") as stream:
            stream.seek(-3, os.SEEK_END)
            stream.write(b"xyz")

    with pytest.raises(InputError, match=f"{name}: .*(other content|checksum)"):
        make_lists(system, tmp_path / "lists", SETTINGS, progress=change)
    kept = content(tmp_path / "lists")
    assert list(kept) == ["shard-000000"]
    shutil.rmtree(system)
    shutil.copytree(made / "system", system)
    resumed = make_lists(system, tmp_path / "lists", SETTINGS, resume=True)
    assert kept.items() <= content(resumed.base).items()


def test_a_system_that_was_trained_again(tmp_path):
    write_splits(tmp_path, 60, 1, 1, seed=8)
    text, system, lists = (tmp_path / "train.de", tmp_path / "train.en"), tmp_path / "system", tmp_path / "lists"
    train(*text, system, config=TrainConfig(settings=SystemSettings(n_folds=2)))
    settings = ListsSettings(k=4, lines_per_shard=16)
    make_lists(system, lists, settings)
    shutil.rmtree(system)
    train(*text, system, config=TrainConfig(settings=SystemSettings(n_folds=2, fold_seed=1)))
    with pytest.raises(InputError, match=r"other settings \(system\.grammar, system\.lm\.fold-0"):
        make_lists(system, lists, settings, resume=True)
    with pytest.raises(InputError, match=r"is not the system that the lists .* were made with"):
        ListsFolder.load(lists).open_system()


def test_the_system_of_lists_is_found_and_checked(made, copy, tmp_path):
    lists = ListsFolder.load(copy)
    assert lists.open_system().settings.features == ()
    (tmp_path / "system").unlink()
    with pytest.raises(InputError, match="`system`"):
        lists.open_system()
    assert lists.open_system(made / "system", features=["extended"]).settings.features == ("extended",)
    write_splits(tmp_path, 60, 1, 1, seed=6)
    other = tmp_path / "other"
    train(tmp_path / "train.de", tmp_path / "train.en", other, config=TrainConfig(settings=SystemSettings(n_folds=2)))
    with pytest.raises(InputError, match=r"other: is not the system that the lists .* were made with"):
        lists.open_system(other)
    plain = tmp_path / "plain"
    train(tmp_path / "train.de", tmp_path / "train.en", plain)
    with pytest.raises(InputError, match="`n_folds`"):
        make_lists(plain, tmp_path / "none", SETTINGS)
    assert not (tmp_path / "none").exists()


def test_an_edited_manifest_is_noticed(copy):
    record = json.loads((copy / "lists.json").read_text())
    record["n_candidates"] += 1
    (copy / "lists.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match="checksum"):
        ListsFolder.load(copy)


@pytest.mark.parametrize("name", ["lists.json", "weights.tsv", "shard-000002"])
def test_damage_is_never_used(copy, name):
    whole = (copy / name).read_bytes()
    for _ in damage(copy / name):
        if (copy / name).read_bytes() == whole:
            continue
        with pytest.raises(InputError, match=name):
            join_lists([copy], copy.parent / "joined")
    assert not (copy.parent / "joined").exists()


KILLS = """
import os, random, signal, sys, time
from pathlib import Path
from dragoman.sources.lists import ListsSettings, make_lists
from dragoman.system import System
system, base = map(Path, sys.argv[1:])
settings = ListsSettings(k=8, lines_per_shard=4)
System.load(system)

def start(folder):
    if not (child := os.fork()):
        make_lists(system, folder, settings, resume=True)
        os._exit(0)
    return child

began = time.monotonic()
os.waitpid(start(base / "whole"), 0)
lasted = time.monotonic() - began
whole = {path.name: path.read_bytes() for path in (base / "whole").iterdir() if path.name != "lock"}
rng = random.Random(1)
n_kills = n_whole = n_shards = 0
while n_kills < 20 or n_whole == 0:
    folder = base / f"run-{n_whole}"
    child = start(folder)
    time.sleep(lasted * rng.uniform(0.0, 0.5) if n_kills < 20 else 0)
    if n_kills < 20:
        os.kill(child, signal.SIGKILL)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    n_kills += killed
    if not killed:
        found = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}
        assert found == whole, sorted(found.items() ^ whole.items())
        n_whole += 1
    elif folder.exists():
        n_shards = max(n_shards, len(list(folder.glob("shard-*"))))
print(n_kills, n_whole, n_shards)
"""


def test_twenty_kills_at_random_moments(made, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLS, str(made / "system"), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    n_kills, n_whole, n_shards = map(int, done.stdout.split())
    assert n_kills == 20
    assert n_whole > 0
    assert n_shards > 1
