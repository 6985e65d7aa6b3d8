"""One command from lists to weights, a reranked test set and a page."""

from __future__ import annotations

import json
import random
import re

import numpy as np
import pytest
from tests.kit.small_text import write_lines, write_splits
from typer.testing import CliRunner

from dragoman.analysis import Measured
from dragoman.candidates import read_pool, read_references, rerank, with_external, with_metric
from dragoman.candidates.features import add_candidate_features
from dragoman.cli import app
from dragoman.errors import InputError
from dragoman.experiments.ablation import METHODS
from dragoman.features import Weights, read_weights
from dragoman.metric import Bleu, Smoothing, Tokenizer, by_name, score_text
from dragoman.text import read_lines


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
    assert list(rows) == [("own", "first"), *((group, method) for group in groups for method in METHODS)]
    held_out = {key: row["held_out"] for key, row in rows.items() if row["held_out"] is not None}
    best = max(held_out, key=held_out.get)
    assert result["kept"] == dict(zip(("features", "method"), best, strict=True))
    texts = list(read_lines(out / "test.out"))
    references = [list(read_lines(folder / "test.en"))]
    score = 100 * score_text(Bleu(), texts, references).score
    assert score > rows["own", "first"]["test"]
    assert abs(score - rows[best]["test"]) < 5  # the mean over two seeds
    assert dict(read_weights(out / "weights.tsv").items())
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Which features help to choose from these lists" in page
    assert all(group in page for group in groups)
    # The page begins with what was chosen without the test set, not with the best row there.
    headline = re.search('<p class="headline">([^<]*)', page)[1]
    mine = rows[best]
    assert headline.startswith(
        f"Held-out sentences of the development set chose {best[1]} among mira, pro and cll, with the"
    )
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


def test_a_quality_estimate_is_worth_the_same_in_any_unit(tmp_path):
    """Beside log probabilities one in [0, 1] has a small deviation, as it has for who asks a model for it."""
    rng = random.Random(4)
    vocabulary = [f"w{i}" for i in range(40)]
    for part, n_sentences in (("dev", 80), ("test", 60)):
        references = [[rng.choice(vocabulary) for _ in range(12)] for _ in range(n_sentences)]
        write_lines(tmp_path / f"{part}.en", map(" ".join, references))
        rows = []
        for id_, reference in enumerate(references):
            for _ in range(12):
                words = [rng.choice(vocabulary) if rng.random() < 0.4 else word for word in reference]
                overlap = sum(a == b for a, b in zip(words, reference, strict=True)) / 12
                features = {"l2r": 6 * overlap + rng.gauss(-40, 6), "r2l": rng.gauss(-40, 6)}
                features["qe"] = overlap + rng.gauss(0, 0.04)
                row = {"id": id_, "text": " ".join(words), "features": features}
                rows.append(row | {"scores": {"comet": overlap + rng.gauss(0, 0.02)}})
        for name, factor in (("small", 1), ("large", 100)):
            told = [row | {"features": row["features"] | {"qe": factor * row["features"]["qe"]}} for row in rows]
            write_lines(tmp_path / f"{name}.{part}.jsonl", map(json.dumps, told))
    write_lines(tmp_path / "dev.de", ["x"] * 80)
    write_lines(tmp_path / "test.de", ["x"] * 60)
    found = {}
    for name in ("small", "large"):
        lists = {part: tmp_path / f"{name}.{part}.jsonl" for part in ("dev", "test")}
        done = run(tmp_path, tmp_path / name, "--external", "comet", **lists)
        assert done.exit_code == 0, done.output
        result = json.loads(done.stdout)
        (kept,) = (row for row in result["rows"] if result["kept"].items() <= row.items())
        found[name] = result["rows"][0]["test"], kept["held_out"], kept["test"]
        each = {row["method"]: row["test"] for row in result["rows"][1:] if row["features"] == "own"}
        assert each.keys() == set(METHODS)
        assert min(each.values()) > max(each.values()) - 0.02  # and no method of them fails
    assert found["small"] == pytest.approx(found["large"], abs=1e-3)
    assert found["small"][2] > found["small"][0] + 0.15


def test_a_method_that_cannot_learn_from_the_lists_is_left_out(tmp_path):
    """No two candidates differ enough for the sample of PRO, which fails where it is asked for."""
    rng = random.Random(2)
    for part in ("dev", "test"):
        references = [[f"w{rng.randrange(99)}" for _ in range(80)] for _ in range(15)]
        write_lines(tmp_path / f"{part}.en", map(" ".join, references))
        write_lines(tmp_path / f"{part}.de", ["x"] * 15)
        rows = [
            {"id": id_, "text": " ".join(reference[: 80 - n] + ["?"] * n), "features": {"a": rng.gauss(-n, 1), "b": n}}
            for id_, reference in enumerate(references)
            for n in (1, 0, 2)
        ]
        write_lines(tmp_path / f"{part}.jsonl", map(json.dumps, rows))
    done = run(tmp_path, tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert {row["method"] for row in json.loads(done.stdout)["rows"]} == {"first", "mira", "cll"}
    assert "note: pro is left out, for it cannot learn from these lists: " in done.stderr
    asked = run(tmp_path, tmp_path / "asked", "--method", "pro")
    assert "no two candidates of a sentence differ enough" in str(asked.exception)


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
    held_out = {(row["features"], row["method"]): row["held_out"] for row in result["rows"][1:]}
    assert tuple(result["kept"].values()) == min(held_out, key=held_out.get)
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
