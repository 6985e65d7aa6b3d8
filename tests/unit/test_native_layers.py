"""The native core is layered like the package: a file includes only from its own folder and the folders above it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "native" / "core"
FOLDERS = [
    "base",
    "names",
    "corpus",
    "align",
    "lm",
    "metric",
    "grammar",
    "templates",
    "forest",
    "search",
    "pool",
    "optim",
]
FILES = sorted(path for path in CORE.rglob("*") if path.suffix in {".cc", ".hh"} and not path.name.endswith("_test.cc"))


def test_every_folder_has_a_place_in_the_order():
    assert sorted({path.relative_to(CORE).parts[0] for path in FILES}) == sorted(FOLDERS)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(CORE)))
def test_includes_and_namespaces_follow_the_folders(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    own = path.relative_to(CORE).parts[0]
    for included in re.findall(r'^#include "(.+)"', source, re.MULTILINE):
        top, folder, *_ = Path(included).parts
        assert top == "core", f"write {included} from the top: core/{own}/..."
        assert FOLDERS.index(folder) <= FOLDERS.index(own), f"{folder} is below {own}"
    named = set(re.findall(r"^namespace (dragoman\S*)", source, re.MULTILINE))
    assert named == {"dragoman" if own == "base" else f"dragoman::{own}"}
