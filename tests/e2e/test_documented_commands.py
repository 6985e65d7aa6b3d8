"""The commands and the Python of the documentation's walk-through do what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dragoman
from dragoman.candidates import oracle, read_pool, rerank, with_external
from dragoman.features import read_weights

ROOT = Path(__file__).parents[2]


def blocks(page):
    return re.findall(
        r"^```(sh|python)\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


def run_page(page, folder):
    """All blocks in order, in a folder with a link to the examples; returns what was printed."""
    (folder / "examples").symlink_to(ROOT / "examples")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    printed = []
    for language, code in blocks(page):
        words = ["bash", "-euc", code] if language == "sh" else [sys.executable, "-c", code]
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{code}\n{done.stderr}"
        printed.append(done.stdout)
    return printed


def test_reranking(tmp_path):
    printed = run_page("docs/reranking.md", tmp_path)
    assert len(printed) == 11
    assert "held out" in printed[1]
    test = with_external(read_pool([tmp_path / "test.jsonl"]), "quality")
    plain = rerank(test, read_weights(tmp_path / "weights.tsv"))
    assert [text for _, text in plain.texts()] == (tmp_path / "test.out").read_text().splitlines()
    first, best = float(re.search(r"test: ([\d.]+) -> ([\d.]+)", printed[9])[1]), oracle(test).score()
    chosen = float(re.search(r"test: ([\d.]+) -> ([\d.]+)", printed[9])[2])
    assert first < plain.score() < chosen < best
    assert first < float(printed[10].split()[-1]) < best
    assert len((tmp_path / "test-qe.out").read_text().splitlines()) == 200
    # The figures of the page.
    page = (ROOT / "docs" / "reranking.md").read_text(encoding="utf-8")
    for value in (first, plain.score(), chosen, best):
        assert f"{value:.3f}" in page, value


def test_python(tmp_path):
    """On a smaller corpus; every block is a program of its own."""
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    smaller = page.replace("-n 2000 --dev 100 --test 100", "-n 400 --dev 30 --test 10").replace(
        "max_rounds=3", "max_rounds=1"
    )
    assert smaller != page
    (tmp_path / "page.md").write_text(smaller, encoding="utf-8")
    printed = run_page(tmp_path / "page.md", tmp_path)
    assert printed[1].startswith("System('tuned', phrase, ")
    assert "Pool(2 sentences, " in printed[2]
    assert printed[3].startswith("TuneRecord(bleu ")
    assert len((tmp_path / "test.out").read_text().splitlines()) == 10
    assert "Choice(10 of 10 sentences)" in printed[4]
    assert len(re.findall(r"^(mert|pro|mira|start): ", printed[6], re.MULTILINE)) >= 3
    names = page[page.index("## Names") :]
    assert set(re.findall(r"`(\w+)`", names)) == set(dragoman.__all__) - {"__version__"}


def test_the_training_text(tmp_path):
    """The worked example, on a smaller corpus."""
    page = (ROOT / "docs" / "training-text.md").read_text(encoding="utf-8")
    smaller = page[page.index("## A worked example") :]
    for long, short in (("-n 4000", "-n 250"), ("--k 100", "--k 20"), ("limit=300", "limit=40")):
        assert long in smaller
        smaller = smaller.replace(long, short)
    (tmp_path / "page.md").write_text(smaller, encoding="utf-8")
    printed = run_page(tmp_path / "page.md", tmp_path)
    before, after = re.findall(r"loss ([\d.]+)", printed[-1])
    assert float(after) < float(before)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "gradient").read_bytes()
    assert not (tmp_path / "gradient.run").exists()


def test_the_systems_of_the_lecture(tmp_path):
    """On a smaller corpus; what the explorer shows of them is tested elsewhere."""
    page = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    smaller = page[page.index("## A lecture with it") : page.index("## The API")]
    for long, short in (("-n 20000 -o", "-n 300 --dev 10 --test 10 -o"), ("--method mert", "--method mert --rounds 1")):
        assert long in smaller
        smaller = smaller.replace(long, short)
    (tmp_path / "page.md").write_text(smaller, encoding="utf-8")
    run_page(tmp_path / "page.md", tmp_path)
    for name in ("phrase", "hiero", "tuned"):
        assert (tmp_path / name / "system.json").exists()
    assert (tmp_path / "tuned" / "tune" / "test").is_dir()


def test_curves(tmp_path):
    """The worked example, on a smaller corpus."""
    page = (ROOT / "docs" / "curve.md").read_text(encoding="utf-8")
    smaller = page[page.index("## A worked example") :]
    for long, short in (("-n 2000 --dev 100 --test 100", "-n 200 --dev 10 --test 10"), ("--rounds 4", "--rounds 1")):
        assert long in smaller
        smaller = smaller.replace(long, short)
    (tmp_path / "page.md").write_text(smaller, encoding="utf-8")
    printed = run_page(tmp_path / "page.md", tmp_path)
    assert "5 checks by decoding" in printed[0] or "4 checks by decoding" in printed[0]
    assert "intervals; BLEU" in printed[-1]
    assert {"lm.svg", "lm.tsv", "rules.html"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("page", sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")))
def test_links_of_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", (ROOT / page).read_text(encoding="utf-8")):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), target
