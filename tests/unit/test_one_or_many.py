"""One file or several wherever files are taken; a string is never a list of letters."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest
from tests.kit.small_text import write_splits

import dragoman
from dragoman.candidates import read_pool, read_references, with_metric
from dragoman.candidates.storage import read_to_disk
from dragoman.corpus import Vocab
from dragoman.corpus.stats import describe_files
from dragoman.errors import InputError
from dragoman.features import unite_weights
from dragoman.metric import Bleu
from dragoman.system import System, train
from dragoman.text import read_parallel
from dragoman.types import one_or_many

LISTS = "0 ||| a b ||| m= 1 ||| 1\n0 ||| a c ||| m= 2 ||| 2\n1 ||| d ||| m= 3 ||| 3\n"


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    folder = tmp_path_factory.mktemp("system")
    write_splits(folder, 300, 20, 0, seed=3)
    return train(folder / "train.de", folder / "train.en", folder / "phrase", lm_text=str(folder / "train.en"))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "c").write_text(LISTS)
    (tmp_path / "r").write_text("a b\nd\n")
    (tmp_path / "w").write_text("m 1\n")
    return tmp_path


def test_one_or_many():
    assert one_or_many("file") == ("file",)
    assert one_or_many(Path("file")) == (Path("file"),)
    assert one_or_many(["a", "b"]) == ("a", "b")


def test_readers_take_one_file_or_several(files):
    one, several = read_pool(str(files / "c")), read_pool([files / "c"])
    assert one.n_candidates == several.n_candidates == 3
    assert read_references(files / "r") == read_references([str(files / "r")]) == [["a b"], ["d"]]
    assert read_to_disk(files / "c", files / "pool").n_candidates == 3
    assert list(read_parallel(str(files / "r"))) == [("a b",), ("d",)]
    assert unite_weights(str(files / "w"))["m"] == 1
    assert len(describe_files(str(files / "r")).sides) == 1


def test_a_system_is_tuned_with_one_file_of_references(system):
    """Its name is that of a file; before, every letter of it was."""
    base = system.folder.parent
    tuned = dragoman.tune(
        system,
        str(base / "dev.de"),
        str(base / "dev.en"),
        base / "tuned",
        config=dragoman.TuneConfig(k=5, loop=dragoman.LoopSettings(max_rounds=1)),
    )
    assert (tuned.folder / "tune").is_dir()


def public(modules):
    for module in modules:
        page = import_module(f"dragoman.{module}")
        for name in page.__all__:
            found = getattr(page, name)
            if inspect.isfunction(found):
                yield f"{module}.{name}", found


def test_no_public_function_asks_for_a_list_of_files_alone():
    modules = ["candidates", "candidates.features", "corpus", "features", "forest", "gradients", "sources.lists"]
    modules += ["system", "text", "tuning", "analysis", "analysis.curves", "analysis.resampling", "view.report"]
    lists = [
        name
        for name, function in public(modules)
        for parameter in inspect.signature(function).parameters.values()
        if "Sequence[PathLike]" in str(parameter.annotation)
        or (
            (parameter.annotation is not inspect.Parameter.empty and parameter.annotation == Sequence[str])
            and "path" in parameter.name
        )
    ]
    assert lists == []


@pytest.mark.parametrize("method", [System.translate, System.translate_tokens, System.forests])
def test_a_string_is_not_a_list_of_sentences(system, method):
    message = r"sentences must be a list of lines, not one string; for one line write \['das haus \.'\]"
    with pytest.raises(InputError, match=message):
        list(method(system, "das haus ."))
    assert len(list(method(system, ["das haus ."]))) == 1


def test_a_string_is_not_a_list_anywhere_else(system, files):
    with pytest.raises(InputError, match="sentences must be a list of lines"):
        system.kbest("das haus .", 3)
    with pytest.raises(InputError, match="lines must be a list of lines"):
        Vocab.of("das haus .")
    with pytest.raises(InputError, match="sentences must be a list of lines"):
        system.lm().score_batch("das haus .")
    with pytest.raises(InputError, match="the references of a sentence must be a list of lines"):
        with_metric(read_pool(files / "c"), Bleu(), ["a b", "d"])
