"""The example that says what features are worth runs on generated lists, and its table is whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from dragoman.system import train
from small_text import write_splits

EXAMPLES = Path(__file__).parents[2] / "examples" / "rerank"


def run(*words):
    done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_table(tmp_path):
    write_splits(tmp_path, 200, 30, 30, seed=2)
    train(tmp_path / "train.de", tmp_path / "train.en", tmp_path / "system")
    for number, name in enumerate(("dev", "test")):
        run(EXAMPLES / "make_lists.py", tmp_path / f"{name}.en", tmp_path / f"{name}.jsonl", "--seed", number)
    shown = run(
        EXAMPLES / "feature_groups.py",
        *("--dev", tmp_path / "dev.jsonl", "--dev-source", tmp_path / "dev.de", "-r", tmp_path / "dev.en"),
        *("--test", tmp_path / "test.jsonl", "--test-source", tmp_path / "test.de"),
        *("--test-reference", tmp_path / "test.en", "--system", tmp_path / "system"),
        *("--main", "forward", "--others", "backward", "--methods", "mira", "--seeds", "1,2"),
        *("--json", tmp_path / "out.json"),
    )
    result = json.loads((tmp_path / "out.json").read_text())
    groups = [row["group"] for row in result["rows"]]
    assert groups[0] == "one model"
    assert groups[-1] == "+ surface"
    assert shown.count("| mira |") == len(groups) == 7
    by_group = {row["group"]: row for row in result["rows"]}
    assert by_group["models"]["p"] == 1
    assert by_group["+ surface"]["n_features"] > by_group["models"]["n_features"]
    for row in result["rows"]:
        assert 0 < row["p"] <= 1
        assert 0 < row["test"] <= result["oracle"] + 1e-9
