"""Warnings on standard error, whatever --quiet and --json hide; and what is a warning."""

from __future__ import annotations

import pytest
from tests.kit.small_text import write_lines

WORDS = ("the", "cat", "sat", "on", "a", "mat", "while", "another", "dog", "slept", "under", "some", "old", "tree")


@pytest.fixture
def lists(tmp_path):
    """Lists of thirty sentences whose references are those words in rising numbers, and start weights."""
    lines, references = [], []
    for s in range(30):
        own = [f"{word}{s}" for word in WORDS]
        references.append(" ".join(own))
        for c in range(4):
            text = " ".join(own[: len(own) - 3 * c])
            lines.append(f"{s} ||| {text} ||| lm= {c}.0 words= {len(own) - 3 * c}.0 ||| 0")
    write_lines(tmp_path / "list", lines)
    write_lines(tmp_path / "ref", references)
    (tmp_path / "start").write_text("lm 1\nwords 1\nmisspelt 1\n")


TUNE = ["tune", "--nbest", "list", "-r", "ref", "--weights", "start", "--method", "mert", "-o", "weights.tsv"]


@pytest.mark.parametrize("flags", [(), ("--quiet",), ("--quiet", "--json")])
def test_a_misfit_of_weights_is_heard(inside, lists, flags):
    done = inside(*TUNE, *flags)
    assert "warning: 1 weight fits no feature (misspelt)\n" in done.err
    assert "note: 1 weight fits no feature" not in done.err
    if "--json" in flags:
        assert done.json["warnings"] == ["1 weight fits no feature (misspelt)"]
        assert done.json["warnings"][0] in done.json["notes"]


def test_the_help_says_that_warnings_stay(inside):
    assert "No prose and no progress; warnings stay." in " ".join(inside("tune", "--help").out.split())
