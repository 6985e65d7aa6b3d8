"""The working folder of Moses' mert-moses.pl: its rounds, its weights, its references."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import InputError
from dragoman.types import PathLike

__all__ = ["MosesRun", "moses_references", "read_moses_run"]

_LIST = re.compile(r"run(\d+)\.best\d+\.out(\.gz)?\Z")
_STATISTICS = re.compile(r"run(\d+)\.(features|scores)\.dat(\.gz)?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class MosesRun:
    """Files of a working folder.

    `lists` are those of all rounds, in order, and `statistics` the features and scores that its extractor made of
    them; `weights` are what the last round was decoded with, dense and sparse, and `config` its moses.ini.
    `references` are those that the extractor was called with; empty if it does not say.
    """

    lists: tuple[Path, ...]
    statistics: tuple[tuple[Path, Path], ...]
    weights: tuple[Path, ...]
    references: tuple[Path, ...]
    config: Path | None


def read_moses_run(folder: PathLike) -> MosesRun:
    """Find the files of a working folder. Raises InputError if it has no lists or no weights."""
    root = Path(folder)
    if not root.is_dir():
        raise InputError("is no folder; expected the working folder of mert-moses.pl", path=root)
    rounds = {int(match[1]): path for path in root.iterdir() if (match := _LIST.match(path.name))}
    statistics = _statistics(root)
    if not rounds and not statistics:
        raise InputError("has no lists of rounds (run1.best100.out.gz, ...), nor statistics", path=root)
    last = max([*rounds, *statistics])
    weights = [path for name in ("dense", "sparse-weights") if (path := root / f"run{last}.{name}").exists()]
    if not weights:
        raise InputError(f"has round {last} but no run{last}.dense, the weights of that round", path=root)
    config = root / f"run{last}.moses.ini"
    return MosesRun(
        lists=tuple(rounds[number] for number in sorted(rounds)),
        statistics=tuple(statistics[number] for number in sorted(statistics)),
        weights=tuple(weights),
        references=_told_references(root),
        config=config if config.exists() else None,
    )


def _statistics(root: Path) -> dict[int, tuple[Path, Path]]:
    """By round the files of features and scores, where both are there."""
    found: dict[int, dict[str, Path]] = {}
    for path in sorted(root.iterdir()):
        if match := _STATISTICS.match(path.name):
            found.setdefault(int(match[1]), {}).setdefault(match[2], path)
    return {number: (each["features"], each["scores"]) for number, each in found.items() if len(each) == 2}


def _told_references(root: Path) -> tuple[Path, ...]:
    """What stands after -r in extractor.sh; paths are relative to the working folder."""
    script = root / "extractor.sh"
    if not script.exists():
        return ()
    for line in script.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue
        if "-r" in words[:-1]:
            names = words[words.index("-r") + 1].split(",")
            return tuple(root / name for name in names if name)
    return ()


def moses_references(name: str) -> list[str]:
    """The reference files that mert-moses.pl would take: the file, or NAME0, NAME1, ... or NAME.ref0, NAME.ref1, ...

    Raises InputError if there is none.
    """
    if Path(name).is_file():
        return [name]
    for stem in (name, f"{name}.ref"):
        found: list[str] = []
        while Path(f"{stem}{len(found)}").is_file():
            found.append(f"{stem}{len(found)}")
        if found:
            return found
    raise InputError("cannot be read, and there is no file of that name followed by 0 or .ref0", path=name)
