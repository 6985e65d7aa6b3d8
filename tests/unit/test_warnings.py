"""What --quiet hides: prose and progress, and no warning."""

from __future__ import annotations

import numpy as np
import pytest

from dragoman.analysis import SystemOutput, compare_systems
from dragoman.cli.session import Session
from dragoman.cli.tuning.testing import say_change
from dragoman.metric import by_name
from dragoman.system import Silent


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("json", [False, True])
def test_warnings_stay(quiet, json, capsys):
    session = Session(quiet=quiet, json=json)
    session.say("prose")
    session.warn("[bold]odd[/bold] \x1b[31m")
    with session.progress("bar"):
        session.warn("below a bar")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert ("prose" in shown.err) == (not quiet)
    assert "warning: [bold]odd[/bold] \N{REPLACEMENT CHARACTER}[31m\nwarning: below a bar\n" in shown.err


def test_a_monitor_that_overhears_hears_warnings():
    class Heard(Silent):
        said: tuple[str, ...] = ()

        def say(self, text):
            self.said += (text,)

    heard = Heard()
    heard.warn("odd")
    assert heard.said == ("warning: odd",)


CHANGES = {
    "worse": (
        0.5,
        0.7,
        "warning: significantly worse on the test set (p < 0.05): bleu, chrf, ter; the length",
    ),
    "better": (0.7, 0.5, ""),
    "equal": (0.5, 0.5, "note: no metric is significantly better"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_test_set_that_got_worse_is_a_warning(name, capsys):
    """Each system replaces a share of the words by others."""
    rng = np.random.default_rng(1)
    lines = [[f"w{n}" for n in rng.integers(0, 300, 9)] for _ in range(80)]

    def output(noise):
        return [
            " ".join("x" if (7 * i + 3 * j) % 10 < 10 * noise else word for j, word in enumerate(words))
            for i, words in enumerate(lines)
        ]

    metrics = [by_name(metric) for metric in ("bleu", "chrf", "ter")]
    before, after, expected = CHANGES[name]
    outputs = [SystemOutput(name=which, runs=(output(noise),)) for which, noise in (("old", before), ("new", after))]
    scores = compare_systems(outputs, [[" ".join(words) for words in lines]], metrics, n_trials=500)
    say_change(Session(), metrics, *scores)
    shown = capsys.readouterr().err
    assert shown.startswith(expected)
    assert bool(shown) == bool(expected)
    say_change(Session(quiet=True), metrics, *scores)
    assert capsys.readouterr().err.startswith("warning:") == (name == "worse")
