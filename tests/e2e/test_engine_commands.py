"""Workers as a user meets them: the same bytes, silence on standard output, clear refusals, Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from tests.kit.small_text import write_splits

from dragoman.lm import EstimateConfig
from dragoman.system import TrainConfig, train


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    write_splits(folder, 200, 30, 0, seed=4)
    config = TrainConfig(lm=EstimateConfig(order=3))
    train(folder / "train.de", folder / "train.en", folder / "system", config=config)
    return folder


def test_workers_translate_and_list_as_threads_do(made, inside):
    for extra in ([], ["--nbest", 5, "--format", "moses"]):
        alone = inside("translate", made / "system", "-i", made / "dev.de", "-q", *extra)
        shared = inside("translate", made / "system", "-i", made / "dev.de", "-q", "--workers", 2, *extra)
        assert shared.out == alone.out
        assert shared.err == alone.err


@pytest.mark.parametrize("method", [[], ["--method", "rm", "--online", "--set", "measure=live", "--keep", "last"]])
def test_workers_tune_as_threads_do(made, inside, tmp_path, method):
    files = ["--system", made / "system", "--source", made / "dev.de", "-r", made / "dev.en"]
    common = [*files, "--rounds", 2, "--k", 10, *method]
    inside("tune", *common, "-o", "alone", "-q")
    inside("tune", *common, "-o", "shared", "-q", "--workers", 2)
    assert (tmp_path / "shared" / "weights.tsv").read_bytes() == (tmp_path / "alone" / "weights.tsv").read_bytes()


def test_more_learners_than_sentences_are_refused(made, inside):
    words = ["tune", "--system", made / "system", "--source", made / "dev.de", "-r", made / "dev.en", "-o", "many"]
    refused = inside(*words, "--method", "mira", "--online", "--set", "learners=1000", status=2)
    assert "1000 learners for" in refused.err


def test_ray_says_nothing_on_standard_output(made, dragoman, cluster):
    alone = dragoman("translate", made / "system", "-i", made / "dev.de", "-q")
    shared = dragoman(
        "translate", made / "system", "-i", made / "dev.de", "-q", "--engine", "ray", "--address", cluster.address
    )
    assert (shared.out, shared.err) == (alone.out, alone.err)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--address", "127.0.0.1:1"], "--address names a Ray cluster; add --engine ray"),
        (["--engine", "ray", "--address", "127.0.0.1:1"], "nothing answers at 127.0.0.1:1"),
        (["--engine", "ray", "--address", "here"], "expected HOST:PORT"),
        (["--workers", "2", "--explain"], "leave out --explain and --forest"),
    ],
)
def test_contradictions_are_refused(made, inside, options, message):
    assert message in inside("translate", made / "system", "-i", made / "dev.de", *options, status=2).err


def test_workers_belong_to_what_decodes(made, inside, tmp_path):
    (tmp_path / "list").write_text("0 ||| a ||| lm= 1 ||| 1\n")
    words = ["tune", "--nbest", "list", "-r", made / "dev.en", "-o", "w.tsv", "--workers", 2]
    assert "--workers cannot be used with --nbest" in inside(*words, status=2).err


def test_ctrl_c_ends_the_workers_too(made):
    command = [sys.executable, "-m", "dragoman", "translate", made / "system", "--workers", "2"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # ignored in a background job
    ) as process:
        line = (made / "dev.de").read_bytes().splitlines()[0] + b"\n"
        process.stdin.write(line * 256 * 3)
        process.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)  # ends only when no worker has the pipe any more
        assert process.returncode != 0
        assert b"Traceback" not in err
