"""Engines on this machine: order, errors, lost workers, Ctrl-C."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from tests.kit.engine_jobs import Deadly, Failing, Hanging, Square, Vectors, Writing

from dragoman.errors import FailedError, InputError
from dragoman.work.engine import LocalEngine, open_engine
from dragoman.work.engine.folders import FolderCopy
from dragoman.work.engine.patience import Durations, Patience
from dragoman.work.engine.processes import ProcessEngine

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def processes():
    with ProcessEngine(2, n_threads=3) as engine:
        yield engine


def test_results_come_in_order(processes):
    found = list(processes.map(Square(0.01), range(25)))
    assert [square for square, _, _ in found] == [n * n for n in range(25)]
    workers = {pid for _, pid, _ in found}
    assert len(workers) == 2
    assert os.getpid() not in workers
    assert {threads for _, _, threads in found} == {3}


def test_workers_stay_from_map_to_map(processes):
    first = {pid for _, pid, _ in processes.map(Square(0.02), range(8))}
    assert {pid for _, pid, _ in processes.map(Square(0.02), range(8))} == first


def test_no_items_give_no_results(processes):
    assert list(processes.map(Square(), [])) == []


def test_items_are_taken_as_they_are_wanted(processes):
    taken = itertools.count()
    results = processes.map(Square(), (next(taken) for _ in itertools.repeat(None)))
    for _ in range(5):
        next(results)
    results.close()
    assert next(taken) <= 5 + 2 * processes.n_workers
    assert [square for square, _, _ in processes.map(Square(), [3, 4])] == [9, 16]


@pytest.mark.parametrize("n", [0, 1, 5, 9])
def test_items_that_end_with_an_error_give_the_results_before_it(processes, n):
    def items():
        yield from range(n)
        raise InputError("is not UTF-8")

    results = processes.map(Square(), items())
    assert [next(results)[0] for _ in range(n)] == [i * i for i in range(n)]
    with pytest.raises(InputError, match="UTF-8"):
        next(results)


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_bits_do_not_depend_on_the_workers(n_workers):
    job = Vectors(1000)
    expected = list(LocalEngine().map(job, range(6)))
    with ProcessEngine(n_workers) as engine:
        found = list(engine.map(job, range(6)))
    assert [one.tobytes() for one in found] == [one.tobytes() for one in expected]
    assert all(one.flags.writeable for one in found)


def test_errors_travel_with_their_type(processes):
    results = processes.map(Failing("input"), range(9))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(InputError, match="is wrong") as caught:
        next(results)
    assert (caught.value.path, caught.value.line) == ("dev.de", 7)
    with pytest.raises(InputError, match="somewhere: cannot be opened"):
        list(processes.map(Failing("open"), range(9)))
    with pytest.raises(KeyError) as error:
        list(processes.map(Failing("other"), range(9)))
    assert "engine_jobs.py" in error.value.__notes__[0]
    with pytest.raises(FailedError, match="NoPickleError in a worker: 1 2"):
        list(processes.map(Failing("unpicklable"), range(9)))
    assert [square for square, _, _ in processes.map(Square(), range(3))] == [0, 1, 4]


def test_an_error_while_items_are_taken_is_raised_here(processes):
    def items():
        yield 1
        raise InputError("no more")

    with pytest.raises(InputError, match="no more"):
        list(processes.map(Square(), items()))


def test_a_lost_worker_is_replaced(processes, tmp_path):
    assert list(processes.map(Deadly(tmp_path, at=4, times=2), range(9))) == [10 * n for n in range(9)]
    assert len(list(tmp_path.iterdir())) == 2


def test_an_item_that_kills_every_worker_is_given_up(processes, tmp_path):
    with pytest.raises(FailedError, match="3 workers were lost, one after the other, at item 4 .*SIGKILL"):
        list(processes.map(Deadly(tmp_path, at=4, times=99), range(9)))
    assert [square for square, _, _ in processes.map(Square(), range(3))] == [0, 1, 4]


IMPATIENT = Patience(times=3, least_s=0.5, first_s=1)


def gone(pids):
    """Whether these processes end within some seconds."""
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.mark.parametrize(("n_workers", "times"), [(1, 1), (2, 1), (3, 2)])
def test_what_a_worker_hangs_at_is_done_again_by_another(tmp_path, n_workers, times):
    """A single worker gets a spare one. Twice: the second worker that is given the item hangs as well."""
    said = []
    with ProcessEngine(n_workers, patience=IMPATIENT, warn=said.append) as engine:
        assert list(engine.map(Hanging(tmp_path, at=5, times=times), range(20))) == [10 * n for n in range(20)]
        hung = [int(mark.name) for mark in tmp_path.iterdir()]
        assert len(hung) == times
        assert all(any(f"worker process {pid} has been at item 5 for" in one for one in said) for pid in hung)
        assert gone(hung)
        pids = {pid for _, pid, _ in engine.map(Square(0.05), range(3 * n_workers))}
        assert len(pids) <= n_workers
    assert gone(pids)


def test_one_that_hangs_does_not_hold_up_the_next_work(tmp_path):
    """Nobody waits for the item any more: its worker is ended, and a new one takes its place."""
    with ProcessEngine(1, patience=IMPATIENT) as engine:
        results = engine.map(Hanging(tmp_path, at=1), range(3))
        assert next(results) == 0
        results.close()
        while not list(tmp_path.iterdir()):
            time.sleep(0.02)
        assert [square for square, _, _ in engine.map(Square(), [3])] == [9]


def test_before_an_item_is_done_a_late_worker_is_told_and_waited_for():
    said = []
    with ProcessEngine(1, patience=Patience(first_s=0.3), warn=said.append) as engine:
        assert [square for square, _, _ in engine.map(Square(1.0), [1])] == [1]
    assert len(said) == 1
    assert "(none is done yet); it is waited for" in said[0]


def test_items_that_write_are_not_done_twice(tmp_path):
    said = []
    with ProcessEngine(2, patience=IMPATIENT, warn=said.append) as engine:
        assert list(engine.map(Writing(tmp_path, 2.0), range(6))) == list(range(6))
    assert len(list(tmp_path.iterdir())) == 6
    assert ["it is waited for" in one for one in said] == [True]


def test_first_items_of_workers_have_a_limit_of_their_own():
    durations, patience = Durations(), Patience(times=10, least_s=5, first_s=100)
    assert patience.limit_s(durations.median(opening=True)) == 100
    durations.add(3, opening=True)
    assert patience.limit_s(durations.median(opening=False)) == 30
    for seconds in (0.6, 0.2, 0.7):
        durations.add(seconds, opening=False)
    assert patience.limit_s(durations.median(opening=False)) == 6
    assert patience.limit_s(durations.median(opening=True)) == 30


def test_closing_ends_the_workers():
    engine = ProcessEngine(2)
    pids = {pid for _, pid, _ in engine.map(Square(0.05), range(6))}
    engine.close()
    engine.close()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    with pytest.raises(ValueError, match="closed"):
        next(engine.map(Square(), [1]))


def test_files_of_the_current_folder_are_not_imported(tmp_path, monkeypatch):
    for name in ("pickle", "queue", "dragoman"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(ROOT), *(path for path in sys.path if path)])
    with ProcessEngine(1) as engine:
        assert [square for square, _, _ in engine.map(Square(), [3])] == [9]


def test_whoever_wants_results_of_a_closed_engine_does_not_wait_for_ever():
    engine = ProcessEngine(2)
    results = engine.map(Square(0.05), range(20))
    assert next(results)[0] == 0
    engine.close()
    with pytest.raises(ValueError, match="closed before all results"):
        list(results)


ENDLESS = """
import signal, sys
from dragoman.work.engine.patience import Durations, Patience
from dragoman.work.engine.processes import ProcessEngine
from tests.kit.engine_jobs import Square
signal.signal(signal.SIGINT, signal.default_int_handler)
with ProcessEngine(2) as engine:
    pids = {pid for _, pid, _ in engine.map(Square(0.05), range(6))}
    print(*pids, flush=True)
    try:
        list(engine.map(Square(1000.0), range(1, 6)))
    except KeyboardInterrupt:
        sys.exit(77)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(how):
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert len(pids) == 2
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(how)
        assert process.wait(20) == (77 if how is signal.SIGINT else -signal.SIGKILL)
        assert process.stderr.read() == ""
    assert gone(pids)


