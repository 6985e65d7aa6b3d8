"""Every placeholder of the source is in the translation exactly once, wherever it stands, by both decoders."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.kit.small_raw import write_raw_splits

from dragoman.lm import EstimateConfig
from dragoman.system import HieroSettings, System, SystemSettings, TextSettings, TrainConfig, train

PLACEHOLDERS = [
    "%s",
    "%1$d",
    "%(Name)s",
    "{name}",
    "${HOME}",
    "$1",
    "http://www.example.org/?a=b",
    "Me@example.org",
    "/etc/fstab",
    "C:\\x\\y",
    "<br/>",
    "<b>",
    "</b>",
    "1,234.56",
    "20:30",
    "--option-x",
    "&amp;",
    "\\n",
    "%d%%",
    "@foo@",
    "strtok()",
    "printf(3)",
]
AROUND = ["{}", "{}", "({})", "“{}”", '"{}"', "{},", "{}.", "{}:"]
PLACED = st.lists(
    st.tuples(st.integers(0, 12), st.sampled_from(PLACEHOLDERS), st.sampled_from(AROUND)),
    min_size=1,
    max_size=4,
    unique_by=lambda placed: placed[1],
)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    write_raw_splits(folder, 200, 0, 20, seed=1)
    return folder


@pytest.fixture(scope="module", params=["phrase", "hiero", "lowercase"])
def system(request, text, tmp_path_factory):
    model = SystemSettings(model=HieroSettings(max_span=10)) if request.param == "hiero" else SystemSettings()
    chosen = SystemSettings(model=model.model, text=TextSettings(lowercase=request.param == "lowercase"))
    config = TrainConfig(settings=chosen, lm=EstimateConfig(order=2))
    return train(text / "train.de", text / "train.en", tmp_path_factory.mktemp("s") / "s", config=config)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=st.integers(0, 19), placed=PLACED, capitals=st.booleans())
def test_every_placeholder_is_there_once(system: System, text, number: int, placed, capitals: bool) -> None:
    words = (text / "test.de").read_text(encoding="utf-8").splitlines()[number].split(" ")
    words = [word.upper() for word in words] if capitals else words
    for place, placeholder, around in placed:
        words.insert(place, around.format(placeholder))
    line = " ".join(words)
    (found,) = system.translate([line])
    for _, placeholder, _ in placed:
        assert found.count(placeholder) == 1, (line, found)
