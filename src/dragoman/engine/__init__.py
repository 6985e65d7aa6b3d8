"""Pure tasks over shards, on one machine or many: jobs whose results come in order, and sums in a fixed order."""

from __future__ import annotations

from dragoman.engine.base import Engine, Job
from dragoman.engine.choice import EngineName, open_engine
from dragoman.engine.local import LocalEngine
from dragoman.engine.part import Part
from dragoman.engine.tree import Node, TreeSum

__all__ = ["Engine", "EngineName", "Job", "LocalEngine", "Node", "Part", "TreeSum", "open_engine"]
