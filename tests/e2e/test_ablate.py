"""One command from lists to weights, a reranked test set and a page."""

from __future__ import annotations

import json
import random
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from dragoman.cli import app
from dragoman.errors import InputError
from dragoman.evaluate import Measured
from dragoman.features import Weights, read_weights
from dragoman.metric import Bleu, Smoothing, Tokenizer, by_name, score_text
from dragoman.pool import read_pool, read_references, rerank, with_external, with_metric
from dragoman.rescoring import add_candidate_features
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


def run(folder, out, *more, dev=None, test=None):
    told = ["--nbest", dev or folder / "dev.jsonl", "-s", folder / "dev.de", "-r", folder / "dev.en"]
    told += ["--test-nbest", test or folder / "test.jsonl", "--test-source", folder / "test.de"]
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
    # The page begins with what was chosen without the test set, not with the best row there.
    headline = re.search('<p class="headline">([^<]*)', page)[1]
    mine = rows[result["kept"]["features"], "mira"]
    assert headline.startswith("Held-out sentences of the development set chose mira with the")
    assert f"{mine['test']:.2f} BLEU on the test set, the mean of 2 trainings" in headline
    assert (
        f"where the first of each list has {rows['own', 'first']['test']:.2f} (p = {mine['p_value']:.4f}: " in headline
    )
    assert page.count('class="headline"') == 1
    assert rows["own", "first"]["p_value"] is rows["own", "first"]["p_step"] is None
    assert 0 < rows["own", "mira"]["p_value"] == rows["own", "mira"]["p_step"] <= 1
    assert rows["agreement", "mira"]["p_step"] != rows["agreement", "mira"]["p_value"]
    assert all(text in page for text in ("Groups of features, one after another", "p (step)", "+ agreement"))
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
    result = json.loads(done.stdout)
    rows = result["rows"]
    assert result["metric"] == result["test_metric"] == "quality"
    assert [row["features"] for row in rows] == ["own", "own", "agreement", "surface"]
    assert all(0 <= row["held_out"] <= 1 for row in rows[1:])  # as in the file
    # The first of each list is measured by the score, too, and each row tested by it against the one before.
    first = {part: chosen(folder, part) for part in ("dev", "test")}
    assert [rows[0]["dev"], rows[0]["test"]] == [pytest.approx(each.score()) for each in first.values()]
    cells = tmp_path / "out" / "run" / "cells" / "lists" / "lists"
    own, more = (
        [chosen(folder, "test", cells / group / "pro" / seed) for seed in "12"] for group in ("own", "agreement")
    )
    assert rows[1]["test"] == pytest.approx(sum(each.score() for each in own) / 2)
    assert rows[1]["p_value"] == rows[1]["p_step"] == p_value([first["test"]], own)
    assert (rows[2]["p_value"], rows[2]["p_step"]) == (p_value([first["test"]], more), p_value(own, more))
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "test quality" in page
    assert f'<td class="numeric">{rows[1]["held_out"]:.6g}' in re.sub(r"\s+", " ", page)  # not times 100


def chosen(folder, part, cell=None):
    """What a cell chooses by the score `quality`; the first of each list without."""
    pool = with_external(read_pool([folder / f"{part}.jsonl"]), "quality")
    pool = add_candidate_features(pool, ["agreement"], list(read_lines(folder / f"{part}.de")))
    return rerank(pool, Weights.from_dict({}) if cell is None else read_weights(cell / "weights" / "0002.tsv"))


def p_value(*rows):
    statistics = (np.stack([each.pool.shards[0].stats[each.candidates[0]] for each in row]) for row in rows)
    measured = Measured(metric=rows[0][0].pool.metric, statistics=tuple(statistics), n_refs=None)
    return measured.p_randomisation(0, 10_000, 12345)[1]


def test_lists_of_the_test_set_without_the_score(folder, tmp_path):
    """They are measured by the metric of references, which the table names."""
    bare = [json.loads(line) | {"scores": {}} for line in read_lines(folder / "test.jsonl")]
    write_lines(tmp_path / "bare.jsonl", map(json.dumps, bare))
    done = run(folder, tmp_path / "out", "--external", "quality", test=tmp_path / "bare.jsonl")
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert (result["metric"], result["test_metric"]) == ("quality", "bleu")
    first = with_metric(
        read_pool([folder / "test.jsonl"]), Bleu(smoothing=Smoothing.NONE), read_references([folder / "test.en"])
    )
    assert result["rows"][0]["test"] == pytest.approx(100 * rerank(first, Weights.from_dict({})).score())


