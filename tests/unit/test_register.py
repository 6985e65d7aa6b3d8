"""Methods, metrics and features of candidates that the package does not bring."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from tests.kit.pools import pool_of

from dragoman import register
from dragoman.candidates.features import add_candidate_features
from dragoman.candidates.features.base import CandidateFeature
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import METRICS, Mix, by_name
from dragoman.optim import LIST_METHODS, OPTIMISERS, Learned, Mert, Optimiser, Problem, list_methods, make_optimiser
from dragoman.register import Registry, code_of

ROOT = Path(__file__).parents[1]

METHOD = '''
from dataclasses import dataclass
from dragoman.optim import Learned, Optimiser


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep(Optimiser):
    """Keeps what there is."""

    n: int = 3
    """How often."""

    def learn(self, problem):
        return Learned(values=problem.start.values + 0.25, trace=[{"n": self.n}])
'''
METRIC = '''
from dataclasses import dataclass
import numpy as np
from dragoman import _core
from dragoman.metric.base import WordMetric


@dataclass(frozen=True, slots=True, kw_only=True)
class Length(WordMetric):
    """How many candidates have a word."""

    lowercase: bool = False
    n_stats = 2

    def tokenise(self, lines):
        return [line.split() for line in lines]

    def _count(self, words, spelling, n_threads):
        return np.stack([np.diff(words[0]) > 0, np.ones(len(words[2]))], axis=1).astype(float)

    def score_of(self, total):
        return total[..., 0] / np.maximum(total[..., 1], 1)

    def scorer(self):
        return _core.mean_scorer()
'''


@pytest.fixture
def module(tmp_path, monkeypatch, request):
    """Writes a module into the current folder; gives its name, which is another one for every test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    name = f"own_{abs(hash(request.node.nodeid))}"

    def write(text):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        return name

    yield write
    sys.modules.pop(name, None)


@pytest.fixture
def registry(monkeypatch):
    """A registry, and a function that says what installed distributions offer."""
    points = []
    monkeypatch.setattr(register, "entry_points", lambda group: [p for p in points if p.group == group])
    made = Registry("thing", "dragoman.things")

    def offer(name, value):
        points.append(EntryPoint(name, value, "dragoman.things"))

    return made, offer


def test_a_decorator_names_a_class_and_registers_it(monkeypatch):
    monkeypatch.setattr(OPTIMISERS, "_added", dict(OPTIMISERS._added))

    @register.method("stay")
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Stay(Optimiser):
        def learn(self, problem: Problem) -> Learned:
            return Learned(values=problem.start.values, trace=[{}])

    assert make_optimiser("stay") == Stay()
    assert Stay.name == Stay().name == "stay"
    assert "stay" in list_methods()
    assert "stay" not in LIST_METHODS
    assert list_methods()[: len(LIST_METHODS)] == LIST_METHODS


def test_a_name_that_is_taken_is_refused_with_both_places(registry):
    things, offer = registry

    @things("one")
    class One:
        pass

    assert things.named("one") is One
    with pytest.raises(InputError, match=r"two things 'one': .*:.*One \(.*test_register.py:\d+\), and .*Mert"):
        things.add("one", Mert)
    things.add("one", One)  # as when a module is loaded again
    offer("one", "other:One")
    with pytest.raises(InputError, match=r"two things 'one': .*One .*, and other:One of"):
        things.named("two")
    assert things.imported() == ["one"]  # help is there all the same


def test_two_distributions_that_offer_one_name(registry):
    things, offer = registry
    offer("two", "first:Two")
    offer("two", "second:Two")
    with pytest.raises(InputError, match=r"first:Two of .* and second:Two of"):
        list(things)


def test_an_entry_point_is_imported_when_it_is_asked_for(registry, module):
    things, offer = registry
    name = module("class Thing:\n    name = ''\n")
    offer("thing", f"{name}:Thing")
    offer("broken", "no_such_module:Thing")
    assert list(things) == ["thing", "broken"]
    assert name not in sys.modules
    assert things.named("thing").name == "thing"
    with pytest.raises(InputError, match="the thing broken of .* cannot be imported: ModuleNotFoundError: .*no_such"):
        things.named("broken")
    with pytest.raises(InputError, match="there is no thing 'thinq'; did you mean thing"):
        things.named("thinq")


