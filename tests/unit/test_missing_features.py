"""Features and scores that are null in JSON Lines, and sums of scores as the metric."""

from __future__ import annotations

import json
import random

import pytest
from typer.testing import CliRunner

from dragoman.candidates import (
    load_pool,
    model_totals,
    oracle,
    read_nbest,
    read_pool,
    read_to_disk,
    rerank,
    with_external,
    write_nbest,
)
from dragoman.candidates.features import add_candidate_features, describe_candidates
from dragoman.candidates.readers import NbestFormat
from dragoman.cli import app
from dragoman.errors import InputError
from dragoman.features import Weights


def written(path, rows):
    lines = [
        json.dumps({"id": s, "text": f"t{i}", "features": features, "scores": scores})
        for i, (s, features, scores) in enumerate(rows)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


ROWS = [
    (0, {"lm": -1.0, "qe": 0.5}, {"a": 1.0, "b-x": 2.0}),
    (0, {"lm": -2.0, "qe": None}, {"a": 3.0, "b-x": 9.0}),
    (1, {"lm": -3.0, "qe": 0.25}, {"a": 2.0, "b-x": None}),
]


def column(pool, name):
    return [value for part in model_totals(pool, Weights.from_dict({name: 1.0})) for value in part]


def test_the_mean_and_an_indicator(tmp_path):
    path = written(tmp_path / "list", ROWS)
    for pool in (read_nbest(path), read_pool([path])):
        assert pool.dense_names() == ["lm", "qe", "qe:missing"]
        assert column(pool, "qe") == pytest.approx([0.5, 0.375, 0.25])
        assert column(pool, "qe:missing") == [0, 1, 0]
        assert column(pool, "lm") == [-1, -2, -3]


def test_lists_larger_than_memory_are_filled_by_the_same_means(tmp_path):
    """A mean is that of a whole list, whatever parts it is read in, and sentences may come back."""
    rng = random.Random(4)
    paths = []
    for number in range(2):
        rows = [
            (
                rng.randrange(7),
                {"lm": rng.gauss(0, 10.0 ** rng.randint(-4, 4)), "qe": rng.choice([None, rng.random()])},
                {},
            )
            for _ in range(60)
        ]
        paths.append(
            written(tmp_path / f"list{number}", [(s, f | {"lm": rng.choice([None, f["lm"]])}, x) for s, f, x in rows])
        )
    memory = read_pool(paths)
    for n in (1, 7, 1000):
        disk = read_to_disk(paths, tmp_path / f"pool{n}", n_candidates=n)
        assert not list((tmp_path / f"pool{n}").glob("part-*"))
        for pool in (disk, load_pool(tmp_path / f"pool{n}")):
            for name in ("lm", "lm:missing", "qe", "qe:missing"):
                assert column(pool, name) == column(memory, name), (n, name)
            assert sorted(pool.dense_names()) == sorted(memory.dense_names())
    assert 0 < sum(column(memory, "lm:missing")) < 120


def test_a_list_that_was_written_is_filled_as_before(tmp_path):
    pool = read_nbest(written(tmp_path / "list", ROWS))
    write_nbest(pool, tmp_path / "again", format_=NbestFormat.JSONL)
    again = read_nbest(tmp_path / "again")
    assert column(again, "qe") == pytest.approx(column(pool, "qe"))


def test_agreement_by_a_score_that_some_lack(tmp_path):
    """They count as the mean of their list's others, in memory and streamed."""
    features = [{"qe": -1.0}, {"qe": None}, {"qe": -4.0}, {"qe": None}]
    lists = [(i // 3, each, {}) for i, each in enumerate(features)]
    known = [{"qe": value} for value in (-1.0, -2.5, -4.0, 0.0)]
    sources = ["x", "y"]
    given = written(tmp_path / "list", lists)
    expected = written(tmp_path / "known", [(i // 3, each, {}) for i, each in enumerate(known)])
    names = [f"agree_qe_0.5_{what}" for what in (1, 2, 3, 4, "bleu", "chrf")]

    def added(path):
        pool = add_candidate_features(read_nbest(path), ["agreement=qe:0.5"], sources)
        return [column(pool, name) for name in names]

    assert added(given) == added(expected)
    describe_candidates(given, tmp_path / "out", ["agreement=qe:0.5"], sources)
    again = read_nbest(tmp_path / "out")
    assert [column(again, name) for name in names] == added(expected)
    assert column(again, "qe:missing") == [0, 1, 0, 1]
    with pytest.raises(InputError, match="cannot say that a feature is null"):
        describe_candidates(given, tmp_path / "no", ["length"], sources, out_format=NbestFormat.MOSES)


def test_an_absent_key_is_still_an_error(tmp_path):
    rows = [*ROWS, (1, {"qe": 1.0}, {})]
    with pytest.raises(InputError, match="a candidate of sentence 1 has no 'lm'"):
        read_nbest(written(tmp_path / "list", rows))


def test_a_feature_that_nobody_has(tmp_path):
    pool = read_nbest(written(tmp_path / "list", [(0, {"lm": 1.0, "qe": None}, {})]))
    assert column(pool, "qe") == [0]
    assert column(pool, "qe:missing") == [1]


def test_sums_of_scores(tmp_path):
    pool = read_nbest(written(tmp_path / "list", ROWS[:2]))
    for told, expected in (
        ("a", 3.0),
        ("b-x", 9.0),
        ("0.5*a+0.25*b-x", 3.75),
        ("a - 0.5*b-x", 0.0),
        ("2*a", 6.0),
        ("- a + 1e-1*b-x", -0.8),
    ):
        assert oracle(with_external(pool, told)).score() == pytest.approx(expected), told
    assert rerank(with_external(pool, "a - 0.5*b-x"), Weights.from_dict({"lm": 1.0})).score() == 0
    for wrong in ("c", "a + c", "a ** b-x", "a b-x", ""):
        with pytest.raises(InputError, match="the candidates have no score"):
            with_external(pool, wrong)
    lacking = read_nbest(written(tmp_path / "lacking", ROWS))
    with pytest.raises(InputError, match="1 candidates have no score 'b-x'"):
        with_external(lacking, "a + b-x")


def test_missing_scores_are_the_mean_of_their_list(tmp_path):
    """Neither the best nor the worst; of a list without any, the mean of all, which decides nothing."""
    scores = [(0, 1.0), (0, None), (0, 4.0), (1, None), (1, None), (2, 7.0)]
    rows = [(s, {"lm": -float(i)}, {"q": value, "r": 1.0}) for i, (s, value) in enumerate(scores)]
    path = written(tmp_path / "list", rows)
    for pool in (read_nbest(path), read_to_disk([path], tmp_path / "stored", n_candidates=3)):
        filled = with_external(pool, "q", fill_missing=True)
        gains = [value for shard in filled.shards for value in shard.stats[:, 0].tolist()]
        assert gains == [1, 2.5, 4, 4, 4, 7]
        assert oracle(with_external(pool, "q - 0.5*r", fill_missing=True)).score() == pytest.approx(4.5)
        with pytest.raises(
            InputError, match=r"\d candidates have no score 'q', the first of sentence 0; .*`fill_missing=True`"
        ):
            with_external(pool, "q")
    none = read_nbest(written(tmp_path / "none", [(0, {"lm": 1.0}, {"q": None})]))
    with pytest.raises(InputError, match="have no score|no candidate has the score"):
        with_external(none, "q", fill_missing=True)


def test_commands_with_missing_scores(tmp_path):
    lists = str(written(tmp_path / "list.jsonl", ROWS))
    given = ["oracle", "--nbest", lists, "--external", "a + b-x", "--json"]
    refused = CliRunner().invoke(app, given)
    assert "--allow-missing" in refused.output + str(refused.exception)
    allowed = CliRunner().invoke(app, [*given, "--allow-missing"])
    assert json.loads(allowed.stdout)["score"] == pytest.approx((12 + 2 + 5.5) / 2)
    (tmp_path / "ref").write_text("t0\nt2\n")
    mixed = [*given[:3], "--external", "a + b-x + chrf", "-r", str(tmp_path / "ref"), "--json", "--allow-missing"]
    assert json.loads(CliRunner().invoke(app, mixed).stdout)["score"] > 9
