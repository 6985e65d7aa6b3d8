"""The cache of stages: found by content, made whole, made again when damaged."""

from __future__ import annotations

import multiprocessing
import os
import time

import pytest

from dragoman.errors import FailedError
from dragoman.experiments.cache import Cache, StageKey


def key(**settings):
    return StageKey(stage="stage", settings=settings, inputs={"text": "abc"})


class Work:
    """Writes two files and counts how often."""

    def __init__(self, content="content"):
        self.n_calls = 0
        self.content = content

    def __call__(self, folder):
        self.n_calls += 1
        (folder / "inner").mkdir()
        (folder / "inner" / "a").write_text(self.content)
        (folder / "b").write_bytes(bytes(1000))


def entries(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "locks")


def test_a_result_is_made_once(tmp_path):
    work = Work()
    first = Cache(tmp_path / "c").make(key(a=1), work)
    assert not first.cost.cached
    again = Cache(tmp_path / "c").make(key(a=1), work)
    assert again.cost.cached
    assert (again.folder, again.cost.wall_s, work.n_calls) == (first.folder, first.cost.wall_s, 1)
    assert (again.folder / "inner" / "a").read_text() == "content"
    other = Cache(tmp_path / "c").make(key(a=2), work)
    assert other.folder != first.folder
    assert work.n_calls == 2
    assert Cache(tmp_path / "c").has(key(a=1))
    assert not Cache(tmp_path / "c").has(key(a=3))


def test_keys_depend_on_all_of_their_parts():
    keys = [
        key(a=1),
        key(a=2),
        key(b=1),
        StageKey(stage="other", settings={"a": 1}, inputs={"text": "abc"}),
        StageKey(stage="stage", settings={"a": 1}, inputs={"text": "abd"}),
    ]
    assert len({one.hash for one in keys}) == len(keys)
    assert key(a=1, b=2).hash == key(b=2, a=1).hash


DAMAGE = {
    "changed": lambda folder: (folder / "b").write_bytes(bytes(999) + b"x"),
    "shorter": lambda folder: (folder / "b").write_bytes(bytes(10)),
    "missing file": lambda folder: (folder / "inner" / "a").unlink(),
    "missing record": lambda folder: (folder / "entry.json").unlink(),
    "half a record": lambda folder: (folder / "entry.json").write_text('{"key"'),
    "another record": lambda folder: (folder / "entry.json").write_text("[]"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_result_is_noticed_and_made_again(tmp_path, damage):
    work, said = Work(), []
    made = Cache(tmp_path).make(key(), work)
    damage(made.folder)
    again = Cache(tmp_path, said.append).make(key(), work)
    assert work.n_calls == 2
    assert "is damaged" in said[0]
    assert (again.folder / "inner" / "a").read_text() == "content"
    assert len((again.folder / "b").read_bytes()) == 1000
    assert Cache(tmp_path).make(key(), work).cost.cached
    assert entries(tmp_path) == [made.hash]


def test_work_that_fails_leaves_nothing(tmp_path):
    def fail(folder):
        (folder / "half").write_text("x")
        raise OSError(28, "No space left on device")

    with pytest.raises(FailedError, match=r"cannot be written: No space left"):
        Cache(tmp_path).make(key(), fail)
    assert entries(tmp_path) == []
    with pytest.raises(ZeroDivisionError):
        Cache(tmp_path).make(key(), lambda _: 1 // 0)
    assert entries(tmp_path) == []
    assert not Cache(tmp_path).make(key(), Work()).cost.cached


def test_what_a_killed_process_left_is_swept(tmp_path):
    (tmp_path / f".{key().hash}.abc").mkdir()
    (tmp_path / f".{key().hash}.abc" / "half").write_text("x")
    made = Cache(tmp_path).make(key(), Work())
    assert entries(tmp_path) == [made.hash]


def make_slowly(folder, queue):
    def work(scratch):
        queue.put("made")
        time.sleep(0.5)
        (scratch / "by").write_text(str(os.getpid()))

    made = Cache(folder, lambda text: queue.put("waits" if "another process" in text else text)).make(key(), work)
    queue.put((made.folder / "by").read_text())


def test_two_processes_make_a_result_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    workers = [context.Process(target=make_slowly, args=(tmp_path, queue)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    said = [queue.get(timeout=60) for _ in range(3)]
    assert said.count("made") == 1
    said += [queue.get(timeout=60)] if "waits" in said else []
    results = [text for text in said if text not in ("made", "waits")]
    assert len(results) == 2
    assert len(set(results)) == 1
