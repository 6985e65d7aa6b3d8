"""Every placeholder of a source line is in its translation exactly as often, whatever stands around it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.lm import EstimateConfig
from dragoman.system import HieroSettings, System, SystemSettings, TrainConfig, train
from small_raw import write_raw_splits
from small_text import write_lines

PLACEHOLDERS = [
    "%s",
    "%1$d",
    "{name}",
    "${x}",
    "$1",
    "http://a.example/?b=1",
    "me@a.example",
    "/etc/x",
    "<b>",
    "</b>",
    "<br/>",
]
WORDS = ["Der", "Lehrer", "liest", "ein", "Buch", "xyzzy", "und", "nicht"]
SIGNS = [",", ".", "!", "(", ")", '"', ":"]
LINES = st.lists(
    st.tuples(st.sampled_from(PLACEHOLDERS + WORDS), st.sampled_from(["", "", *SIGNS])).map("".join), max_size=10
).map(" ".join)


@pytest.fixture(scope="module", params=["phrase", "hiero"])
def system(request, tmp_path_factory):
    """Trained on text in which placeholders are lost, doubled, and come from nowhere."""
    folder = tmp_path_factory.mktemp("system")
    write_raw_splits(folder, 120, 0, 0, seed=3)
    source = [*folder.joinpath("train.de").read_text(encoding="utf-8").splitlines(), *["ein %s Buch {name}."] * 9]
    target = [*folder.joinpath("train.en").read_text(encoding="utf-8").splitlines(), *["a book %s %s $1."] * 9]
    write_lines(folder / "train.de", source)
    write_lines(folder / "train.en", target)
    model = SystemSettings() if request.param == "phrase" else SystemSettings(model=HieroSettings(max_span=10))
    config = TrainConfig(settings=model, lm=EstimateConfig(order=2))
    return train(folder / "train.de", folder / "train.en", folder / "s", config=config)


@settings(max_examples=60, deadline=None)
@given(line=LINES)
def test_placeholders_survive(system: System, line: str) -> None:
    (found,) = system.translate([line])
    tokens = system.lines().prepare(line)
    for placeholder in PLACEHOLDERS:
        if line.count(placeholder):
            assert found.count(placeholder) == line.count(placeholder), (tokens, found)
