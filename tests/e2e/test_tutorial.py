"""The commands of the tutorial, in its order, on a small corpus."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

TUTORIAL = Path(__file__).parent.parent.parent / "docs" / "tutorial.md"
SMALLER = [("-n 20000 --dev 500 --test 500", "-n 600 --dev 30 --test 20"), ("--rounds 5", "--rounds 1")]


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TUTORIAL.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_every_command_works(tmp_path):
    script = "".join(blocks("sh"))
    for long, short in SMALLER:
        assert long in script
        script = script.replace(long, short)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "after.out").read_text(encoding="utf-8").splitlines()) == 20
    assert "contribution" in done.stdout
    assert "files are as they were written" in done.stdout
    assert (tmp_path / "moses" / "moses.ini").exists()
    assert "[S] -> " in done.stdout
    assert (tmp_path / "hierarchical-again" / "system.json").exists()


def test_the_python_example_works(tmp_path, dragoman):
    dragoman("corpus", "synth", "-n", 300, "--dev", 15, "--test", 0, "--references", 2, "--raw", "-o", "corpus")
    (script,) = blocks("python")
    script = script.replace('"tuned")', '"tuned", config=TuneConfig(loop=LoopSettings(max_rounds=1)))')
    script = "from dragoman.tuning import LoopSettings, TuneConfig\n" + script
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 3
