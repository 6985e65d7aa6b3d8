"""Files are replaced whole; what killed writers leave is used by the next one."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys

import pytest

from dragoman.errors import FailedError
from dragoman.text import open_output, replace_bytes

WRITING = """
import sys, time
from dragoman.text import open_output
with open_output(sys.argv[1]) as output:
    output.write("half")
    print("ready", flush=True)
    time.sleep(600)
"""


def writer(path):
    process = subprocess.Popen([sys.executable, "-c", WRITING, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def end(process, how=signal.SIGKILL):
    process.send_signal(how)
    process.wait(20)
    process.stdout.close()


@pytest.mark.parametrize("name", ["out", "out.gz", "[o]*ut"])
def test_what_killed_writers_left_is_gone_after_the_next_write(tmp_path, name):
    target = tmp_path / name
    killed = [writer(target), writer(target)]
    for process in killed:
        end(process)
    assert len(list(tmp_path.iterdir())) == 2
    replace_bytes(target, b"last")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert target.read_bytes() == b"last"


def test_the_file_of_a_living_writer_stays(tmp_path):
    target = tmp_path / "out"
    alive = writer(target)
    try:
        end(writer(target))
        with open_output(target) as output:
            output.write("whole")
        assert len(list(tmp_path.iterdir())) == 2
        assert alive.poll() is None
    finally:
        end(alive)
    assert target.read_text() == "whole\n"


def test_writers_at_the_same_time_do_not_meet(tmp_path):
    target = tmp_path / "out"
    with open_output(target) as first:
        first.write("first")
        with open_output(target) as second:
            second.write("second")
        assert target.read_text() == "second\n"
        replace_bytes(target, b"third\n")
        first.write("more")
    assert target.read_text() == "first\nmore\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_files_of_others_are_left_alone(tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("kept")
    (tmp_path / ".out.0.part").symlink_to(kept)
    (tmp_path / ".out.1.part").mkdir()
    os.mkfifo(tmp_path / ".out.2.part")
    (tmp_path / ".out.settings").write_text("mine")
    replace_bytes(tmp_path / "out", b"new")
    assert (tmp_path / "out").read_bytes() == b"new"
    assert not (tmp_path / "out").is_symlink()
    assert kept.read_text() == "kept"
    assert len(list(tmp_path.iterdir())) == 6


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    replace_bytes(tmp_path / "out", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_block_that_raises_leaves_the_old_content(tmp_path):
    target = tmp_path / "out"
    target.write_text("old")
    with pytest.raises(FailedError, match="cannot be written: No space"), open_output(target) as output:
        output.write("new")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert target.read_text() == "old"
