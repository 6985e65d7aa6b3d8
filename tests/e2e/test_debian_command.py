"""`corpus debian` from a folder, as a user runs it; apt is in tests/unit/test_debian.py."""

from __future__ import annotations

import json

import pytest
from tests.kit.small_text import write_lines


@pytest.fixture
def here(tmp_path):
    for code, word in (("de", "Haus"), ("en", "house")):
        stanzas = [
            f"Package: p{i}\nDescription-md5: {i}\nDescription-{code}: {word} {i}\n {word} {word} {i}.\n"
            for i in range(9)
        ]
        (tmp_path / f"Translation-{code}").write_text("\n".join(stanzas), encoding="utf-8")
    (tmp_path / "de").mkdir()
    write_lines(tmp_path / "de" / "x.po", ['msgid "_Open the house"', 'msgstr "Haus ö_ffnen"'])
    return tmp_path


def test_a_corpus_from_a_folder(here, inside):
    words = ("corpus", "debian", "--languages", "de-en", "--from", ".", "-o", "out")
    record = json.loads(inside(*words, "--json").out)
    assert record["n_pairs"] == {"descriptions": 18, "interfaces": 1}
    sides = [(here / record[side]).read_text(encoding="utf-8").splitlines() for side in ("source", "target", "domains")]
    assert ("Haus öffnen", "Open the house", "interfaces") in list(zip(*sides, strict=True))
    assert "say --resume" in inside(*words, status=2).err
    assert "19 pairs" in inside(*words, "--resume").out
    only = inside(*words[:-1], "half", "--part", "descriptions", "--json").out
    assert json.loads(only)["n_pairs"] == {"descriptions": 18}
    inside(
        "corpus", "clean", "-s", "out/corpus.de", "-t", "out/corpus.en", "--out-source", "c.de", "--out-target", "c.en"
    )


def test_bad_usage(here, inside):
    words = ("corpus", "debian", "--from", ".", "-o", "out")
    assert "two languages such as de-en" in inside(*words, "--languages", "de", status=2).err
    assert "no language as Debian names them" in inside(*words, "--languages", "german-en", status=2).err
    assert "descriptions or interfaces" in inside(*words, "--languages", "de-en", "--part", "x", status=2).err
    assert "no Translation-fr" in inside(*words, "--languages", "fr-en", status=1).err
    assert "a folder with files" in inside(*words, "--from", "none", "--languages", "de-en", status=2).err
