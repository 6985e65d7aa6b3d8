"""Objectives that are sums of scores of the candidates and of metrics of references."""

from __future__ import annotations

import json

import pytest
import sacrebleu
from tests.kit.small_text import write_lines
from typer.testing import CliRunner

from dragoman.candidates import oracle, read_nbest, rerank, with_mixture
from dragoman.cli import app
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.text import read_lines

REFERENCES = ["a house is old", "the new house", "a tree"]
ROWS = [
    (0, "a house is new", 0.5, 3.0),
    (0, "the house was old", 0.25, 1.0),
    (1, "the new house", 0.125, 2.0),
    (1, "new", 0.75, 0.0),
    (2, "a tree", 0.5, 4.0),
    (2, "one tree", 1.0, 1.5),
]


@pytest.fixture
def lists(tmp_path):
    rows = [
        {"id": i, "text": text, "features": {"m": float(c % 2)}, "scores": {"comet": comet, "loss": loss}}
        for c, (i, text, comet, loss) in enumerate(ROWS)
    ]
    write_lines(tmp_path / "ref", REFERENCES)
    return write_lines(tmp_path / "list.jsonl", map(json.dumps, rows))


def chosen(weight):
    """What a weight of m chooses: the first or the second of each list."""
    return [ROWS[2 * s + (weight > 0)] for s in range(3)]


@pytest.mark.parametrize("weight", [-1.0, 1.0])
@pytest.mark.parametrize(
    ("told", "factors"),
    [
        ("0.5*comet+0.5*chrf", (0.5, 0, 0.5, 0)),
        ("comet - 0.125*loss + 2*bleu", (1, -0.125, 0, 2)),
        ("chrf - 0.125*loss", (0, -0.125, 1, 0)),
    ],
)
def test_the_score_is_the_sum(lists, told, factors, weight):
    pool = with_mixture(read_nbest(lists), told, [[line] for line in REFERENCES])
    rows = chosen(weight)
    texts = [row[1] for row in rows]
    bleu = sacrebleu.BLEU(smooth_method="none", tokenize="none").corpus_score(texts, [REFERENCES]).score / 100
    chrf = sacrebleu.CHRF().corpus_score(texts, [REFERENCES]).score / 100
    parts = (sum(row[2] for row in rows) / 3, sum(row[3] for row in rows) / 3, chrf, bleu)
    expected = sum(factor * part for factor, part in zip(factors, parts, strict=True))
    assert rerank(pool, Weights.from_dict({"m": weight})).score() == pytest.approx(expected)


def test_several_references(lists):
    several = [[line, "some other house"] for line in REFERENCES]
    pool = with_mixture(read_nbest(lists), "comet + chrf", several)
    texts = [row[1] for row in chosen(1.0)]
    lines = [list(column) for column in zip(*several, strict=True)]
    expected = sacrebleu.CHRF().corpus_score(texts, lines).score / 100 + 2.0 / 3
    assert rerank(pool, Weights.from_dict({"m": 1.0})).score() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("comet + blue", "'blue' is no score of the candidates, which have comet, loss, and no metric"),
        ("comet - 0.1*loss", "needs no references"),
        ("comet + ter", "different directions"),
    ],
)
def test_what_is_no_sum(lists, told, message):
    with pytest.raises(InputError, match=message):
        with_mixture(read_nbest(lists), told, [[line] for line in REFERENCES])


def test_commands(lists, tmp_path):
    def run(*told):
        result = CliRunner().invoke(app, [*map(str, told)])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    given = ["--nbest", lists, "-r", tmp_path / "ref", "--json"]
    one = run("oracle", *given, "--external", "0.5*comet + 0.5*chrf")
    pool = with_mixture(read_nbest(lists), "0.5*comet + 0.5*chrf", [[line] for line in REFERENCES])
    assert one["score"] == pytest.approx(oracle(pool).score())  # as it is, not in points
    assert one["metric"] == "0.5*comet + 0.5*chrf"
    several = run("oracle", *given, "--external", "chrf", "--external", "-0.125*loss")
    pool = with_mixture(read_nbest(lists), "chrf - 0.125*loss", [[line] for line in REFERENCES])
    assert several["score"] == pytest.approx(oracle(pool).score())
    tuned = run("tune", *given, "--external", "comet + chrf", "--method", "pro", "-o", tmp_path / "w.tsv")
    choice = run(
        "rerank", *given, "--external", "comet + chrf", "--weights", tmp_path / "w.tsv", "-o", tmp_path / "out"
    )
    assert choice["score"] == pytest.approx(tuned["score_after"])
    assert len(list(read_lines(tmp_path / "out"))) == 3
    without = run("oracle", "--nbest", lists, "--json", "--external", "comet", "--external", "- 0.25*loss")
    best = [max(row[2] - 0.25 * row[3] for row in ROWS if row[0] == s) for s in range(3)]
    assert without["score"] == pytest.approx(sum(best) / 3)


@pytest.mark.parametrize(
    ("told", "message"),
    [(["--lower-is-better"], "a loss has a minus"), (["-m", "chrf"], "name the metric in the sum")],
)
def test_options_that_do_not_fit(lists, tmp_path, told, message):
    given = ["oracle", "--nbest", str(lists), "-r", str(tmp_path / "ref"), "--external", "comet + bleu", *told]
    result = CliRunner().invoke(app, given)
    assert isinstance(result.exception, InputError) or result.exit_code == 2
    assert message in result.output + str(result.exception)
