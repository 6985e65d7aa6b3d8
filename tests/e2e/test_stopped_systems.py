"""What cannot become a system is told before anything takes long; what is no system yet says so to every command."""

from __future__ import annotations

import pytest
from tests.kit.small_raw import write_raw_splits
from tests.kit.small_text import write_lines, write_splits

from dragoman.lm import EstimateConfig
from dragoman.system import System, SystemSettings, TrainConfig, train
from dragoman.system.stages import Silent
from dragoman.tuning import LoopSettings, TuneConfig, tune_system


class Stop(Silent):
    """Stops when it is told of a stage."""

    def __init__(self, at):
        self.at = at

    def say(self, text):
        if self.at in text:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    write_raw_splits(folder, 300, 20, 5, seed=1)
    files = folder / "train.de", folder / "train.en"
    config = TrainConfig(lm=EstimateConfig(order=2))
    train(*files, folder / "s", config=config)
    with pytest.raises(KeyboardInterrupt):
        train(*files, folder / "cut", config=config, monitor=Stop("the directions agree"))

    def stop(_):
        raise KeyboardInterrupt

    once = TuneConfig(loop=LoopSettings(max_rounds=2))
    with pytest.raises(KeyboardInterrupt):
        tune_system(folder / "s", folder / "dev.de", [folder / "dev.en"], folder / "t", config=once, on_round=stop)
    return folder


@pytest.fixture(scope="module")
def folded(tmp_path_factory):
    """A system with folds, and one tuned from it."""
    folder = tmp_path_factory.mktemp("folded")
    write_splits(folder, 300, 20, 1, seed=1)
    config = TrainConfig(lm=EstimateConfig(order=2), settings=SystemSettings(n_folds=2))
    train(folder / "train.de", folder / "train.en", folder / "s", config=config)
    once = TuneConfig(k=5, loop=LoopSettings(max_rounds=1))
    tune_system(folder / "s", folder / "dev.de", [folder / "dev.en"], folder / "t", config=once)
    return folder


@pytest.mark.parametrize("system", ["s", "t"])
@pytest.mark.parametrize("name", ["grammar/events", "lm.bin", "lm.fold-1.bin"])
@pytest.mark.parametrize(
    "words",
    [
        "tune --system {} --source {}/../dev.de -r {}/../dev.en -o {}/../new",
        "lists {} -o {}/../new",
        "gradient {} -o {}/../new --loss softramp --k 5",
    ],
    ids=lambda words: words.split()[0],
)
def test_a_flipped_byte_is_found_before_the_work(folded, inside, words, name, system):
    """Also those of the parent, which a tuned system refers to."""
    path = folded / "s" / name
    good = path.read_bytes()
    path.write_bytes(good[:-20] + bytes([good[-20] ^ 1]) + good[-19:])
    try:
        err = inside(*words.replace("{}", str(folded / system)).split(), status=2).err
    finally:
        path.write_bytes(good)
    assert f"{name}: " in err
    assert "does not match its checksum" in err or "other content" in err
    assert not (folded / "new").exists()


@pytest.mark.parametrize(
    "words",
    [
        "translate {}",
        "lookup {} hund",
        "system info {}",
        "system verify {}",
        "system export {} -o tables",
        "report {} -o page.html",
        "tune --system {} --source {}/../dev.de -r {}/../dev.en -o t",
        "lists {} -o lists",
        "curve {} --source {}/../dev.de -r {}/../dev.en --feature lm -o lm.svg",
        "serve {}",
    ],
)
def test_what_is_unfinished_says_so(made, inside, words):
    for name, command in (("cut", "train"), ("t", "tune")):
        err = inside(*words.replace("{}", str(made / name)).split(), status=2).err
        assert f"{name}: is an unfinished system: `dragoman {command}` was stopped" in err
        assert "--resume" in err


def test_a_stopped_training_goes_on(made):
    files = made / "train.de", made / "train.en"
    train(*files, made / "cut2", config=TrainConfig(lm=EstimateConfig(order=2)))
    with pytest.raises(KeyboardInterrupt):
        train(*files, made / "cut3", config=TrainConfig(lm=EstimateConfig(order=2)), monitor=Stop("phrase pairs"))
    train(*files, made / "cut3", config=TrainConfig(lm=EstimateConfig(order=2)), resume=True)
    one, other = System.load(made / "cut2"), System.load(made / "cut3")
    assert one.manifest.identity() == other.manifest.identity()


@pytest.mark.parametrize("kind", ["target", "second", "domains", "align"])
def test_counts_of_lines_come_first(made, inside, tmp_path, kind):
    files = ["-s", made / "train.de", "-t", made / "train.en"]
    short = write_lines(tmp_path / "short.en", ["Ein Wort, ja."] * 19)
    if kind == "target":
        files[3], name = short, "train.de"
    elif kind == "second":
        files += ["-s", made / "dev.de", "-t", short]
        name = "dev.de"
    else:
        files += ["--folds", 2, "--domains", short] if kind == "domains" else ["--align", short]
        name = "train.de"
    told = inside("train", *files, "-o", "bad", status=2)
    n_lines = 20 if name == "dev.de" else 300
    assert f"{made / name} has {n_lines}, {short} has 19" in told.err
    assert "text pipeline" not in told.err
    assert not (tmp_path / "bad").exists()
