"""`dragoman reference` and `tune --method fastforest` as a user calls them."""

from __future__ import annotations

import pytest
from tests.kit.small_systems import make_systems
from tests.kit.small_text import write_lines


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_systems(tmp_path_factory.mktemp("made"), n_folds=3)


def test_lines_of_the_training_text(made, inside):
    shown = inside("reference", made / "hiero", "--line", 1, "--line", 2, "--instead", 2).out
    assert shown.count("source     ") == 2
    assert shown.count("reference  ") == 2
    assert "its probability in the forest" in shown
    assert "  or " in shown
    told = inside("reference", made / "hiero", "--line", 1, "--json").json["pairs"]
    assert len(told) == 1
    assert 0 < told[0]["probability"] < 1
    assert told[0]["reached"] in ("yes", "holes")
    seen = inside("reference", made / "hiero", "--line", 1, "--all-data", "--json").json["pairs"]
    assert seen[0]["probability"] > told[0]["probability"]


def test_pairs_of_files(made, inside, tmp_path):
    source = (made / "train.de").read_text(encoding="utf-8").split("\n")[0]
    target = (made / "train.en").read_text(encoding="utf-8").split("\n")[0]
    write_lines(tmp_path / "s", [source])
    write_lines(tmp_path / "t", [target])
    n = min(len(source.split()), len(target.split()))
    write_lines(tmp_path / "a", [" ".join(f"{i}-{i}" for i in range(n))])
    files = ["-s", tmp_path / "s", "-t", tmp_path / "t", "--align", tmp_path / "a"]
    told = inside("reference", made / "hiero", *files, "--json").json["pairs"]
    assert told[0]["source"] == source
    assert told[0]["target"] == target
    write_lines(tmp_path / "a", ["0-99"])
    assert "99" in inside("reference", made / "hiero", *files, status=2).err
    write_lines(tmp_path / "t", [target, target])
    assert "equally many lines" in inside("reference", made / "hiero", *files, status=2).err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "name lines"),
        (["--line", 100000], "training text has"),
        (["-s", "x"], "needs its source"),
        (["--line", 1, "--scale", 0], "--scale must be positive"),
    ],
)
def test_what_cannot_be_shown_is_told(made, inside, more, message):
    assert message in inside("reference", made / "hiero", *more, status=2).err


def test_phrases_are_shown_in_the_order_of_the_target(made, inside):
    how = ["--features", "word_context(top=0)", "--all-data", "--json", "--instead", 100]
    lines = [part for number in range(1, 31) for part in ("--line", number)]
    pairs = inside("reference", made / "phrase", *lines, *how).json["pairs"]
    shown = [pair for pair in pairs if pair["rules"]]
    assert len(shown) > 10
    for pair in shown:
        phrases = pair["rules"]
        assert " ".join(rule["target"] for rule in phrases) == pair["target"]
        assert sorted(p for rule in phrases for p in range(*rule["span"])) == [*range(len(pair["source"].split()))]
        for rule in phrases:
            assert all(other["source"] == rule["source"] for other in rule["instead"])
    assert any(rule["instead"] for pair in shown for rule in pair["rules"])
    text = inside("reference", made / "phrase", "--line", 1, "--features", "word_context(top=0)").out
    assert "its probability in the forest" in text
    assert "reorder_stack" in inside("reference", made / "phrase", "--line", 1, status=2).err


def test_tuning_tells_what_was_learned(made, inside, tmp_path):
    dev = ["--source", made / "dev.de", "-r", made / "dev.en"]
    how = ["--method", "fastforest", "--features", "word_context(top=0)", "--theta", "system", "--limit", 100]
    told = inside("tune", "--system", made / "hiero", *dev, *how, "-o", tmp_path / "t", "--json")
    assert [step["name"] for step in told.json["steps"]] == ["forests", "model", "search"]
    assert "references can be derived" in told.err
    assert inside("translate", tmp_path / "t", "-i", made / "dev.de").out.count("\n") == 10
    told = inside("tune", "--system", made / "phrase", *dev, *how, "-o", tmp_path / "u", "--json")
    assert [step["name"] for step in told.json["steps"]] == ["forests", "model", "search"]
    assert inside("translate", tmp_path / "u", "-i", made / "dev.de").out.count("\n") == 10
    wrong = [*dev, *how, "--set", "form=list", "-o", tmp_path / "v"]
    assert "form=list" in inside("tune", "--system", made / "phrase", *wrong, status=2).err


def test_every_line_can_be_shown(made, inside):
    lines = [part for number in range(1, 61) for part in ("--line", number)]
    narrow = inside("reference", made / "hiero", *lines, "--all-data", "--json", "--instead", 100).json["pairs"]
    wide = inside("reference", made / "hiero", *lines, "--all-data", "--json", "--instead", 100, "--wide").json["pairs"]
    for pair in narrow:
        for rule in pair["rules"]:
            assert all(other["source"] == rule["source"] for other in rule["instead"])
    assert any(
        other["source"] != rule["source"] for pair in wide for rule in pair["rules"] for other in rule["instead"]
    )


def test_tuning_learns_from_pairs_in_files(made, inside, tmp_path):
    write_lines(tmp_path / "a", ["0-0 1-1"] * 200)
    text = ["--text-source", made / "train.de", "--text-target", made / "train.en", "--text-align", tmp_path / "a"]
    command = [
        "tune",
        "--system",
        made / "hiero",
        "--source",
        made / "dev.de",
        "-r",
        made / "dev.en",
        "--theta",
        "system",
    ]
    command += ["--method", "fastforest", "--features", "word_context(top=0)", "--k", 10, "--rounds", 1]
    command += ["--set", "max_epochs=1", "--limit", 60]
    told = inside(*command, *text, "-o", tmp_path / "tuned", "--json").json
    assert [step["name"] for step in told["steps"]] == ["forests", "model", "search"]
    assert "--text-align" in inside(*command, *text[:4], "-o", tmp_path / "other", status=2).err
    unlike = ["--text-align", made / "dev.de"]
    assert "dev.de" in inside(*command, *text[:4], *unlike, "-o", tmp_path / "other", status=2).err
    assert not (tmp_path / "other").exists()
