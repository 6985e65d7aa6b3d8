"""What people do to commands: outputs that are devices, closed streams, huge numbers, damaged systems."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder with a corpus, a system p and lists nb."""
    folder = tmp_path_factory.mktemp("here")
    for words in (
        "corpus synth -n 200 --dev 10 --test 10 --references 1 -o c",
        "train -s c/train.de -t c/train.en -o p",
        "translate p -i c/dev.de --nbest 20 --format moses -o nb",
    ):
        assert call(folder, *words.split(), "-q").returncode == 0
    return folder


def call(folder, *words, **streams):
    command = [sys.executable, "-m", "dragoman", *map(str, words)]
    options = {"stdout": subprocess.PIPE, "stdin": subprocess.DEVNULL, **streams}
    return subprocess.run(command, cwd=folder, stderr=subprocess.PIPE, text=True, check=False, **options)


def told(done):
    """The error message, in one line."""
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


@pytest.fixture
def refused(here, inside, monkeypatch):
    """The message of a command that is refused, without a process of its own."""
    monkeypatch.chdir(here)
    return lambda words: " ".join(inside(*words, status=2).err.split())


def test_links_and_pipes_stay_what_they_are(here):
    (here / "real").write_text("old\n")
    (here / "link").symlink_to("real")
    assert call(here, "translate", "p", "-i", "c/dev.de", "-o", "link").returncode == 0
    assert (here / "link").is_symlink()
    expected = (here / "real").read_text()
    assert len(expected.splitlines()) == 10
    os.mkfifo(here / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((here / "pipe").read_text()))
    reader.start()
    assert call(here, "translate", "p", "-i", "c/dev.de", "-o", "pipe").returncode == 0
    reader.join(timeout=20)
    assert read == [expected]
    assert (here / "pipe").is_fifo()
    assert call(here, "translate", "p", "-i", "c/dev.de", "-o", "/dev/stdout").stdout == expected
    assert not list(here.glob(".*"))


SAME = {
    "corpus clean -s c/dev.de -t c/dev.en --out-source x --out-target x": "--out-source and --out-target both write",
    "corpus clean -s c/dev.de -t c/dev.en --out-source - --out-target -": "both write to -",
    "corpus clean -s c/dev.de -t c/dev.en --out-source x --out-tsv y": "say where the result goes",
    "corpus clean -s - -t - --out-tsv y": "standard input can be read once",
    "align -s c/dev.de -t c/dev.en -o x --forward ./x": "--out and --forward both write to",
    "lm train -i c/dev.en -o x --arpa x": "--out and --arpa both write to",
    "lm train -i c/dev.en -o -": "cannot go to standard output",
    "lm query p/lm.bin -i c/dev.en --per-sentence - --json": "standard output holds the JSON object",
    "translate p -i c/dev.de --forest f --format jsonl": "leave out --nbest and --format",
    "translate p -i c/dev.de --distinct": "add --nbest",
    "corpus stats ": "empty file name",
}


@pytest.mark.parametrize(("words", "message"), SAME.items(), ids=SAME)
def test_options_that_do_not_fit_together(here, refused, words, message):
    assert message in refused(words.split(" "))
    assert not (here / "x").exists()


def test_streams_that_are_full_or_closed(here):
    with Path("/dev/full").open("w") as full:
        for words in ("translate p -i c/dev.de", "corpus stats c/dev.de --json", "system info p", "corpus --help"):
            done = call(here, *words.split(), stdout=full)
            assert (done.returncode, "No space left on device" in told(done)) == (1, True), words
    shell = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "dragoman"]
    for words in ("translate p -i c/dev.de", "system info p --json"):
        done = subprocess.run([*shell, *words.split()], cwd=here, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, "standard output: cannot be" in told(done)) == (1, True), words
    shell[2] = 'exec "$@" <&-'
    done = subprocess.run([*shell, "translate", "p"], cwd=here, capture_output=True, text=True, check=False)
    assert (done.returncode, "standard input is closed" in told(done)) == (2, True)


