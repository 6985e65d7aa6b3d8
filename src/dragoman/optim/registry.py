"""Methods by the name that users give."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from dragoman import register
from dragoman.errors import InputError
from dragoman.metric import Metric
from dragoman.optim.base import Optimiser
from dragoman.optim.cll import Cll
from dragoman.optim.context import LearnsFrom
from dragoman.optim.fastforest import FastForest
from dragoman.optim.forest_mert import ForestMert
from dragoman.optim.hols import Hils, Hols
from dragoman.optim.loss import Loss, LowersLoss
from dragoman.optim.mert import Mert
from dragoman.optim.mira import Mira
from dragoman.optim.online_descent import OnlineSoftRamp, OnlineSvm
from dragoman.optim.online_margin import OnlineMira, OnlineRm
from dragoman.optim.perceptron import Perceptron
from dragoman.optim.pro import Pro
from dragoman.optim.rampion import Rampion
from dragoman.optim.rm import Rm
from dragoman.optim.softramp import SoftRamp
from dragoman.optim.svm import Svm
from dragoman.optim.units import Units
from dragoman.optim.xbleu import Xbleu
from dragoman.register import Registry, subclass_of
from dragoman.settings import from_values, listed, settable

__all__ = [
    "LIST_METHODS",
    "LOSSES",
    "OPTIMISERS",
    "list_methods",
    "make_loss",
    "make_optimiser",
    "method_name",
    "method_named",
]

_METHODS: tuple[type[Optimiser], ...] = (
    Mert,
    Pro,
    Mira,
    Rm,
    Rampion,
    SoftRamp,
    Svm,
    Xbleu,
    Cll,
    Perceptron,
    ForestMert,
    OnlineMira,
    OnlineRm,
    OnlineSvm,
    OnlineSoftRamp,
    Hols,
    Hils,
    FastForest,
)
OPTIMISERS: Registry[type[Optimiser]] = register.METHODS
"""All methods, those of others (`dragoman.register`) too."""

OPTIMISERS.add_all({method.name: method for method in _METHODS})

LIST_METHODS = tuple(method.name for method in _METHODS if method.learns_from is LearnsFrom.LISTS)
"""The package's own methods that learn from candidate lists, whatever decoder made them."""


def _lowers_loss(method: type[Optimiser]) -> bool:
    return issubclass(method, LowersLoss) and not issubclass(method, Hols)


LOSSES = tuple(method.name for method in _METHODS if _lowers_loss(method))
"""The package's own methods that lower a loss, which has a gradient. The loss of `hols` is one of theirs."""

_ONLINE = "online-"


def method_name(name: str, *, online: bool) -> str:
    """The name of a method's online form."""
    if not online or name.startswith(_ONLINE):
        return name
    able = [other.removeprefix(_ONLINE) for other in OPTIMISERS if other.startswith(_ONLINE)]
    if name not in able:
        raise InputError(f"{name} cannot learn online; there are: {', '.join(able)}")
    return _ONLINE + name


def method_named(name: str) -> type[Optimiser]:
    """The class of a method. Raises InputError for an unknown name, with those that exist."""
    method: type[Optimiser] = subclass_of(Optimiser, OPTIMISERS.named(name), name)
    return method


def list_methods() -> tuple[str, ...]:
    """All methods that learn from candidate lists, those of others too."""
    return tuple(name for name in OPTIMISERS if method_named(name).learns_from is LearnsFrom.LISTS)


def make_optimiser(name: str, settings: Mapping[str, Any] = MappingProxyType({})) -> Optimiser:
    """The method of that name with some of its settings.

    Raises InputError for an unknown method or setting, with those that exist, and for a value of the wrong kind.
    """
    return from_values(method_named(name), settings, name=name)


def make_loss(name: str, metric: Metric, settings: Mapping[str, Any] = MappingProxyType({})) -> Loss:
    """The loss that the method of that name lowers, with some of the method's settings.

    Raises InputError as `make_optimiser`, for a method without a loss, and for a setting that its loss does not depend
    on, such as the length of a step.
    """
    if not (name in OPTIMISERS and _lowers_loss(method_named(name))):
        raise InputError(f"there is no loss '{name}'; {listed(name, LOSSES)}")
    method = _method(name, settings)
    loss = _loss(method, metric)
    for key in settings:
        try:
            without = _method(name, {other: value for other, value in settings.items() if other != key})
        except InputError:  # another setting needs this one
            continue
        if loss == _loss(without, metric) and method != without:
            raise InputError(f"the loss of {name} does not depend on its setting '{key}'")
    return loss


def _loss(method: Optimiser, metric: Metric) -> Loss:
    assert isinstance(method, LowersLoss)
    return method.loss(metric)


def _method(name: str, settings: Mapping[str, Any]) -> Optimiser:
    """A method as its loss needs it: there are no lists of a start to take units from."""
    raw = {"units": Units.RAW.value} if "units" in settable(method_named(name)) else {}
    return make_optimiser(name, {**raw, **settings})
