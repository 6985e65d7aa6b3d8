"""Run the command as a user does: another process, its status and what it prints."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

import pytest

from dragoman.cli import main


@dataclass
class Outcome:
    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def dragoman(tmp_path):
    """dragoman("corpus", "stats", ...) in an empty folder."""

    def run(*words, text: str | bytes = b"", status: int = 0):
        data = text.encode("utf-8") if isinstance(text, str) else text
        done = subprocess.run(
            [sys.executable, "-m", "dragoman", *map(str, words)],
            cwd=tmp_path,
            input=data,
            capture_output=True,
            check=False,
        )
        outcome = Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert outcome.status == status, outcome
        assert "Traceback" not in outcome.err, outcome.err
        return outcome

    return run


@pytest.fixture
def inside(tmp_path, monkeypatch, capsys):
    """The same in this process, without the time that it takes to start one."""
    monkeypatch.chdir(tmp_path)

    def run(*words, status: int = 0):
        capsys.readouterr()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["dragoman", *map(str, words)])
            with pytest.raises(SystemExit) as left:
                main()
        outcome = Outcome(left.value.code or 0, *capsys.readouterr())
        assert outcome.status == status, outcome
        return outcome

    return run
