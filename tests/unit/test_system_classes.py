"""Word classes of a system: learned while it is trained, kept with its tables."""

from __future__ import annotations

import json
import pickle
import shutil

import numpy as np
import pytest
from tests.kit.small_text import write_splits

from dragoman.corpus import Side, learn_classes
from dragoman.errors import InputError
from dragoman.lm import EstimateConfig
from dragoman.system import Silent, System, SystemSettings, TrainConfig, import_system, save_tuned, train

SIZES = (3, 12)


def config(**changes):
    return TrainConfig(settings=SystemSettings(**({"classes": SIZES} | changes)), lm=EstimateConfig(order=2))


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    write_splits(folder, 200, 10, 0, seed=3)
    return folder


@pytest.fixture(scope="module")
def built(text, tmp_path_factory):
    out = tmp_path_factory.mktemp("systems") / "system"
    return train(text / "train.de", text / "train.en", out, config=config(n_folds=2))


@pytest.fixture
def system(built, tmp_path):
    """A copy that a test may damage."""
    shutil.copytree(built.folder, tmp_path / "system")
    return System.load(tmp_path / "system")


def test_classes_are_those_of_the_training_text(text, built):
    for name, vocab, found in zip(
        ("train.de", "train.en"), (built.grammar.source_vocab, built.grammar.target_vocab), built.classes, strict=True
    ):
        expected = learn_classes(Side.read(text / name), SIZES).classes
        assert found.sizes == SIZES
        assert found.by_vocab(vocab).tolist() == expected.by_vocab(vocab).tolist()
        assert (found.table[:, 3:] >= 0).all()


def test_they_are_files_of_the_system(built):
    stages = [stage["name"] for stage in built.manifest.about["stages"]]
    assert stages[:3] == ["corpus", "classes", "alignment"]
    for name in ("source", "target"):
        assert built.manifest.files[f"{name}_classes"].path == f"{name}.classes"
        assert built.folder / f"{name}.classes" in System.verify(built.folder)
        assert built.folder.resolve() / f"{name}.classes" in built.files()
    assert built.settings.classes == SIZES
    assert json.loads((built.folder / "system.json").read_text())["settings"]["classes"] == list(SIZES)


def test_other_forms_of_the_system_have_them(built, tmp_path):
    tuned = save_tuned(built, tmp_path / "tuned", built.weights)
    assert sorted(path.name for path in tuned.folder.iterdir()) == ["system.json", "weights.tsv"]
    for other in (tuned, built.with_templates(["word_pair"]), pickle.loads(pickle.dumps(built))):
        assert other.settings.classes == SIZES
        for mine, theirs in zip(built.classes, other.classes, strict=True):
            assert np.array_equal(mine.table, theirs.table)


def test_a_system_without_classes_says_nothing_of_them(text, tmp_path):
    plain = train(text / "train.de", text / "train.en", tmp_path / "s", config=config(classes=()))
    assert plain.classes is None
    assert "classes" not in plain.settings.to_json()
    assert SystemSettings.from_json(plain.settings.to_json()) == plain.settings
    assert not list(plain.folder.glob("*.classes"))
    assert "classes" not in [stage["name"] for stage in plain.manifest.about["stages"]]


@pytest.mark.parametrize("name", ["source.classes", "target.classes"])
def test_damage_is_noticed(system, name):
    path = system.folder / name
    data = path.read_bytes()
    path.write_bytes(data[:-4])
    with pytest.raises(InputError, match="damaged"):
        System.load(system.folder)
    path.write_bytes(data[:-4] + np.int32(12).tobytes())
    with pytest.raises(InputError, match="damaged"):
        System.verify(system.folder)
    with pytest.raises(InputError, match=f"{name}: a class is out of range"):
        System(system.folder, system.manifest, system.grammar, system.weights)
    path.write_bytes(data + data)
    with pytest.raises(InputError, match=f"{name}: has .* bytes"):
        System(system.folder, system.manifest, system.grammar, system.weights)
    path.unlink()
    with pytest.raises(InputError, match=name):
        System.load(system.folder)


def test_a_stopped_training_goes_on(text, built, tmp_path):
    class StoppedError(Exception):
        pass

    class Killer(Silent):
        def say(self, message):
            if message.startswith("perplexity of target classes"):
                raise StoppedError

    files = text / "train.de", text / "train.en", tmp_path / "s"
    with pytest.raises(StoppedError):
        train(*files, config=config(n_folds=2), monitor=Killer())
    assert (tmp_path / "s" / "source.classes").exists()
    assert not (tmp_path / "s" / "target.classes").exists()
    (tmp_path / "s" / ".target.classes.left").touch()
    with pytest.raises(InputError, match="other settings .settings.classes."):
        train(*files, config=config(n_folds=2, classes=(4,)), resume=True)
    resumed = train(*files, config=config(n_folds=2), resume=True)
    assert {name: record.blake2b for name, record in resumed.manifest.files.items()} == {
        name: record.blake2b for name, record in built.manifest.files.items()
    }
    assert not list((tmp_path / "s").glob(".*"))


def test_what_cannot_be_learned(text, tmp_path):
    files = text / "train.de", text / "train.en", tmp_path / "s"
    with pytest.raises(InputError, match=r"train\.de: 2000 classes of \d+ different words"):
        train(*files, config=config(classes=(2000,)))
    assert not (tmp_path / "s").exists()
    for sizes in ((0,), (3, 3), (5000,)):
        with pytest.raises(InputError, match="classes"):
            config(classes=sizes)
    with pytest.raises(InputError, match="imported system lacks"):
        import_system(text, tmp_path / "s", settings=SystemSettings(classes=(3,)))
