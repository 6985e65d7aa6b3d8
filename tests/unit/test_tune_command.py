"""Foreign decoder commands: split without a shell, watched, ended with everything they started."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from dragoman.errors import FailedError, InputError
from dragoman.tuning.command import CommandTemplate


def python(code, **options):
    return CommandTemplate(template=f"'{sys.executable}' -c \"{code}\" {{weights}} {{nbest}}", **options)


def run(template, tmp_path, **more):
    template.run(tmp_path / "log", weights=tmp_path / "w", nbest=tmp_path / "n", **more)


def test_words_are_filled_and_no_shell_sees_them(tmp_path):
    template = CommandTemplate(template="dec -s {source} 'a b' --w={weights} {nbest} $(x) {k} {round} {seed} {{}}")
    words = template.fill(source="s p", weights="w;rm", nbest="n", k=100, round=2, seed=1)
    assert words == ["dec", "-s", "s p", "a b", "--w=w;rm", "n", "$(x)", "100", "2", "1", "{}"]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("", "empty"),
        ("dec {weights} {nbest} {temperature}", "unknown placeholder {temperature}; known are"),
        ("dec {weights}", "lacks {nbest}"),
        ("dec {nbest}", "lacks {weights}"),
        ("dec 'open {weights} {nbest}", "split"),
        ("dec {weights} {nbest} {", "stray brace"),
        ("dec {weights} {nbest} {0}", "unknown placeholder"),
        ("dec {weights.__class__} {nbest}", "unknown placeholder"),
    ],
)
def test_bad_templates(template, message):
    with pytest.raises(InputError, match=message):
        CommandTemplate(template=template)


def test_output_goes_to_the_log(tmp_path):
    run(python("import sys; print('hello', sys.argv[1])"), tmp_path)
    assert (tmp_path / "log").read_text() == f"hello {tmp_path / 'w'}\n"


def test_a_failing_decoder_shows_its_tail(tmp_path):
    with pytest.raises(FailedError, match=r"failed with status 3; its last output:\nline 99"):
        run(python("import sys; print('line 99'); sys.exit(3)"), tmp_path)


def test_a_missing_decoder(tmp_path):
    with pytest.raises(FailedError, match="'no-such-decoder' cannot be started"):
        run(CommandTemplate(template="no-such-decoder {weights} {nbest}"), tmp_path)


def test_a_hanging_decoder_and_its_children_are_ended(tmp_path):
    code = (
        "import subprocess, sys, time; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
        "print(child.pid, flush=True); time.sleep(600)"
    )
    with pytest.raises(FailedError, match=r"still running after 1\.5 s"):
        run(python(code, timeout_s=1.5), tmp_path)
    child = int((tmp_path / "log").read_text())
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            break
        if Path(f"/proc/{child}/stat").read_text().split()[2] == "Z":
            break
        time.sleep(0.05)
    else:
        pytest.fail("the child lives on")


def test_killed_by_a_signal(tmp_path):
    with pytest.raises(FailedError, match="ended by signal 9; it wrote nothing"):
        run(python("import os; os.kill(os.getpid(), 9)"), tmp_path)