def test_a_loss_and_another_metric(folder, tmp_path):
    for part in ("dev", "test"):
        rows = [json.loads(line) for line in read_lines(folder / f"{part}.jsonl")]
        for row in rows:
            row["scores"] = {"wer": 1 - row["scores"]["quality"]}
        write_lines(tmp_path / f"{part}.jsonl", map(json.dumps, rows))
    lists = {part: tmp_path / f"{part}.jsonl" for part in ("dev", "test")}
    done = run(folder, tmp_path / "loss", "--external", "wer", "--lower-is-better", **lists)  # no metric of ours
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    held_out = {row["features"]: row["held_out"] for row in result["rows"][1:]}
    assert result["kept"]["features"] == min(held_out, key=held_out.get)
    assert result["rows"][0]["dev"] > min(held_out.values())
    ter = run(folder, tmp_path / "ter", "-m", "ter")
    assert ter.exit_code == 0, ter.output
    result = json.loads(ter.stdout)
    first = with_metric(read_pool([folder / "dev.jsonl"]), by_name("ter"), read_references([folder / "dev.en"]))
    assert result["rows"][0]["dev"] == pytest.approx(100 * rerank(first, Weights.from_dict({})).score())
    assert result["rows"][0]["dev"] > min(row["held_out"] for row in result["rows"][1:])


def test_text_that_is_not_tokenised(folder, tmp_path):
    """BLEU by a tokeniser is what is learned by, shown and tested; without one a warning names it."""

    def changed(text):
        return f"{text[:1].upper()}{text[1:]}".replace(" ", ", ", 1) + "."

    for part in ("dev", "test"):
        rows = [json.loads(line) for line in read_lines(folder / f"{part}.jsonl")]
        write_lines(tmp_path / f"{part}.jsonl", [json.dumps(row | {"text": changed(row["text"])}) for row in rows])
        write_lines(tmp_path / f"{part}.en", map(changed, read_lines(folder / f"{part}.en")))
        write_lines(tmp_path / f"{part}.de", read_lines(folder / f"{part}.de"))
    done = run(tmp_path, tmp_path / "out", "--tokenize", "13a", "--lowercase")
    assert done.exit_code == 0, done.output
    metric = Bleu(smoothing=Smoothing.NONE, tokenizer=Tokenizer.T13A, lowercase=True)
    references = read_references([tmp_path / "test.en"])
    first = rerank(with_metric(read_pool([tmp_path / "test.jsonl"]), metric, references), Weights.from_dict({}))
    assert json.loads(done.stdout)["rows"][0]["test"] == pytest.approx(100 * first.score())
    assert "add --tokenize 13a" not in done.stderr
    assert "add --tokenize 13a" in run(tmp_path, tmp_path / "plain").stderr


def test_what_does_not_fit(folder, tmp_path):
    one = run(folder, tmp_path / "out", "--train-source", folder / "train.de")
    assert "give both" in one.output + str(one.exception)
    loss = run(folder, tmp_path / "out", "--lower-is-better")
    assert "is for an external score" in loss.output + str(loss.exception)
    mixed = run(folder, tmp_path / "out", "--external", "quality + chrf", "--lower-is-better")
    assert "a loss has a minus" in mixed.output + str(mixed.exception)
    unknown = run(folder, tmp_path / "unknown", "--external", "nope")
    assert isinstance(unknown.exception, InputError)
    assert str(unknown.exception).count("'nope' is no score of the candidates") == 1
    other = run(folder, tmp_path / "out", "--method", "hols")
    assert "does not learn from lists" in other.output + str(other.exception)
    lost = run(folder, tmp_path / "out", "--train-source", "none", "--train-target", "none")
    assert isinstance(lost.exception, InputError) or lost.exit_code == 2


def test_after_a_failure_the_right_command(folder, tmp_path):
    """A run of which nothing was done is no obstacle; candidates without a score have the mean of their list."""
    out = tmp_path / "out"
    for part in ("dev", "test"):
        rows = [json.loads(line) for line in read_lines(folder / f"{part}.jsonl")]
        for row in rows[::50]:
            row["scores"]["quality"] = None
        write_lines(tmp_path / f"{part}.jsonl", map(json.dumps, rows))
    lists = {part: tmp_path / f"{part}.jsonl" for part in ("dev", "test")}
    refused = run(folder, out, "--external", "quality", **lists)
    assert refused.exit_code != 0
    assert "--allow-missing" in str(refused.exception)
    done = run(folder, out, "--external", "quality", "--allow-missing", **lists)
    assert done.exit_code == 0, done.output
    pool = with_external(read_pool([lists["test"]]), "quality", fill_missing=True)
    first = rerank(pool, Weights.from_dict({})).score()
    assert json.loads(done.stdout)["rows"][0]["test"] == pytest.approx(first)
    alone = run(folder, tmp_path / "other", "--allow-missing")
    assert "is for an external score" in alone.output + str(alone.exception)