def test_a_method_by_its_place(module):
    place = f"{module(METHOD)}:Keep"
    method = make_optimiser(place, {"n": 5})
    assert (method.n, method.name) == (5, place)
    assert make_optimiser(method.name) == make_optimiser(place)
    assert place not in list(OPTIMISERS)
    with pytest.raises(InputError, match="has no setting 'm'; it has: n"):
        make_optimiser(place, {"m": 5})


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("no_such_module:Keep", "ModuleNotFoundError: No module named 'no_such_module'; expected PACKAGE.MODULE:CLASS"),
        ("json:Keep", "AttributeError: .*Keep"),
        ("json:dumps", "'json:dumps' is .*, not a subclass of dragoman.optim.base.Optimiser"),
        ("mertt", "there is no method 'mertt'; did you mean mert"),
    ],
)
def test_what_is_no_method(place, message):
    with pytest.raises(InputError, match=message):
        make_optimiser(place)


def test_a_metric_by_its_place(module, monkeypatch):
    place = f"{module(METRIC)}:Length"
    metric = by_name(place, lowercase=True)
    assert metric.lowercase
    assert by_name(metric.name, lowercase=True) == metric
    with pytest.raises(InputError, match="not a subclass of .*Metric"):
        by_name("json:JSONDecoder")
    monkeypatch.setattr(METRICS, "_added", dict(METRICS._added))
    register.metric("length-of-mine")(type(metric))
    mixed = by_name("(length-of-mine + bleu)/2", lowercase=True)
    assert isinstance(mixed, Mix)
    assert mixed.terms[0] == (0.5, metric)
    assert by_name(mixed.name, lowercase=True) == mixed


class Shout(CandidateFeature):
    names = ("shouts",)

    def __init__(self, argument=None):
        self.factor = float(argument or 1)

    def values(self, block, n_threads):
        return np.array([[self.factor * text.isupper()] for text in block.texts])


def test_a_feature_as_object_and_by_its_place(tmp_path, monkeypatch):
    from dragoman.candidates import read_nbest

    (tmp_path / "list").write_text("0 ||| HALLO ||| f= 1 ||| 1\n0 ||| hallo ||| f= 2 ||| 2\n", encoding="utf-8")
    pool = read_nbest(tmp_path / "list")
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT)])
    for told, expected in (
        ([Shout()], [1, 0]),
        ([Shout("2"), "length"], [2, 0]),
        (["unit.test_register:Shout=3"], [3, 0]),
    ):
        found = add_candidate_features(pool, told, ["hallo"])
        id_ = found.index.find("shouts")
        (shard,) = found.shards
        values = [
            sum(shard.feature_values[a:b][shard.feature_ids[a:b] == id_])
            for a, b in zip(shard.feature_rows, shard.feature_rows[1:], strict=False)
        ]
        assert values == expected
    with pytest.raises(InputError, match="there is no feature for candidates 'shout'; expected one of"):
        add_candidate_features(pool, ["shout"], ["hallo"])


def test_code_is_that_of_others_only(module):
    name = module(METHOD)
    method = make_optimiser(f"{name}:Keep")
    assert code_of(Mert(), by_name("(ter-bleu)/2"), {"a": [1, "b", None]}) == {}
    found = code_of({"x": [method]})["code"]
    assert list(found) == [f"{name}:Keep"]
    register._digest.cache_clear()
    module(METHOD.replace("0.25", "0.5"))
    assert code_of(method)["code"] != found
    assert code_of(lambda: 1)["code"].keys() == {f"{__name__}:test_code_is_that_of_others_only.<locals>.<lambda>"}


@pytest.mark.parametrize("name", LIST_METHODS)
def test_neither_a_start_nor_a_seed_is_needed(name):
    rng = np.random.default_rng(3)
    draws = rng.normal(size=(40, 8, 3))
    pool = pool_of([[({"a": a, "b": b}, a + c / 4) for a, b, c in each] for each in draws.tolist()])
    result = make_optimiser(name).optimise(pool)
    assert result.weights["a"] > 0
    assert result.gain_after > result.gain_before
    same = make_optimiser(name).optimise(pool, Weights.from_dict({}), seed=1)
    np.testing.assert_array_equal(same.weights.values, result.weights.values)