def test_copies_of_a_folder_are_shared_and_the_last_user_removes_them(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first = FolderCopy("/far/away", "1234")
    assert first.is_new
    waiting = threading.Thread(target=lambda: others.append(FolderCopy("/far/away", "1234")))
    others = []
    waiting.start()
    first.write("a/file", b"one ")
    first.write("a/file", b"two")
    first.write("a/empty", b"")
    assert not others
    first.finish("a")
    waiting.join(10)
    assert not others[0].is_new
    assert first.folder == others[0].folder
    first.release()
    assert (others[0].folder / "file").read_bytes() == b"one two"
    assert FolderCopy("/far/away", "5678").is_new
    name = first.folder.parents[1].name
    others[0].release()
    killed = FolderCopy("/far/away", "1234")  # as if its process had been killed: the lock is lost, the files are there
    killed.write("a/file", b"half")
    os.close(killed._lock)
    again = FolderCopy("/far/away", "1234")
    assert again.is_new
    again.write("a/file", b"whole")
    again.finish("a")
    assert (again.folder / "file").read_bytes() == b"whole"
    again.release()
    assert not list(tmp_path.glob(f"{name}*"))


def test_engines_by_name():
    assert isinstance(open_engine(n_threads=2), LocalEngine)
    with open_engine("local", n_workers=2) as engine:
        assert isinstance(engine, ProcessEngine)
        assert engine.n_threads >= 1
    with pytest.raises(InputError, match="choose the engine ray"):
        open_engine("local", address="host:6379")
