"""A piece of work whose result is worth keeping, and the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dragoman.cost import StageCost
from dragoman.files.store import digest_json
from dragoman.work.code import code_digest, core_digest

__all__ = ["Made", "Step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Work, and all that its result depends on: `key` names data and settings, `modules` have the code that does it.

    `work` fills the first folder, and may use the second for what is needed only meanwhile; what it returns, as JSON
    has it, is kept beside the files. If it `resumes`, it finds both folders as a stopped process left them.
    """

    kind: str
    key: Mapping[str, Any]
    modules: Sequence[str]
    work: Callable[[Path, Path], Mapping[str, Any] | None]
    resumes: bool = False

    def identity(self) -> dict[str, Any]:
        """The key with the program."""
        code = {module: code_digest(module) for module in self.modules}
        program = {"dragoman": version("dragoman"), "core": core_digest(), "code": code}
        return {"kind": self.kind, **program, "key": dict(self.key)}

    @property
    def name(self) -> str:
        """Of its folder in a store."""
        return f"{self.kind.replace(' ', '-')}-{digest_json(self.identity())[:24]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The result of a step: a folder, what stands beside its files, and what making it cost since the last stop."""

    folder: Path
    content: Mapping[str, Any]
    cost: StageCost

    @property
    def found(self) -> bool:
        """Whether it was there before."""
        return self.cost.cached