def test_names_that_the_locale_cannot_hold(here):
    (here / "ü.de").write_text("ein haus\n")
    place = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = call(here, "corpus", "stats", "ü.de", env=place)
    assert done.returncode == 0, done.stderr


HUGE = 999_999_999_999_999_999_999
LARGE = {
    f"translate p -i c/dev.de --threads {HUGE}": "--threads",
    f"translate p -i c/dev.de --nbest {HUGE}": "--nbest",
    f"lm train -i c/dev.en -o x --prune 0 --prune {HUGE}": "--prune",
    f"tune --nbest nb -r c/dev.en -o x --seed {HUGE}": "--seed",
    f"tune --nbest nb -r c/dev.en -o x --set max_passes={HUGE}": "max_passes",
    "tune --nbest nb -r c/dev.en -o x --method mira --set batch=2147483648": "batch",
    f"train -s c/dev.de -t c/dev.en -o x --distortion-limit {HUGE}": "--distortion-limit",
    "score c/dev.en -r c/dev.en --trials 2000000": "--trials",
    "score c/dev.en -r c/dev.en --bootstrap 2000000": "--bootstrap",
}


@pytest.mark.parametrize(("words", "named"), LARGE.items(), ids=LARGE)
def test_numbers_that_are_too_great(here, refused, words, named):
    message = refused(words.split())
    assert named in message
    assert "the maximum is" in message
    assert not (here / "x").exists()


def test_any_distortion_limit_will_do(here, inside, monkeypatch):
    monkeypatch.chdir(here)
    expected = None
    for limit in (1000, 2**31 - 1):
        out = f"far{limit}"
        inside("train", "-s", "c/train.de", "-t", "c/train.en", "-o", out, "--distortion-limit", limit, "-q")
        found = inside("translate", out, "-i", "c/dev.de", "-q").out
        assert all(found.splitlines())
        expected = expected or found
        assert found == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [("foo\t5\n", "no weight of a feature of the system"), ("lm\t0\n", "no weight"), ("lm\t1e308\n", "too great")],
)
def test_weights_that_are_none(here, refused, text, message):
    (here / "w").write_text(text)
    assert message in refused(["translate", "p", "-i", "c/dev.de", "--weights", "w"])


def test_a_tuning_that_could_not_begin_can_be_begun_again(here):
    words = ("tune", "--system", "p", "--source", "c/dev.de", "--rounds", 1, "-o", "t")
    assert call(here, *words, "-r", "c/train.en").returncode == 2
    assert call(here, *words, "-r", "c/dev.en", "--freeze", "nobody").returncode == 2
    assert call(here, *words, "-r", "c/dev.en").returncode == 0
    assert call(here, *words[:-1], "v", "-r", "c/dev.en", "--features", "word_pear").returncode == 2
    assert not (here / "v").exists()
    (here / "none").write_text("")
    done = call(here, "tune", "--system", "p", "--source", "none", "-r", "none", "-o", "u")
    assert done.returncode == 2
    assert "has no words" in told(done)


def test_tables_that_are_damaged_or_empty(here):
    call(here, "train", "-s", "c/train.de", "-t", "c/train.en", "-o", "d", "-q")
    file = here / "d/grammar/target_counts.values"
    content = bytearray(file.read_bytes())
    content[:4096] = bytes(len(content[:4096]))
    file.write_bytes(content)
    done = call(here, "translate", "d", "-i", "c/dev.de")
    assert done.returncode == 2
    assert "may be damaged: see `dragoman system verify`" in told(done)
    call(here, "system", "export", "p", "-o", "e")
    (here / "e/phrase-table.gz").unlink()
    (here / "e/phrase-table").write_text("")
    done = call(here, "train", "--import", "e", "-o", "i")
    assert done.returncode == 2
    assert "has no phrase pairs" in told(done)
