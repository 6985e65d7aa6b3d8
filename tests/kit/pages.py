"""Blocks of code in pages, and small files of the names that pages use."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.kit import toy_decoder

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

_BLOCK = re.compile(r"(?:^<!-- not run: (?P<why>.+) -->\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.DOTALL | re.M)


def blocks_of(page, language):
    """The blocks of a page as (code, reason not to run it or None)."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [(found["code"], found["why"]) for found in _BLOCK.finditer(text) if found["language"] == language]


def run_shell(script, folder):
    """What it printed; it must end well. Programs in the folder are found by name."""
    environment = {**ENVIRONMENT, "PATH": f"{ENVIRONMENT['PATH']}{os.pathsep}{folder}"}
    done = subprocess.run(
        ["bash", "-euc", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def write_lists(folder, *, n_sentences=12):
    """`dev.src`, `dev.ref`, and what two rounds and a test left: run1, run2, test .nbest.gz, run1.dense, run2.dense."""
    toy_decoder.write_task(folder, n_sentences=n_sentences)
    lines = (folder / "dev.src").read_text(encoding="utf-8").splitlines()
    for name, lm in (("run1", 0.3), ("run2", 0.6), ("test", 0.3)):
        weights = {"lm": lm, "words": -0.2, "swaps": 0.1}
        (folder / f"{name}.dense").write_text("".join(f"{key} {value}\n" for key, value in weights.items()))
        with gzip.open(folder / f"{name}.nbest.gz", "wt", encoding="utf-8") as stream:
            for sentence, line in enumerate(lines):
                for total, text, features in toy_decoder.ranked(line.split(), weights)[:20]:
                    stream.write(toy_decoder.line_of("moses", sentence, text, features, total) + "\n")


_DECODER = """#!/bin/sh
exec {python} {toy} "$1" "$3" "$5" "$6"
"""
_MOSES = """#!{python}
import subprocess, sys
words = sys.argv[1:]
config, source, lists = (words[words.index(name) + 1] for name in ("-config", "-input-file", "-n-best-list"))
weights = lists + ".dense"
lines = open(config).read().split("[weight]")[1].splitlines()
open(weights, "w").write("".join(line.replace("=", "") + "\\n" for line in lines if "=" in line))
sys.exit(subprocess.call([{python!r}, {toy!r}, source, weights, lists, words[words.index(lists) + 1]]))
"""


def write_programs(folder):
    """The toy decoder as `my-decoder SOURCE --weights W --nbest N K`, and as `bin/moses` with a `moses.ini`."""
    (folder / "bin").mkdir()
    for name, text in (("my-decoder", _DECODER), ("bin/moses", _MOSES)):
        (folder / name).write_text(text.format(python=sys.executable, toy=toy_decoder.__file__))
        (folder / name).chmod(0o755)
    (folder / "moses.ini").write_text("[feature]\nToyModel name=lm\n[weight]\nlm= 0.3\nwords= -0.2\nswaps= 0.1\n")
