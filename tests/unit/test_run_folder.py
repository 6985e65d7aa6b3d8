"""A run folder survives kills, refuses a second worker, and knows its settings."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
from dataclasses import dataclass

import pytest

from dragoman.errors import FailedError, InputError
from dragoman.run import RunFolder

SETTINGS = {"method": "mert", "seed": 1, "sizes": (1, 2)}


def add_round(run, text):
    with run.new_round() as folder:
        (folder / "weights.tsv").write_text(text)


def test_rounds_and_trace_come_back(tmp_path):
    with RunFolder.open(tmp_path / "r", SETTINGS) as run:
        add_round(run, "a")
        run.log("round", number=1)
    with RunFolder.open(tmp_path / "r", SETTINGS, resume=True) as run:
        add_round(run, "b")
        assert [(r / "weights.tsv").read_text() for r in run.rounds()] == ["a", "b"]
        assert [(e["event"], e["number"]) for e in run.trace()] == [("round", 1)]


@dataclass(frozen=True)
class Scored:
    name: str
    score: float
    notes: tuple[str, ...] = ()


def test_records_in_the_trace_have_checksums(tmp_path):
    records = [Scored("a", 0.25, ("x",)), Scored("b", 0.5)]
    with RunFolder.open(tmp_path / "r", SETTINGS) as run:
        for record in records:
            run.log_record("scored", record)
        run.log("end")
        assert run.records("scored", Scored) == records
        trace = tmp_path / "r" / "trace.jsonl"
        trace.write_text(trace.read_text().replace("0.25", "0.26"))
        with pytest.raises(InputError, match="trace.jsonl: does not match its checksum"):
            run.records("scored", Scored)


def test_settings_that_may_still_change(tmp_path):
    with RunFolder.open(tmp_path / "r", {"seed": 1, "options": {"k": 1, "m": 2}}) as run:
        add_round(run, "a")
    other = {"seed": 2, "options": {"k": 1, "m": 2}}
    with RunFolder.open(tmp_path / "r", other, resume=True, may_change=("seed",)) as run:
        assert len(run.rounds()) == 1
    with RunFolder.open(tmp_path / "r", other, resume=True):
        pass
    with (
        pytest.raises(InputError, match=r"other settings \(options.k\);"),
        RunFolder.open(tmp_path / "r", {"seed": 3, "options": {"k": 5, "m": 2}}, resume=True, may_change=("seed",)),
    ):
        pass


def test_a_failed_round_leaves_nothing(tmp_path):
    with RunFolder.open(tmp_path / "r", SETTINGS) as run:
        with pytest.raises(RuntimeError), run.new_round() as folder:
            (folder / "half").write_text("x")
            raise RuntimeError
        assert run.rounds() == []
        add_round(run, "a")
        assert sorted(p.name for p in run.rounds()[0].iterdir()) == ["weights.tsv"]


def test_an_existing_run_is_not_touched_without_resume(tmp_path):
    with RunFolder.open(tmp_path / "r", SETTINGS) as run:
        add_round(run, "a")
    with pytest.raises(InputError, match="`resume=True`"), RunFolder.open(tmp_path / "r", SETTINGS):
        pass


def test_other_settings_are_named(tmp_path):
    with RunFolder.open(tmp_path / "r", SETTINGS) as run:
        run.log("begun")
    with (
        pytest.raises(InputError, match="other settings .seed.;"),
        RunFolder.open(tmp_path / "r", SETTINGS | {"seed": 2}, resume=True),
    ):
        pass


def test_a_run_that_recorded_nothing_is_started_anew(tmp_path):
    with RunFolder.open(tmp_path / "r", SETTINGS):
        pass
    RunFolder.check(tmp_path / "r", SETTINGS | {"seed": 2})
    with RunFolder.open(tmp_path / "r", SETTINGS | {"seed": 2}) as run:
        add_round(run, "a")
    with RunFolder.open(tmp_path / "r", SETTINGS | {"seed": 2}, resume=True) as run:
        assert len(run.rounds()) == 1


def test_an_input_error_leaves_what_was_decoded(tmp_path):
    with pytest.raises(InputError), RunFolder.open(tmp_path / "new" / "r", SETTINGS):
        raise InputError("a typo")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError), RunFolder.open(tmp_path / "r", SETTINGS) as run:
        add_round(run, "hours of work")
        raise InputError("a typo")
    assert (tmp_path / "r" / "rounds" / "0001" / "weights.tsv").read_text() == "hours of work"


def test_a_folder_with_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="not empty"), RunFolder.open(tmp_path, SETTINGS):
        pass


def test_a_damaged_record_is_refused(tmp_path):
    with RunFolder.open(tmp_path / "r", SETTINGS) as run:
        run.log("begun")
    for content in ("{", "[]", '{"format": "dragoman-run", "version": 99}'):
        (tmp_path / "r" / "run.json").write_text(content)
        with pytest.raises(InputError), RunFolder.open(tmp_path / "r", SETTINGS, resume=True):
            pass


def test_a_second_process_is_told(tmp_path):
    with (
        RunFolder.open(tmp_path / "r", SETTINGS),
        pytest.raises(InputError, match=f"another process \\(id {os.getpid()}\\)"),
        RunFolder.open(tmp_path / "r", SETTINGS, resume=True),
    ):
        pass


def test_half_a_trace_line_is_dropped(tmp_path):
    with RunFolder.open(tmp_path / "r", SETTINGS) as run:
        run.log("one")
    with (tmp_path / "r" / "trace.jsonl").open("a") as stream:
        stream.write('{"event": "tw')
    with RunFolder.open(tmp_path / "r", SETTINGS, resume=True) as run:
        run.log("three")
        assert [e["event"] for e in run.trace()] == ["one", "three"]


def test_a_full_disk_is_a_clear_failure(tmp_path, monkeypatch):
    with RunFolder.open(tmp_path / "r", SETTINGS) as run:

        def full(_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(FailedError, match="No space left"):
            run.log("event")


def test_a_line_that_found_no_room_does_not_spoil_the_next(tmp_path, monkeypatch):
    with RunFolder.open(tmp_path / "r", SETTINGS) as run:
        run.log("one")

        def full(_):
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch, pytest.raises(FailedError, match="No space left"):
            patch.setattr(os, "fsync", full)
            run.log("two")
        run.log("three")
        assert (tmp_path / "r" / "trace.jsonl").read_bytes().count(b"\n") == 2
        assert [entry["event"] for entry in run.trace()] == ["one", "three"]


def test_a_spoilt_line_of_the_trace_is_left_out(tmp_path):
    with RunFolder.open(tmp_path / "r", SETTINGS) as run:
        run.log("one")
        with (tmp_path / "r" / "trace.jsonl").open("a") as stream:
            stream.write('{"event": "tw{"event": "three"}\n[1]\n')
        run.log("four")
        assert [entry["event"] for entry in run.trace()] == ["one", "four"]


def _work_forever(path, ready):
    with RunFolder.open(path, SETTINGS, resume=True) as run:
        while True:
            add_round(run, f"round {len(run.rounds()) + 1}")
            run.log("round")
            ready.set()


def test_killed_at_any_moment_rounds_are_whole(tmp_path):
    context = multiprocessing.get_context("spawn")
    for delay in (0.0, 0.003, 0.011):
        ready = context.Event()
        worker = context.Process(target=_work_forever, args=(tmp_path / "r", ready))
        worker.start()
        assert ready.wait(60)
        worker.join(delay)
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
    with RunFolder.open(tmp_path / "r", SETTINGS, resume=True) as run:
        texts = [(r / "weights.tsv").read_text() for r in run.rounds()]
        assert texts == [f"round {i + 1}" for i in range(len(texts))]
        assert len(texts) >= 3
        assert all(event["event"] == "round" for event in run.trace())


def test_killed_while_the_record_is_written_the_folder_is_still_free(tmp_path):
    (tmp_path / ".run.json.abc").write_text("{")
    with RunFolder.open(tmp_path, SETTINGS, resume=True) as run:
        assert run.rounds() == []
    assert not (tmp_path / ".run.json.abc").exists()


def test_a_stray_writer_of_a_killed_run_does_not_disturb_the_next(tmp_path):
    with RunFolder.open(tmp_path / "r", SETTINGS) as run, pytest.raises(RuntimeError), run.new_round() as old:
        raise RuntimeError
    with RunFolder.open(tmp_path / "r", SETTINGS, resume=True) as run, run.new_round() as new:
        assert new != old
        assert not old.exists()
