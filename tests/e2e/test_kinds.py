"""Kinds of systems: options of another kind are refused, and a kind of one's own is one entry of the table."""

from __future__ import annotations

import pytest

from dragoman.synth import SynthConfig, generate_splits

OTHERS = {
    "hiero": ["--smoothing kneser-ney", "--distortion-limit 3", "--max-phrase-length 3", "--reordering msd"],
    "phrase": ["--dense chiang8", "--max-span 3"],
}


@pytest.fixture
def here(inside, tmp_path):
    """A small corpus."""
    splits = generate_splits(300, 30, 0, SynthConfig(seed=1))
    for name, examples in (("train", splits.train), ("dev", splits.dev)):
        for side, lines in (("de", [e.source for e in examples]), ("en", [e.references[0] for e in examples])):
            (tmp_path / f"{name}.{side}").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return inside


@pytest.mark.parametrize(("model", "option"), [(model, option) for model in OTHERS for option in OTHERS[model]])
def test_options_of_another_kind_are_refused(here, tmp_path, model, option):
    words = ("train", "-s", "train.de", "-t", "train.en", "-o", "s", "--model", model, *option.split())
    message = " ".join(here(*words, status=2).err.split())
    assert option.split()[0] in message
    assert f"not of {model}" in message
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--model neural", "there is no kind of system 'neural'; there are: phrase, hiero"),
        ("--set rules.max_symbols=4", "a system of model phrase has no setting 'rules"),
        ("--model hiero --set min_count=2", "a system of model hiero has no setting 'min_count'"),
        ("--distortion-limit 3 --set distortion_limit=4", "--distortion-limit and --set distortion_limit are the same"),
        ("--set reordering=nope", "reordering"),
    ],
)
def test_settings_that_do_not_exist_are_refused(here, words, message):
    found = here("train", "-s", "train.de", "-t", "train.en", "-o", "s", *words.split(), status=2).err
    assert message in " ".join(found.split())


def test_only_the_settings_of_the_kind_are_recorded(here, tmp_path):
    common = ("train", "-s", "train.de", "-t", "train.en", "--lm-order", 2)
    here(*common, "--max-phrase-length", 3, "--set", "min_count=2", "-o", "p")
    here(*common, "--model", "hiero", "--max-span", 7, "--set", "rules.max_symbols=4", "-o", "h")
    phrases, rules = (
        here("system", "info", "p", "--json").json["settings"],
        here("system", "info", "h", "--json").json["settings"],
    )
    assert (phrases["max_phrase_length"], phrases["min_count"], phrases["smoothing"]) == (3, 2, "none")
    assert (rules["max_span"], rules["rules"]["max_symbols"], rules["dense"]) == (7, 4, "full14")
    assert {"dense", "max_span", "rules"}.isdisjoint(phrases)
    assert {"reordering", "smoothing", "distortion_limit"}.isdisjoint(rules)


def test_set_reads_what_options_read_and_wins_over_an_imported_file(here):
    common = ("train", "-s", "train.de", "-t", "train.en", "--lm-order", 2)
    here(*common, "--set", "reordering=msd", "--set", "distortion_limit=-1", "-o", "s")
    here(*common, "--reordering", "msd", "--distortion-limit", -1, "-o", "t")
    one, other = (here("system", "info", name, "--json").json["settings"] for name in "st")
    assert one == other
    assert one["distortion_limit"] is None
    here("system", "export", "s", "-o", "moses")
    here("train", "--import", "moses", "--lm", "moses/lm.arpa.gz", "--set", "distortion_limit=3", "-o", "i")
    assert here("system", "info", "i", "--json").json["settings"]["distortion_limit"] == 3
