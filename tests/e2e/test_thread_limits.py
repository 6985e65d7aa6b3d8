"""Commands where the system grants fewer threads than asked for, as under `ulimit` or in a container."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

STACK = 1 << 29
ADDRESSES = 6 << 30
"""Room for what the commands map, and for a few stacks of threads."""


def limited():
    for limit, size in ((resource.RLIMIT_STACK, STACK), (resource.RLIMIT_AS, ADDRESSES)):
        resource.setrlimit(limit, (size, resource.getrlimit(limit)[1]))


def run(folder, words, **options):
    command = [sys.executable, "-m", "dragoman", *words.split()]
    # Libraries for linear algebra start threads of their own when they are imported.
    place = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=place, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder with a corpus, a system p and lists nb."""
    folder = tmp_path_factory.mktemp("here")
    run(folder, "corpus synth -n 200 --dev 60 --test 10 --references 1 -o c -q")
    run(folder, "train -s c/train.de -t c/train.en -o p -q")
    run(folder, "translate p -i c/dev.de --nbest 20 --format moses -o nb -q")
    return folder


TUNE = "tune --nbest nb -r c/dev.en --method cll --set batch=60 -q"


@pytest.mark.parametrize("words", ["translate p -i c/dev.de -q", TUNE], ids=["translate", "learn"])
def test_fewer_threads_than_asked_for_do_the_same(here, words):
    for name, threads, options in (("one", 1, {}), ("limited", 60, {"preexec_fn": limited})):
        run(here, f"{words} -o {name} --threads {threads}", **options)
    assert (here / "one").read_text() == (here / "limited").read_text() != ""
