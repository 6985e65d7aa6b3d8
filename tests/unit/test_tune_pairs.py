"""FastForest on pairs with word links that are not the system's training text."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from tests.kit.small_systems import make_systems
from tests.kit.small_text import write_lines

from dragoman.align import write_pharaoh
from dragoman.errors import InputError, MismatchError
from dragoman.optim import FastForest, Mert, Pro
from dragoman.system import System
from dragoman.system.aligned_pairs import AlignedPairs
from dragoman.tuning import LastSearch, LearnFrom, LoopSettings, PhiSettings, Theta, TuneConfig, tune_system

CONFIG = TuneConfig(
    k=20,
    loop=LoopSettings(max_rounds=1),
    features=("word_context(top=0)",),
    learn_from=LearnFrom.LISTS,
    phi=PhiSettings(search=Mert(n_starts=2, n_directions=1), theta=Theta.SYSTEM, last=LastSearch.NONE),
)
METHOD = FastForest(max_epochs=2)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_systems(tmp_path_factory.mktemp("made"), n_folds=4)


@pytest.fixture(scope="module")
def files(made, tmp_path_factory):
    """The training text of the hierarchical system and its links, as files."""
    base, training = tmp_path_factory.mktemp("text"), System.load(made / "hiero").training
    numbers = range(len(training))
    write_lines(base / "t.de", [training.source(i) for i in numbers])
    write_lines(base / "t.en", [training.target(i) for i in numbers])
    write_pharaoh(base / "t.links", training.links)
    return base / "t.de", base / "t.en", base / "t.links"


def tune(made, out, config=CONFIG, method=METHOD, **more):
    return tune_system(made / "hiero", made / "dev.de", [made / "dev.en"], out, optimiser=method, config=config, **more)


def weights_of(folder):
    return dict(System.load(folder).weights.items())


def taught(folder):
    """Pairs, and those of them that teach something."""
    notes = " ".join(json.loads((folder / "tune/result.json").read_text(encoding="utf-8"))["notes"])
    return tuple(int(number) for number in re.search(r"of (\d+) references.* (\d+) of them teach", notes).groups())


def test_pairs_teach_what_the_same_lines_of_the_training_text_do(made, files, tmp_path):
    tune(made, tmp_path / "own", replace(CONFIG, phi=replace(CONFIG.phi, all_data=True)))
    tune(made, tmp_path / "given", pairs=AlignedPairs.read(System.load(made / "hiero"), *files), n_threads=2)
    assert weights_of(tmp_path / "given") == weights_of(tmp_path / "own")
    assert len(weights_of(tmp_path / "given")) > 100


def test_a_system_without_folds_learns_from_pairs(files, tmp_path):
    made = make_systems(tmp_path, n_folds=1)
    config = replace(CONFIG, limit=60, phi=replace(CONFIG.phi, last=None))
    tune(made, tmp_path / "t", config, pairs=AlignedPairs.read(System.load(made / "hiero"), *files))
    result = json.loads((tmp_path / "t/tune/result.json").read_text(encoding="utf-8"))
    assert [step["name"] for step in result["steps"]] == ["forests", "model"]
    # The block's weight is searched on the development set: there are no other lines.
    assert "weights of blocks" in " ".join(result["notes"])


def test_odd_pairs_are_left_out_and_teach_nothing(made, files, tmp_path):
    lines = [path.read_text(encoding="utf-8").splitlines() for path in files]
    long = " ".join(["ein"] * 4096), " ".join(["a"] * 4096), " ".join(f"{i}-{i}" for i in range(4096))
    odd = [("", "", ""), ("ein mann", "", ""), ("", "a man", ""), ("ein mann", "a man", ""), long]
    names = [tmp_path / name for name in ("o.de", "o.en", "o.links")]
    for i, name in enumerate(names):
        write_lines(name, [*lines[i][:50], *(pair[i] for pair in odd)])
    system = System.load(made / "hiero")
    tune(made, tmp_path / "odd", pairs=AlignedPairs.read(system, *names))
    n_pairs, n_teach = taught(tmp_path / "odd")
    for i, name in enumerate(names):
        write_lines(name, lines[i][:50])
    tune(made, tmp_path / "plain", pairs=AlignedPairs.read(system, *names))
    assert (n_pairs - 5, n_teach) == taught(tmp_path / "plain")
    assert n_teach > 30
    for i, name in enumerate(names):
        write_lines(name, [pair[i] for pair in odd])
    with pytest.raises(InputError, match="links may be those of another text"):
        tune(made, tmp_path / "nothing", pairs=AlignedPairs.read(system, *names))


def test_what_does_not_fit_is_refused(made, files, tmp_path):
    system = System.load(made / "hiero")
    source, target, links = files
    pairs = AlignedPairs.read(system, source, target, links)
    short = tmp_path / "short"
    write_lines(short, ["a man"])
    with pytest.raises(MismatchError, match="equally many lines"):
        AlignedPairs.read(system, source, short, links)
    outside = tmp_path / "outside"
    write_lines(outside, ["0-99"])
    with pytest.raises(InputError) as refused:
        AlignedPairs.read(system, short, short, outside)
    assert refused.value.line == 1
    with pytest.raises(InputError):
        AlignedPairs.read(system, source, target, outside)
    with pytest.raises(InputError, match="pro learns from no pairs"):
        tune(made, tmp_path / "t", method=Pro(), pairs=pairs)
    with pytest.raises(InputError, match="of the training text"):
        tune(made, tmp_path / "t", replace(CONFIG, phi=replace(CONFIG.phi, all_data=True)), pairs=pairs)
    with pytest.raises(InputError, match="no pairs"):
        nothing = tmp_path / "nothing"
        write_lines(nothing, [])
        tune(made, tmp_path / "t", pairs=AlignedPairs.read(system, nothing, nothing, nothing))
