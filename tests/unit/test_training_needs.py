"""What training says it needs, and what it does within a limit of memory."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.kit.small_text import write_lines

from dragoman.align import AlignConfig
from dragoman.corpus import Bitext
from dragoman.cost import allocated_bytes, format_bytes, free_unused, peak_allocated
from dragoman.errors import InputError
from dragoman.lm import EstimateConfig
from dragoman.settings import parse_bytes
from dragoman.system import HieroSettings, PhraseSettings, SystemSettings, TrainConfig, train
from dragoman.system.needs import TextSize, plan_training
from dragoman.system.stages import Silent

CONFIG = TrainConfig(raw=False)


class Listener(Silent):
    def __init__(self):
        self.said = []

    def say(self, text):
        self.said.append(text)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Sentences of random words, many enough that extraction spills with little memory."""
    folder = tmp_path_factory.mktemp("text")
    rng = np.random.default_rng(3)
    for side in "st":
        lines = [[f"{side}{int(word)}" for word in row] for row in rng.integers(0, 300, (4000, 12))]
        write_lines(folder / side, map(" ".join, lines))
    return folder


def test_the_size_of_a_text(text, tmp_path):
    bitext = Bitext.build(text / "s", text / "t", tmp_path / "b")
    size = TextSize.of(bitext, 200)
    sides = [[line.split() for line in (text / name).read_text().splitlines()] for name in "st"]
    assert size.n_pairs == 4000
    assert size.n_words == (48_000, 48_000)
    assert size.n_cells == sum(len(s) * len(t) for s, t in zip(*sides, strict=True))
    together = {(f, e) for s, t in zip(*sides, strict=True) for f in s for e in t}
    assert size.n_word_pairs == pytest.approx(len(together), rel=0.1)
    assert TextSize.of(bitext, 11).n_cells == 0


def size_of(n_pairs, length=25):
    n_words = n_pairs * length
    return TextSize(n_pairs=n_pairs, n_words=(n_words, n_words), n_cells=n_words * length, n_word_pairs=n_words)


@pytest.mark.parametrize("model", [PhraseSettings(), HieroSettings()])
def test_plans(model):
    config = TrainConfig(raw=False, settings=SystemSettings(model=model))
    small, large = (plan_training(size_of(n), config, n_threads=4, resident=50 << 20) for n in (50_000, 150_000))
    assert [need.stage for need in small.needs] == ["alignment", "grammar", "language model"]
    assert small.memory < large.memory
    assert 2 < large.disk / small.disk < 4
    limit = int(0.75 * large.memory)
    plan = plan_training(size_of(150_000), config, n_threads=4, resident=50 << 20, limit=limit)
    assert plan.memory <= limit
    assert plan.max_memory_bytes < limit
    assert plan.needs[1].scratch > large.needs[1].scratch
    tight = plan_training(
        size_of(150_000), config, n_threads=64, resident=50 << 20, limit=max(need.least for need in large.needs) + 4096
    )
    assert tight.n_threads < 64
    with pytest.raises(InputError, match="needs at least about"):
        plan_training(size_of(150_000), config, n_threads=4, resident=50 << 20, limit=100 << 20)


def test_what_is_given_needs_nothing():
    plan = plan_training(size_of(1000), CONFIG, n_threads=1, resident=0, align=False, lm=False)
    assert [need.stage for need in plan.needs] == ["grammar"]
    more = [
        plan_training(size_of(1000), config, n_threads=1, resident=0, n_lm_words=n).needs[-1].memory
        for config in (CONFIG, TrainConfig(raw=False, lm=EstimateConfig(order=3)))
        for n in (0, 1_000_000)
    ]
    assert more[0] < more[1] > more[3] > more[2]
    assert more[0] > more[2]
    other = TrainConfig(raw=False, alignment=AlignConfig(max_length=10))
    assert plan_training(size_of(1000), other, n_threads=1, resident=0).needs[0].memory > 0


def test_training_stays_within_its_memory(text, tmp_path):
    """Little memory gives the same tables, by scratch files, and what was allocated is recorded."""
    heard = Listener()
    config = TrainConfig(raw=False, settings=SystemSettings(), lm=EstimateConfig(order=3))
    free = train(text / "s", text / "t", tmp_path / "free", config=config, monitor=heard)
    (told,) = [line for line in heard.said if "will need about" in line]
    assert "of disk" in told
    free_unused()
    limit = allocated_bytes() + (90 << 20)
    heard = Listener()
    bound = train(text / "s", text / "t", tmp_path / "bound", config=config, memory=limit, n_threads=2, monitor=heard)
    assert not [line for line in heard.said if "memory" in line and "warning" in line]
    events = [json.loads(line) for line in (tmp_path / "bound/train/trace.jsonl").read_text().splitlines()]
    peaks = [event["allocated_bytes"] for event in events if event["event"] == "stage"]
    assert len(peaks) == 4
    assert max(peaks) <= limit
    for name in ("lm.bin", "weights.tsv"):
        assert (tmp_path / "bound" / name).read_bytes() == (tmp_path / "free" / name).read_bytes()
    assert len(bound.grammar) == len(free.grammar)
    assert list(bound.translate(["s1 s2 s3"])) == list(free.translate(["s1 s2 s3"]))
    with pytest.raises(InputError, match=r"alignment needs at least|grammar needs at least"):
        train(text / "s", text / "t", tmp_path / "small", config=config, memory=16 << 20)
    train(text / "s", text / "t", tmp_path / "small", config=config, resume=True)


def test_several_files_are_one_text(text, tmp_path):
    for side in "st":
        lines = (text / side).read_text().splitlines()[:300]
        write_lines(tmp_path / f"one.{side}", lines[:100])
        write_lines(tmp_path / f"two.{side}", lines[100:])
        write_lines(tmp_path / f"all.{side}", lines)
    config = TrainConfig(raw=False, settings=SystemSettings(n_folds=2), lm=EstimateConfig(order=2))
    sides = [[tmp_path / f"{name}.{side}" for name in ("one", "two")] for side in "st"]
    apart = train(*sides, tmp_path / "apart", config=config)
    joined = train(tmp_path / "all.s", tmp_path / "all.t", tmp_path / "joined", config=config)
    assert len(apart.training) == 300
    for name in ("lm.bin", "grammar/events", "training/links.zst"):
        assert (apart.folder / name).read_bytes() == (joined.folder / name).read_bytes()
    with pytest.raises(InputError, match="2 source files but 1 target files"):
        train(sides[0], sides[1][:1], tmp_path / "x", config=config)
    with pytest.raises(InputError, match=r"one\.s has 100, .*two\.t has 200"):
        train(sides[0], sides[1][::-1], tmp_path / "x", config=config)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("text", "size"), [("500", 500), ("2k", 2048), ("500M", 500 << 20), ("1.5GiB", 3 << 29), ("1 tb", 1 << 40)]
)
def test_sizes(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "0", "1X", "1e9"])
def test_bad_sizes(text):
    with pytest.raises(InputError, match="is no size"):
        parse_bytes(text)


def test_sizes_are_shown():
    assert [format_bytes(n) for n in (5, 1536, 3 << 29, 200 << 30)] == ["5 bytes", "1.5 KiB", "1.5 GiB", "200 GiB"]


def test_the_peak_of_what_is_allocated():
    with peak_allocated() as peak:
        before = peak()
        data = np.ones(8 << 20)
        for _ in range(50):
            data += 1.0
        del data
    assert peak() - before >= 50 << 20
