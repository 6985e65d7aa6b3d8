"""One command from lists to weights, a reranked test set and a page."""

from __future__ import annotations

import json
import random

import pytest
from typer.testing import CliRunner

from dragoman.cli import app
from dragoman.errors import InputError
from dragoman.features import read_weights
from dragoman.metric import Bleu, score_text
from dragoman.text import read_lines
from small_text import write_lines, write_splits


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("ablate")
    write_splits(path, 250, 25, 12, seed=8)
    rng = random.Random(1)
    vocabulary = sorted({word for line in read_lines(path / "train.en") for word in line.split()})
    for part in ("dev", "test"):
        rows = []
        for id_, line in enumerate(read_lines(path / f"{part}.en")):
            for _ in range(6):
                words = line.split()
                n = rng.randint(0, 4)
                for _ in range(n):
                    words[rng.randrange(len(words))] = rng.choice(vocabulary)
                scores = {"quality": 1 - n / 5}
                features = {"model": -n + rng.gauss(0, 2), "noise": rng.gauss(0, 1)}
                rows.append({"id": id_, "text": " ".join(words), "features": features, "scores": scores})
        write_lines(path / f"{part}.jsonl", map(json.dumps, rows))
    return path


def run(folder, out, *more):
    told = ["--nbest", folder / "dev.jsonl", "-s", folder / "dev.de", "-r", folder / "dev.en"]
    told += ["--test-nbest", folder / "test.jsonl", "--test-source", folder / "test.de"]
    told += ["--test-reference", folder / "test.en", "-o", out, "--json", "--seeds", "2", *more]
    return CliRunner().invoke(app, ["ablate", *map(str, told)])


def test_weights_translations_and_a_page(folder, tmp_path):
    out = tmp_path / "out"
    done = run(folder, out, "--train-source", folder / "train.de", "--train-target", folder / "train.en")
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    rows = {(row["features"], row["method"]): row for row in result["rows"]}
    groups = ["own", "language-model", "word-translations", "agreement", "surface"]
    assert list(rows) == [("own", "first"), *((group, "mira") for group in groups)]
    held_out = {group: rows[group, "mira"]["held_out"] for group in groups}
    assert result["kept"] == {"features": max(held_out, key=held_out.get), "method": "mira"}
    texts = list(read_lines(out / "test.out"))
    references = [list(read_lines(folder / "test.en"))]
    score = 100 * score_text(Bleu(), texts, references).score
    assert score > rows["own", "first"]["test"]
    assert abs(score - rows[result["kept"]["features"], "mira"]["test"]) < 5  # the mean over two seeds
    assert dict(read_weights(out / "weights.tsv").items())
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Which features help to choose from these lists" in page
    assert all(group in page for group in groups)
    assert rows["own", "first"]["p_value"] is None
    assert 0 < rows["own", "mira"]["p_value"] <= 1
    # The command that it names reranks the same lists to the same choice.
    again = result["rerank"].split()[1:]
    again[again.index("LISTS")] = str(folder / "test.jsonl")
    if "SOURCE" in again:
        again[again.index("SOURCE")] = str(folder / "test.de")
    reranked = CliRunner().invoke(app, [*again, "-o", str(tmp_path / "again.out")])
    assert reranked.exit_code == 0, reranked.output
    assert list(read_lines(tmp_path / "again.out")) == texts
    # A finished run is not done again.
    first = (out / "weights.tsv").read_bytes()
    training = ("--train-source", folder / "train.de", "--train-target", folder / "train.en")
    assert run(folder, out, *training, "--resume").exit_code == 0
    assert (out / "weights.tsv").read_bytes() == first


def test_without_parallel_text_by_a_score(folder, tmp_path):
    done = run(folder, tmp_path / "out", "--external", "quality", "--method", "pro")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["rows"]
    assert [row["features"] for row in rows] == ["own", "own", "agreement", "surface"]
    assert all(0 <= row["held_out"] <= 1 for row in rows[1:])  # as in the file


def test_what_does_not_fit(folder, tmp_path):
    one = run(folder, tmp_path / "out", "--train-source", folder / "train.de")
    assert "give both" in one.output + str(one.exception)
    other = run(folder, tmp_path / "out", "--method", "hols")
    assert "does not learn from lists" in other.output + str(other.exception)
    lost = run(folder, tmp_path / "out", "--train-source", "none", "--train-target", "none")
    assert isinstance(lost.exception, InputError) or lost.exit_code == 2
