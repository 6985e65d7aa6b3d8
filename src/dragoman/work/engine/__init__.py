"""Pure tasks over shards, on one machine or many: jobs whose results come in order, and sums in a fixed order."""

from __future__ import annotations

from dragoman.work.engine.base import Engine, Job
from dragoman.work.engine.choice import EngineName, open_engine
from dragoman.work.engine.local import LocalEngine
from dragoman.work.engine.part import Part
from dragoman.work.engine.tree import Node, TreeSum

__all__ = ["Engine", "EngineName", "Job", "LocalEngine", "Node", "Part", "TreeSum", "open_engine"]
