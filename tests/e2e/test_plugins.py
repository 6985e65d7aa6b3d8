"""A distribution that is installed beside the package brings a method, a metric and a feature; a file brings others."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import pytest
from tests.kit.small_text import write_lines, write_splits

from dragoman.text import read_lines

PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "dragoman-loud"
version = "1"
[project.entry-points."dragoman.methods"]
nudge = "loud:Nudge"
[project.entry-points."dragoman.metrics"]
first-word = "loud:FirstWord"
[project.entry-points."dragoman.candidate_features"]
capitals = "loud:Capitals"
[tool.setuptools]
py-modules = ["loud"]
"""
MODULE = '''
from dataclasses import dataclass

import numpy as np

from dragoman import _core
from dragoman.candidates import rerank
from dragoman.candidates.features import CandidateFeature
from dragoman.features import Weights
from dragoman.metric import WordMetric
from dragoman.optim import Learned, Optimiser


@dataclass(frozen=True, slots=True, kw_only=True)
class Nudge(Optimiser):
    """Random steps of which the ones that help are kept."""

    n_steps: int = 20
    """Steps to try."""

    def learn(self, problem):
        rng = np.random.default_rng([problem.seed, problem.round_number])
        best, gain = problem.start.values, -1.0
        for _ in range(self.n_steps):
            values = best + rng.normal(size=len(best)) * ~problem.frozen
            if (found := rerank(problem.pool, Weights(problem.pool.index, values)).gain()) > gain:
                best, gain = values, found
        return Learned(values=best, trace=[{"gain": gain}])


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstWord(WordMetric):
    """The share of sentences that begin as a reference does."""

    n_stats = 2

    def tokenise(self, lines):
        return [line.split() for line in lines]

    def _count(self, words, spelling, n_threads):
        hyp_at, hyps, sentences, refs_of, ref_at, refs = words
        found = np.zeros((len(sentences), 2)) + (0, 1)
        for i, s in enumerate(sentences):
            first = hyps[hyp_at[i] : hyp_at[i + 1]][:1].tolist()
            found[i, 0] = any(first == refs[ref_at[r] :][:1].tolist() for r in range(refs_of[s], refs_of[s + 1]))
        return found

    def score_of(self, total):
        return total[..., 0] / np.maximum(total[..., 1], 1)

    def scorer(self):
        return _core.mean_scorer()


class Capitals(CandidateFeature):
    """Words in capital letters."""

    names = ("capitals",)

    def __init__(self, argument):
        pass

    def values(self, block, n_threads):
        return np.array([[float(sum(word.isupper() for word in text.split()))] for text in block.texts])
'''
RECIPE = """
kind = "lists"
title = "Loud"
[corpora.small]
dev = { source = "dev.de", references = "dev.en" }
test = { source = "test.de", references = "test.en" }
lists.near = { dev = "dev.jsonl", test = "test.jsonl" }
[systems.near]
[features.own]
add = ["capitals", "own:Shout=2"]
[optimisers.nudge]
metric = "0.5*bleu + 0.5*first-word"
settings = { n_steps = 5 }
[optimisers.mine]
method = "own:Mine"
metric = "own:Words"
[[grid]]
optimisers = ["nudge", "mine"]
seeds = [1, 2]
[report]
metrics = ["bleu", "first-word", "own:Words"]
"""
OWN = '''
from loud import Capitals, FirstWord, Nudge


class Mine(Nudge):
    """With another name."""


class Words(FirstWord):
    """With another name."""


class Shout(Capitals):
    names = ("shout",)
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("plugins")
    (path / "project").mkdir()
    (path / "project" / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (path / "project" / "loud.py").write_text(MODULE, encoding="utf-8")
    pip = "-m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation"
    subprocess.run([sys.executable, *pip.split(), "--target", path / "site", path / "project"], check=True)
    write_splits(path, 40, 25, 12, seed=8)
    rng = random.Random(1)
    for part in ("dev", "test"):
        rows = []
        for id_, line in enumerate(read_lines(path / f"{part}.en")):
            for _ in range(5):
                words = line.split()
                n = rng.randint(0, 3)
                for _ in range(n):
                    words[rng.randrange(len(words))] = "NO"
                rows.append({"id": id_, "text": " ".join(words), "features": {"model": rng.gauss(-n, 2), "noise": 1}})
        write_lines(path / f"{part}.jsonl", map(json.dumps, rows))
    (path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    (path / "own.py").write_text(OWN, encoding="utf-8")
    return path


@pytest.fixture
def run(folder):
    def command(words, *, status=0):
        environment = {**os.environ, "PYTHONPATH": str(folder / "site"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "dragoman", *words.split()],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, f"{words}\n{done.stdout}{done.stderr}"
        return " ".join(done.stderr.split()) if status else done.stdout + (done.stderr if "--json" not in words else "")

    return command


def test_a_recipe_its_comparison_and_its_page(run, folder):
    run("run recipe.toml -o run")
    rows = json.loads(run("compare run --trials 50 --bootstrap 50 --json -m first-word -m own:Words -m bleu"))["rows"]
    assert {row["optimiser"] for row in rows} == {"start", "mine", "nudge"}
    for row in rows:
        assert row["mean"]["first-word"] == row["mean"]["own:Words"] > 50
    run("report run -o page.html")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "first-word" in page
    assert "own:Words" in page
    # What was done is not done again; cells of an edited file are.
    assert "anew" not in run("run recipe.toml -o run --resume")
    before = {path: path.stat().st_mtime_ns for path in (folder / "run").glob("cells/*/*/*/*/*/weights/0002.tsv")}
    (folder / "own.py").write_text(OWN.replace("With another name", "Edited"), encoding="utf-8")
    said = run("run recipe.toml -o run --resume")
    assert "has changed; the cell is made anew" in " ".join(said.split())
    after = {path: path.stat().st_mtime_ns for path in before}
    assert len(before) == 4
    assert all(after[path] > time for path, time in before.items())


def test_ablation(run):
    told = "ablate --nbest dev.jsonl -s dev.de -r dev.en --test-nbest test.jsonl --test-source test.de"
    result = json.loads(
        run(f"{told} --test-reference test.en --method nudge --method mira -m first-word --seeds 1 -o ablated --json")
    )
    assert {row["method"] for row in result["rows"]} == {"first", "nudge", "mira"}
    assert result["metric"] == "first-word"


def test_a_tuning_knows_edited_code(run, folder):
    (folder / "other.py").write_text(OWN, encoding="utf-8")
    told = (
        "tune --nbest dev.jsonl -s dev.de -r dev.en --add other:Shout --method other:Mine --set n_steps=9 --run tuned"
    )
    assert json.loads(run(f"{told} -o w --json"))["metric"] == "bleu"
    run(f"{told} -o w --resume")
    (folder / "other.py").write_text(OWN + "# edited\n", encoding="utf-8")
    said = run(f"{told} -o w --resume", status=2)
    assert "started with another version of the code of other:Mine, other:Shout; start anew" in said


def test_scores_and_names(run):
    assert "100.00" in run("score dev.en -r dev.en -m first-word --bootstrap 0")
    assert "100.00" in run("score dev.en -r dev.en -m own:Words --bootstrap 0")
    assert "n_steps" in run("tune --method nudge --set help")
    methods = json.loads(run("tune --nbest dev.jsonl -r dev.en --method nudge --method cll --json -o w2"))["methods"]
    assert {row["method"] for row in methods} == {"start", "nudge", "cll"}
    said = run("tune --nbest dev.jsonl -r dev.en --method nugde -o w3", status=2)
    assert "there is no method 'nugde'; did you mean nudge?" in said
    assert len(run("mbr dev.jsonl -m first-word").splitlines()) >= 25
