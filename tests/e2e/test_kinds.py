"""Kinds of systems: options of another kind are refused, and a kind of one's own is one entry of the table."""

from __future__ import annotations

import pytest

from dragoman_synth import SynthConfig, generate_splits

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
        ("--set rules.max_symbols=4", "--set rules belongs to systems of model hiero, not of phrase"),
        ("--set added=true", "--set added belongs to systems of model hiero, not of phrase"),
        ("--set cut=composed", "--set cut belongs to systems of model hiero, not of phrase"),
        ("--model hiero --set smoothing=none", "--set smoothing belongs to systems of model phrase, not of hiero"),
        ("--model hiero --set words=2", "a system of model hiero has no setting 'words'"),
        ("--model hiero --set n_threads=2", "a system of model hiero has no setting 'n_threads'"),
        ("--model hiero --set added=maybe", "rules.added = 'maybe': expected true or false"),
        ("--model hiero --set cut=none", "rules.cut = 'none': expected one of all, composed"),
        ("--model hiero --set max_added=1.5", "from 0 to 1, not 1.5"),
        ("--model hiero --set cut=composed --set min_count=1", "would leave out nothing"),
        ("--model hiero --set rules=3 --set added=true", "are the same setting"),
        ("--model hiero --set rules.added=true --set added=true", "are the same setting"),
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


def test_rules_beyond_the_limits(here, tmp_path):
    common = ("train", "-s", "train.de", "-t", "train.en", "--lm-order", 2, "--model", "hiero", "--folds", 2)
    told = here(*common, "--set", "added=true", "--set", "max_added=0.1", "--set", "cut=composed", "-o", "a", "--json")
    plain = here(*common, "--set", "max_added=0.1", "--set", "cut=composed", "-o", "b", "--json")
    assert told.json["n_added"] > 0
    assert told.json["n_left_out"] == plain.json["n_left_out"] > 0
    assert told.json["n_pairs"] == plain.json["n_pairs"] + told.json["n_added"]
    assert f"{told.json['n_left_out']:,} sentence pairs left out" in " ".join(told.err.split())
    assert "added, from minimal trees" in told.err
    here("system", "verify", "a")
    outputs = [here("translate", name, "-i", "dev.de").out for name in "ab"]
    assert outputs[0] == outputs[1]
    here("system", "export", "a", "-o", "text")
    assert "n_left_out" in here("system", "info", "a", "--json").json["about"]
    refused = here("train", "--model", "hiero", "--import", "text", "--set", "added=true", "-o", "c", status=2)
    assert "with --import nothing is extracted: leave out --set added" in " ".join(refused.err.split())
    assert not (tmp_path / "c").exists()


def test_set_help_lists_the_settings_of_a_kind(here):
    shown = here("train", "--model", "hiero", "--set", "help").out
    assert "rules.cut = all (all or composed)" in " ".join(shown.split())
    assert "rules.max_added = 1 (a number)" in " ".join(shown.split())
    listed = here("train", "--set", "help", "--json").json["settings"]["phrase"]
    assert listed["min_count"]["default"] == "1"
    assert "with -o" in here("train", "-s", "train.de", "-t", "train.en", status=2).err
