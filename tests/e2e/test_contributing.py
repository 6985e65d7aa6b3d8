"""What CONTRIBUTING.md tells to write is used from outside, and what it tells to add from a copy of the package."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dragoman
from dragoman import _core

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
COPY = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "dragoman" not in getattr(finder, "known_source_files", ())]
sys.path.insert(0, {package!r})
from dragoman.cli import main
import dragoman
assert dragoman.__file__.startswith({package!r})
main()
"""


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def add_entries(path, table, lines):
    """Imports go before the other imports, entries to the beginning of the table."""
    imports = [line for line in lines if line.startswith("from ")]
    entries = [line for line in lines if line not in imports]
    source = path.read_text(encoding="utf-8")
    source, n = re.subn(
        r"^from __future__.*\n", "\\g<0>" + "".join(f"{line}\n" for line in imports), source, flags=re.M
    )
    opening = rf"^{table}\b.*(?:[({{]\n\s*{{|[({{])$"
    source, m = re.subn(opening, lambda found: "\n".join([found[0], *entries]), source, flags=re.M)
    assert n == m == 1, f"{path.name} has no {table} to add to"
    path.write_text(source, encoding="utf-8")


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A copy of the package with everything added, and a small corpus; returns a function that runs its command."""
    folder = tmp_path_factory.mktemp("grown")
    package = folder / "package" / "dragoman"
    shutil.copytree(Path(dragoman.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_core.__file__, package)
    for block in blocks("python"):
        first, _, code = block.partition("\n")
        place = first.removeprefix("# ")
        path = package / place.removeprefix("src/dragoman/") if place.startswith("src/") else folder / place
        assert not path.exists()
        path.write_text(code, encoding="utf-8")
    for block in blocks("diff"):
        first, *lines = block.splitlines()
        path, table = first.removeprefix("@@ src/dragoman/").split(": ")
        add_entries(package / path, table, [line.removeprefix("+") for line in lines])

    def run(words, *, status=0):
        program = COPY.format(package=str(package.parent))
        done = subprocess.run(
            [sys.executable, "-c", program, *words.split()], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, f"{words}\n{done.stderr}"
        return done.stderr if status else done.stdout

    run("corpus synth -n 300 --dev 1 --test 0 --references 1 -o c")
    for language in ("de", "en"):  # sentences that were trained on: references are among the candidates
        lines = (folder / "c" / f"train.{language}").read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / f"dev.{language}").write_text("".join(lines[:12]), encoding="utf-8")
    run("train -s c/train.de -t c/train.en -o p --quiet")
    run("translate p -i dev.de --nbest 50 --format moses -o lists")
    return run


def test_a_metric(grown):
    assert "100.00" in grown("score dev.en -r dev.en -m exact:Exact --bootstrap 0")
    for method in ("mert", "pro"):
        found = json.loads(
            grown(f"tune --nbest lists -r dev.en --metric exact:Exact --method {method} -o {method} --json")
        )
        assert found["score_before"] <= found["score_after"]


def test_an_optimiser_of_lists(grown):
    assert "n_steps" in grown("tune --method wander:Wander --set help")
    found = json.loads(grown("tune --nbest lists -r dev.en --method wander:Wander --set n_steps=20 -o wandered --json"))
    assert found["score_before"] <= found["score_after"]


def test_a_loss(grown):
    found = json.loads(grown("tune --nbest lists -r dev.en --method ranks:Ranks --set max_epochs=5 -o ranked --json"))
    assert found["score_before"] <= found["score_after"]
    grown("train -s c/train.de -t c/train.en --folds 2 -o folded --quiet")
    found = json.loads(grown("gradient folded --loss ranks:Ranks --limit 20 -o ranks.gradient --json"))
    assert "ranks:Ranks" in json.dumps(found)


@pytest.mark.parametrize("method", ["ForestSteps", "OnlineSteps"])
def test_an_optimiser_of_forests_and_one_that_decodes(grown, method):
    grown(f"tune --system p --source dev.de -r dev.en --method towards:{method} --rounds 2 -o tuned-{method}")
    assert len(grown(f"translate tuned-{method} -i dev.de --quiet").splitlines()) == 12


def test_a_feature_for_candidates(grown):
    found = json.loads(grown("features lists -s dev.de -o shouted --add shouting:Shouting --json"))
    assert found["names"] == ["shouted"]
    found = json.loads(grown("tune --nbest lists -s dev.de --add shouting:Shouting -r dev.en -o w --json"))
    assert found["score_before"] <= found["score_after"]


def test_a_kind_of_system(grown):
    train = "train -s c/train.de -t c/train.en --lm-order 2 --model words"
    refused = " ".join(grown(f"{train} --max-span 3 -o x", status=2).split())
    assert "--max-span belongs to systems of model hiero" in refused
    assert "word pairs" in grown(f"{train} --set unknown=-2.5 --folds 2 -o words")
    found = json.loads(grown("system info words --json"))["settings"]
    assert (found["model"], found["unknown"], "max_phrase_length" in found) == ("words", -2.5, False)
    lines = grown("translate words -i dev.de").splitlines()
    source = grown("corpus tokenize -i dev.de --language de").splitlines()
    assert [len(line.split()) for line in lines] == [len(line.split()) for line in source]
    found = json.loads(grown("tune --system words --source dev.de -r dev.en --rounds 2 -o tuned-words --json"))
    assert found["score_after"] >= found["score_before"]
    assert json.loads(grown("system info tuned-words --json"))["settings"]["model"] == "words"
    assert len(grown("translate tuned-words --without-fold 1 -i dev.de").splitlines()) == len(lines)
    assert "cannot be exported" in grown("system export tuned-words -o e", status=2)


def test_the_template_is_the_one_that_the_native_tests_use():
    [block] = blocks("cpp")
    assert block in (ROOT / "native/core/templates/contributing_test.cc").read_text(encoding="utf-8")
