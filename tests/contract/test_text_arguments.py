"""Public functions with a parameter that is a member of an enumeration: text does, other text is refused at once."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from enum import StrEnum

import pytest
from test_records import enums_named, modules
from tests.kit.small_systems import make_systems, opened, sentences_of

from dragoman.errors import InputError
from dragoman.features import Weights, read_weights, write_weights
from dragoman.metric import Smoothing, Tokenizer, by_name
from dragoman.settings import takes_text
from dragoman.settings.kinds import hints_of, is_enum, members_of
from dragoman.system import Preset


def public() -> Iterator[object]:
    """Functions, methods and constructors of what the modules of the library export."""
    for module in modules():
        own = [vars(module)[name] for name in getattr(module, "__all__", ()) if name in vars(module)]
        for thing in own:
            if getattr(thing, "__module__", None) != module.__name__ or module.__name__.startswith("dragoman.cli"):
                continue
            if inspect.isfunction(thing):
                yield thing
            elif inspect.isclass(thing):
                made = dataclasses.is_dataclass(thing)  # its constructor is a record's
                methods = [getattr(f, "__func__", f) for name, f in vars(thing).items() if name[0] != "_"]
                yield from (f for f in methods if inspect.isfunction(f))
                yield from (f for f in [vars(thing).get("__init__")] if inspect.isfunction(f) and not made)


def choices_of(function) -> list[str]:
    """Parameters that are members of enumerations, also where only type checkers import the enumeration."""
    hints, scope = hints_of(function), inspect.unwrap(function).__globals__
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        known = name in hints and any(map(is_enum, members_of(hints[name])))
        unresolved = name not in hints and isinstance(parameter.annotation, str)
        if known or (unresolved and enums_named(parameter.annotation, scope)):
            found.append(name)
    return found


def first_enum(function, name) -> type[StrEnum] | None:
    """The enumeration of another parameter, which needs a member of it to be no obstacle."""
    return next(filter(is_enum, members_of(hints_of(function).get(name, object))), None)


FOUND = {f"{f.__module__}.{f.__qualname__}({name})": (f, name) for f in public() for name in choices_of(f)}


@pytest.mark.parametrize(("function", "name"), FOUND.values(), ids=FOUND)
def test_misspelt_text_is_refused_before_anything_else(function, name):
    parameters = inspect.signature(function).parameters.values()
    given = {p.name: object() for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD}
    given |= {other: next(iter(enum)) for other in choices_of(function) if (enum := first_enum(function, other))}
    with pytest.raises(InputError, match=rf"{name} = 'misspelt': expected"):
        function(**(given | {name: "misspelt"}))


def test_there_are_many():
    assert len(FOUND) > 50


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Painter:
    @takes_text
    def __init__(self, colour: Colour = Colour.RED):
        self.colour = colour

    @takes_text
    def paint(self, what: str, first: Colour, *, second: Colour | None = None) -> tuple[object, ...]:
        """Paint it."""
        return what, first, second


def test_members_arrive_by_place_and_by_name():
    painter = Painter("blue")
    assert painter.colour is Colour.BLUE
    assert Painter().colour is Colour.RED
    what, first, second = painter.paint("red", "red", second="blue")
    assert (what, first, second) == ("red", Colour.RED, Colour.BLUE)
    assert first is Colour.RED
    assert second is Colour.BLUE
    assert painter.paint("red", first=Colour.BLUE) == ("red", Colour.BLUE, None)
    assert Painter.paint.__doc__ == "Paint it."
    with pytest.raises(InputError) as caught:
        painter.paint("red", "bleu")
    assert str(caught.value) == "Painter.paint: first = 'bleu': did you mean blue? expected one of red, blue"
    with pytest.raises(InputError, match=r"^Painter: colour = 3: expected red or blue$"):
        Painter(3)


def test_metrics_weights_and_alignments(tmp_path):
    given = by_name("bleu", smoothing="none", tokenizer="13a")
    assert given == by_name("bleu", smoothing=Smoothing.NONE, tokenizer=Tokenizer.T13A)
    write_weights(Weights.from_dict({"lm": 0.5}), tmp_path / "weights", format_="cdec")
    assert (tmp_path / "weights").read_text() == "lm 0.5\n"
    assert dict(read_weights(tmp_path / "weights", format_="cdec").items()) == {"lm": 0.5}


@pytest.fixture(scope="module", name="made")
def made_once(tmp_path_factory):
    return make_systems(tmp_path_factory.mktemp("systems"))


@pytest.mark.parametrize("kind", ["phrase", "hiero"])
def test_systems_decode_by_the_preset_of_the_text(made, kind):
    system, lines = opened(made, kind), sentences_of(made)[:3]
    for preset in Preset:
        assert [*system.translate(lines, preset=preset.value)] == [*system.translate(lines, preset=preset)]
    with pytest.raises(InputError, match=r"translate: preset = 'turbo': expected one of fast, default, accurate"):
        system.translate(lines, preset="turbo")
