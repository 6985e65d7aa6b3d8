"""Given translations: why they lost, what cannot be derived; from Python and by `translate --target`."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.kit.small_systems import make_systems, opened, sentences_of
from tests.kit.small_text import write_lines
from typer.testing import CliRunner

from dragoman.cli.app import app
from dragoman.errors import MismatchError
from dragoman.search import ForcedConfig
from dragoman.system import KINDS, System, Verdict

SMALL = [kind for kind in KINDS if kind in ("phrase", "hiero")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_systems(tmp_path_factory.mktemp("forced"))


@pytest.fixture(params=SMALL)
def system(made, request):
    return opened(made, request.param)


def best_of(system, sentences):
    """Own translations with the score and the features of the best derivation."""
    weights = dict(system.weights.items())
    found = [forest.best(system.weights) for forest in system.forests(sentences)]
    return [(" ".join(d.tokens()), d.score(weights), d.features()) for d in found]


def test_own_translations_are_derived_at_least_as_well(system, made):
    sentences = sentences_of(made)
    best = best_of(system, sentences)
    found = system.translator.force(sentences, [text for text, *_ in best], system.weights)
    weights = dict(system.weights.items())
    for pair, (text, score, features) in enumerate(best):
        derivation = found.forests[pair].best(system.weights)
        assert " ".join(derivation.tokens()) == text
        assert [*found.deleted_in(pair), *found.inserted_in(pair), *found.copied_in(pair)] == []
        assert derivation.score(weights) >= score - 1e-3
        assert derivation.features()["lm"] == pytest.approx(features["lm"], abs=1e-3)
        assert found.lists.totals[pair] == pytest.approx(derivation.score(weights), abs=1e-3)


def test_candidates_of_the_list_have_no_better_derivation(system, made):
    """Of all derivations of a string in the search space forced decoding finds one as good as the best."""
    sentence = sentences_of(made)[0]
    best: dict[str, float] = {}
    pool = system.kbest([sentence], 200)
    (shard,) = pool.shards
    for c in range(shard.n_candidates):
        text = pool.text(shard, c)
        best[text] = max(best.get(text, -np.inf), float(shard.totals[c]))
    found = system.translator.force([sentence], list(best), system.weights, sentences=np.zeros(len(best), np.int64))
    assert len(best) > 1
    assert (found.lists.totals >= np.array(list(best.values())) - 1e-3).all()
    assert [len(rows[1]) for rows in (found.deleted, found.inserted, found.copied)] == [0, 0, 0]


def test_threads_change_nothing(system, made):
    sentences = sentences_of(made)
    targets = (made / "dev.en").read_text(encoding="utf-8").split("\n")[:-1]
    one = system.translator.force(sentences, targets, system.weights)
    three = system.translator.force(sentences, targets, system.weights, n_threads=3)
    for name in ("totals", "tokens", "feature_ids", "feature_values", "edges"):
        assert np.array_equal(getattr(one.lists, name), getattr(three.lists, name))
    for name in ("deleted", "inserted", "copied"):
        assert all(np.array_equal(a, b) for a, b in zip(getattr(one, name), getattr(three, name), strict=True))


def test_verdicts(system, made):
    sentence = sentences_of(made)[0]
    own = next(iter(system.translate_tokens([sentence])))
    same = system.force(sentence, own)
    assert (same.verdict, same.is_reachable) == (Verdict.SAME, True)
    away = system.force(sentence, f"{own} nonsense")
    assert away.verdict is Verdict.UNREACHABLE
    assert away.inserted == (len(own.split()),)
    assert f"words that nothing in the source made: nonsense ({len(own.split())})" in "\n".join(away.lines())
    assert [piece.source for piece in away.given.pieces if "nonsense" in piece.target] == [""]
    assert any(piece.target == "nonsense" for piece in away.given_pieces)
    assert system.force("", own) is None


def test_other_candidates_lost_by_their_features(system, made):
    sentence = sentences_of(made)[1]
    pool = system.kbest([sentence], 50, distinct=True)
    (shard,) = pool.shards
    other = system.force(sentence, pool.text(shard, shard.n_candidates - 1))
    assert other.verdict is Verdict.MODEL
    assert other.score_difference < 0
    contributions = [item.contribution for item in other.differences]
    assert sum(contributions) == pytest.approx(other.score_difference, abs=1e-4)
    assert [*map(abs, contributions)] == sorted(map(abs, contributions), reverse=True)
    assert "prefer the system's own" in "\n".join(other.lines())


def test_a_search_error_is_told(made):
    """Search keeps the 20 best options of a span; forced decoding looks at all, and knows what they are worth."""
    system = opened(made, "phrase")
    sentence = sentences_of(made)[0]
    own = system.explain(sentence)
    other = system.kbest([sentence], 50, distinct=True)
    (shard,) = other.shards
    lost = system.force(sentence, other.text(shard, shard.n_candidates - 1))
    missed = replace(lost, own=lost.given, given=replace(lost.own, text=f"{lost.own.text} "))
    assert own == lost.own
    assert lost.verdict is Verdict.MODEL
    assert missed.verdict is Verdict.SEARCH
    assert "a search error" in missed.reason()


def test_copied_words_are_told(system, made):
    word = sentences_of(made)[0].split()[0]
    told = system.force(word, word)
    if told.given.text != told.own.text:
        assert told.copied == ((0, 0),)
        assert f"copied though the tables translate them: {word} (0)" in "\n".join(told.lines())
        assert told.given.alignment == ((0, 0),)


@pytest.mark.parametrize("kind", SMALL)
def test_long_translations_are_bounded(made, kind):
    """Two hundred words on both sides, that fit, that do not, and that are all the same."""
    system = opened(made, kind)
    words = " ".join(sentences_of(made)).split()
    source = " ".join((words * 9)[:200])
    own = next(iter(system.translate_tokens([source])))
    targets = [own, " ".join(reversed(own.split())), " ".join([own.split()[0]] * 200), ""]
    found = system.translator.force(
        [source], targets, system.weights, sentences=np.zeros(4, np.int64), config=ForcedConfig(width=30)
    )
    assert [" ".join(forest.best(system.weights).tokens()) for forest in found.forests] == targets
    assert found.deleted_in(3) == tuple(range(200))


def test_without_edits_the_rest_has_no_derivation(system, made):
    sentence = sentences_of(made)[0]
    found = system.translator.force([sentence], ["nonsense"], system.weights, config=ForcedConfig(may_edit=False))
    assert found.forests[0].best(system.weights) is None
    assert len(found.lists) == 0


def test_translations_need_sentences(system):
    with pytest.raises(MismatchError, match="1 source sentences and 2 translations"):
        system.translator.force(["a"], ["b", "c"], system.weights)
    with pytest.raises(ValueError, match="at least 1"):
        ForcedConfig(width=0)


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_the_command_explains_given_translations(made, system, tmp_path):
    sentences = [*sentences_of(made)[:3], ""]
    targets = ["the house", next(iter(system.translate_tokens(sentences[1:2]))), "x", "y"]
    write_lines(tmp_path / "source", sentences)
    write_lines(tmp_path / "target", targets)
    arguments = ["translate", system.folder, "-i", tmp_path / "source", "--explain", "--target", tmp_path / "target"]
    plain = run(*arguments, "--quiet", "-o", tmp_path / "out")
    assert plain.exit_code == 0, plain.output
    text = (tmp_path / "out").read_text(encoding="utf-8")
    assert "verdict      this is the system's own translation" in text
    assert "cannot derive this translation" in text
    made_ = run(*arguments, "--quiet", "--format", "jsonl", "-o", tmp_path / "out")
    assert made_.exit_code == 0, made_.output
    rows = [json.loads(line) for line in (tmp_path / "out").read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == [0, 1, 2, 3]
    assert [row.get("verdict") for row in rows] == ["unreachable", "same", "unreachable", None]
    assert rows[0]["given"]["text"] == "the house"
    told = system.force(sentences[0], targets[0])
    assert rows[0]["reason"] == told.reason()
    assert rows[0]["deleted"] == list(told.deleted)
    assert rows[0]["score_difference"] == pytest.approx(told.score_difference)


def test_what_does_not_fit_is_refused(made, tmp_path):
    write_lines(tmp_path / "two", ["a", "b"])
    write_lines(tmp_path / "one", ["a"])
    for arguments, message in (
        (["-i", tmp_path / "two", "--explain", "--target", tmp_path / "one"], "end after 1 lines"),
        (["-i", tmp_path / "one", "--explain", "--target", tmp_path / "two"], "the source end after 1 lines"),
        (["-i", tmp_path / "one", "--target", tmp_path / "two"], "add --explain"),
        (["--explain", "--target", "-"], "cannot both be standard input"),
    ):
        done = run("translate", made / "phrase", *arguments)
        assert isinstance(done.exception, Exception)
        assert message in str(done.exception) + done.output


def test_systems_load_and_explain(made):
    assert isinstance(System.load(made / "hiero").force("a", "b").to_json()["reason"], str)
