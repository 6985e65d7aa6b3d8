"""Settings are read from typed values and from text by the types of a dataclass, and described for people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import pytest

from dragoman.errors import InputError
from dragoman.optim import OPTIMISERS, Mert, Norm, OnlineRm, Pro, Rm, make_optimiser
from dragoman.settings import about, describe, from_values, parse_settings, plain, settable


class Colour(StrEnum):
    RED = "red"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Inner:
    deep: bool = False
    """Below the surface. Not above it."""
    size: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Outer:
    count: int = 3
    limit: int | None = field(default=None, metadata=about(resolved="7, or 9 on Sundays", most=2**40))
    """How far to go."""
    colour: Colour | None = None
    inner: Inner = Inner(size=2.0)
    maybe: Inner | None = None
    names: tuple[str, ...] | None = None
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    word: str = "x"
    hidden: object = None


@dataclass(frozen=True, kw_only=True)
class Around:
    outer: Outer = field(default=Outer(), metadata=about(inline={"word"}))
    count: float = 0.5


def read(*items, cls=Outer):
    return from_values(cls, parse_settings(items), name="it")


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([], Outer()),
        (["count=5", "limit=none"], Outer(count=5)),
        (["limit=1099511627776"], Outer(limit=2**40)),
        (["colour=red"], Outer(colour=Colour.RED)),
        (["colour='none'"], Outer(colour=Colour.NONE)),
        (["inner.deep=true", "maybe.size=.5"], Outer(inner=Inner(deep=True, size=2.0), maybe=Inner(size=0.5))),
        (["names=['a,b', 'c']"], Outer(names=("a,b", "c"))),
        (["names=a, b"], Outer(names=("a", "b"))),
        (["names=a"], Outer(names=("a",))),
        (["bounds={lm = [0, inf]}"], Outer(bounds={"lm": (0.0, math.inf)})),
        (["bounds.lm=[0, 1]", 'bounds."a.b"=[-1, 1.5]'], Outer(bounds={"lm": (0.0, 1.0), "a.b": (-1.0, 1.5)})),
        (["word=bare words"], Outer(word="bare words")),
        (["word='5'"], Outer(word="5")),
    ],
)
def test_values_of_all_kinds(items, expected):
    assert read(*items) == expected


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["count"], "--set count: expected NAME=VALUE"),
        (["count=1.5"], "count = 1.5: expected a whole number"),
        (["count=true"], "count = true: expected a whole number"),
        (["count=2147483648"], "count = 2147483648: the number is too large; the maximum is 2147483647"),
        (["limit=1099511627777"], "too large"),
        (["count=1", "count=2"], "'count' is set twice"),
        (["count=1", "count.x=2"], "'count' was given a value before"),
        (["colour=blue"], "colour = 'blue': expected red or none"),
        (["inner.deep=1"], "inner.deep = 1: expected true or false"),
        (["inner.depth=1"], "inner has no setting 'depth'; it has: deep, size"),
        (["inner=1"], "inner = 1: expected a table"),
        (["names=[1]"], "names[0] = 1: expected text"),
        (["bounds.lm=1"], "bounds.lm = 1: expected a list of 2: a number, a number"),
        (["bounds.lm=[1]"], "bounds.lm = [1]: expected a list of 2"),
        (["word=3"], "word = 3: expected text"),
        (["hidden=3"], "it has no setting 'hidden'; it has: count, limit, colour, inner.deep, inner.size"),
        (["names=[a, b]"], "this is not TOML"),
        (["a b=1"], "'a b' is not a key"),
        (["a\nb=1"], "is not a key"),
        (["count=1\nb=1"], "count = '1\\nb=1'"),
    ],
)
def test_mistakes_say_what_was_expected(items, message):
    with pytest.raises(InputError) as caught:
        read(*items)
    assert message in str(caught.value)


def test_an_inlined_record_shares_the_names_of_the_outer_one():
    made = read("count=2", "limit=4", "inner.deep=true", cls=Around)
    assert made == Around(outer=Outer(limit=4, inner=Inner(deep=True, size=2.0)), count=2.0)
    assert "word" not in settable(Around)
    assert make_optimiser("online-rm", {"share": 2, "batch": 3}) == OnlineRm(margin=Rm(share=2.0), batch=3)


def test_a_class_without_a_source_file_is_described_too():
    names = {"dataclass": dataclass, "__name__": "__main__"}
    exec("@dataclass\nclass Mine:\n    size: int = 3\n", names)
    (setting,) = describe(names["Mine"])
    assert (setting.name, setting.default, setting.meaning) == ("size", "3", "")


def test_descriptions_have_real_defaults_allowed_values_and_meanings():
    found = {setting.name: setting for setting in describe(Outer)}
    assert (found["limit"].default, found["limit"].meaning) == ("7, or 9 on Sundays", "How far to go.")
    assert (found["inner.size"].default, found["inner.deep"].meaning) == ("2", "Below the surface.")
    assert found["colour"].allowed == "red or none"
    pro = {setting.name: setting.default for setting in describe(Pro)}
    assert (pro["n_draws"], pro["n_kept"], pro["acceptance"]) == (
        "5000; logistic: 100",
        "50; logistic: 100",
        "step; external scores: logistic",
    )


@pytest.mark.parametrize("method", OPTIMISERS)
def test_every_setting_of_a_method_says_what_it_means_and_its_default(method):
    for setting in describe(OPTIMISERS[method]):
        assert setting.meaning, setting.name
        assert setting.default != "none", setting.name


def test_what_mert_advises_can_be_set():
    assert make_optimiser("mert", parse_settings(["features=lm,words", "bounds.lm=[0, 1]", "norm=none"])) == Mert(
        features=("lm", "words"), bounds={"lm": (0.0, 1.0)}, norm=Norm.NONE
    )


def test_plain_is_what_json_holds():
    assert plain(Outer(colour=Colour.RED, bounds={"lm": (0.0, math.inf)}))["bounds"] == {"lm": [0.0, "inf"]}
