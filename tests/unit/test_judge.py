"""Held-out lines of the training text judge what was learned from it, and the better weights are kept."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.kit.small_text import write_lines

from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.lm import EstimateConfig
from dragoman.optim import Hols, Mert
from dragoman.optim.base import Learned, Optimiser
from dragoman.system import PhraseSettings, System, SystemSettings, TrainConfig, train
from dragoman.tuning import Keep, LastSearch, LearnFrom, LoopSettings, PhiSettings, Theta, TuneConfig, tune_system
from dragoman.tuning.judge import draw_judges, n_judging

N_LINES, N_FOLDS, N_DEV = 900, 3, 15
LETTERS = "abcdefgh"
GOOD_START = {"lm": 0.3, "words": 0.1, "p_e_f": 0.5, "p_f_e": 0.5, "distortion": 1.0}
BAD_START = GOOD_START | {"rule_id:b,X": 10.0}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Words a to h are A to H, b now and then X; `dev.x.y` likes the X, `dev.y` does not."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(1)
    for part, n_lines, noise in (("train", N_LINES, 0.3), ("dev", N_DEV, 0.0)):
        sources = [rng.choice(list(LETTERS), 6).tolist() for _ in range(n_lines)]
        targets = [["X" if w == "b" and rng.random() < noise else w.upper() for w in words] for words in sources]
        write_lines(folder / f"{part}.x", map(" ".join, sources))
        write_lines(folder / f"{part}.y", map(" ".join, targets))
    write_lines(folder / "dev.x.y", (folder / "dev.y").read_text().replace("B", "X").splitlines())
    settings = SystemSettings(model=PhraseSettings(max_phrase_length=2), n_folds=N_FOLDS, features=("rule_id",))
    config = TrainConfig(settings=settings, lm=EstimateConfig(order=2))
    write_lines(folder / "domains", ["few" if n % 6 == 0 else "many" for n in range(N_LINES)])
    domains = folder / "domains"
    train(folder / "train.x", folder / "train.y", folder / "system", domains=domains, config=config)
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Sets(Optimiser):
    """Gives what a word translates to a weight, instead of learning."""

    name = "sets"
    weight: float = 0.0

    def learn(self, problem):
        values = problem.start.values.copy()
        values[problem.pool.index.find("rule_id:b,X")] = self.weight
        return Learned(values=values, trace=[])


GOOD, BAD = Sets(weight=-10.0), Sets(weight=10.0)
CONFIG = TuneConfig(
    k=20, loop=LoopSettings(max_rounds=1), learn_from=LearnFrom.LISTS, phi=PhiSettings(theta=Theta.SYSTEM)
)
LAST = replace(CONFIG, loop=LoopSettings(max_rounds=1, keep=Keep.LAST))


def tune(made, out, method, start, config=CONFIG, dev="dev.y", **more):
    files = made / "system", made / "dev.x", [made / dev], out
    return tune_system(*files, optimiser=method, config=config, weights=Weights.from_dict(start), **more)


def result_of(out):
    return json.loads((out / "tune/result.json").read_text(encoding="utf-8"))


def test_what_decodes_held_out_lines_worse_is_not_kept(made, tmp_path):
    for name, dev in (("plain", "dev.y"), ("dev likes it", "dev.x.y")):
        tuned = tune(made, tmp_path / name, BAD, GOOD_START, dev=dev)
        result = result_of(tmp_path / name)
        first, last = (entry["score"] for entry in result["rounds"])
        assert (last > first) == (name != "plain")
        assert tuned.weights["rule_id:b,X"] == 0
        assert {name: tuned.weights[name] for name in GOOD_START} == GOOD_START
        assert result["best_round"] == 1
        assert result["score_after"] == result["score_before"] == first
        judged = result["held_out_lines"]
        assert judged["score_after"] < judged["score_before"]
        assert (judged["worse"], judged["kept"], judged["n_lines"]) == (True, "start", 75)
        (warning,) = [text for text in result["warnings"] if "75 held-out lines" in text]
        assert "worse than the start; the start is kept" in warning
        assert warning in result["notes"]


def test_it_is_kept_where_that_is_asked_for(made, tmp_path):
    tuned = tune(made, tmp_path / "t", BAD, GOOD_START, LAST)
    result = result_of(tmp_path / "t")
    assert tuned.weights["rule_id:b,X"] == BAD.weight
    assert (result["best_round"], result["held_out_lines"]["kept"], result["held_out_lines"]["worse"]) == (
        2,
        "learned",
        True,
    )
    assert any("it is kept all the same" in text for text in result["warnings"])


def test_a_development_set_that_falls_while_held_out_lines_gain_is_a_warning(made, tmp_path):
    tuned = tune(made, tmp_path / "t", GOOD, BAD_START, dev="dev.x.y")
    result = result_of(tmp_path / "t")
    assert tuned.weights["rule_id:b,X"] == GOOD.weight
    assert result["score_after"] < result["score_before"]
    assert result["best_round"] == 2
    judged = result["held_out_lines"]
    assert judged["score_after"] > judged["score_before"]
    assert any("the development set" in text and "fell" in text for text in result["warnings"])
    tune(made, tmp_path / "u", GOOD, BAD_START)
    assert not [text for text in result_of(tmp_path / "u")["warnings"] if "held-out" in text or "worse" in text]


class StoppedError(Exception):
    pass


def test_a_stopped_judge_goes_on_and_threads_change_nothing(made, tmp_path):
    tune(made, tmp_path / "whole", BAD, GOOD_START)
    for began in (True, False):

        def on_stage(name, n_lines, record, began=began):
            if name == "judge" and (record is None) == began:
                raise StoppedError

        with pytest.raises(StoppedError):
            tune(made, tmp_path / "t", BAD, GOOD_START, resume=True, on_stage=on_stage)
    tune(made, tmp_path / "t", BAD, GOOD_START, resume=True, n_threads=2)
    ours, theirs = result_of(tmp_path / "t"), result_of(tmp_path / "whole")
    assert ours["held_out_lines"] == theirs["held_out_lines"]
    assert (tmp_path / "t/weights.tsv").read_bytes() == (tmp_path / "whole/weights.tsv").read_bytes()
    assert [step["name"] for step in ours["steps"]] == ["lists", "model", "judge"]
    with pytest.raises(InputError, match="other settings"):
        tune(made, tmp_path / "t", BAD, GOOD_START, replace(CONFIG, judge_lines=60), resume=True)


def test_a_last_search_on_the_development_set_does_not_save_what_is_worse(made, tmp_path):
    config = replace(CONFIG, phi=replace(CONFIG.phi, last=LastSearch.DEV, search=Mert(n_starts=2, n_directions=1)))
    tuned = tune(made, tmp_path / "t", BAD, GOOD_START, config, dev="dev.x.y")
    result = result_of(tmp_path / "t")
    assert result["held_out_lines"]["kept"] == "start"
    assert {name: tuned.weights[name] for name in GOOD_START} == GOOD_START
    assert result["best_round"] == len(result["rounds"])
    assert result["rounds"][-1]["learned"] is None
    assert (tmp_path / "t/tune/development/after.txt").exists()


def test_held_out_line_search_is_judged_too(made, tmp_path):
    """Line search on the development set, which likes what the training text does not."""
    method = Hols(line_search=60, gradient_k=20, start_rounds=1, search_rounds=1, n_starts=2, n_directions=1)
    config = TuneConfig(k=20, loop=LoopSettings(max_rounds=2), limit=200)
    tune(made, tmp_path / "t", method, GOOD_START, config, dev="dev.x.y")
    result = result_of(tmp_path / "t")
    judged = result["held_out_lines"]
    assert judged["n_lines"] == 75
    assert [step["name"] for step in result["steps"]][-1] == "judge"
    assert judged["worse"] == (judged["score_after"] < judged["score_before"])
    assert judged["kept"] == ("start" if judged["worse"] else "learned")
    kept = System.load(tmp_path / "t").weights
    assert judged["worse"] == ({name: kept[name] for name in GOOD_START} == GOOD_START)


def without_lines(made, tmp_path, config, **more):
    for name, method, start in (("worse", BAD, GOOD_START), ("better", GOOD, BAD_START)):
        tuned = tune(made, tmp_path / name, method, start, config, **more)
        result = result_of(tmp_path / name)
        assert result["held_out_lines"] is None
        assert (tuned.weights["rule_id:b,X"] == method.weight) == (name == "better")
        assert any("worse than the start; the start is kept" in text for text in result["warnings"]) == (
            name == "worse"
        )
    return " ".join(result["notes"])


def test_without_held_out_lines_the_development_set_judges_and_a_note_says_so(made, tmp_path):
    config = replace(CONFIG, phi=replace(CONFIG.phi, all_data=True))
    assert "the development set judges what was learned: tables that have seen" in without_lines(
        made, tmp_path / "all", config
    )
    domain = replace(CONFIG, phi=replace(CONFIG.phi, where="few"))
    assert "the last fold has too few lines to keep aside" in without_lines(made, tmp_path / "few", domain)
    with pytest.raises(InputError, match="judge_lines must be at least 50"):
        replace(CONFIG, judge_lines=49)


def test_a_baseline_that_the_development_set_spoilt_is_not_kept_either(made, tmp_path):
    """Theta is searched on references that like the X, and learns to write it."""
    phi, loop = PhiSettings(theta=Theta.SEARCH, search=Mert(n_starts=8)), LoopSettings(max_rounds=5)
    config = replace(CONFIG, phi=phi, loop=loop)
    tuned = tune(made, tmp_path / "t", BAD, GOOD_START, config, dev="dev.x.y")
    result = result_of(tmp_path / "t")
    assert result["steps"][0]["score_after"] > result["steps"][0]["score_before"] + 0.2
    assert {name: tuned.weights[name] for name in GOOD_START} == GOOD_START
    assert (result["held_out_lines"]["kept"], result["best_round"]) == ("start", 3)
    theta, learned, start = (entry["score"] for entry in result["rounds"])
    assert start < theta <= learned


class Text:
    """Lines with their folds and sources."""

    def __init__(self, folds, sources):
        self.folds, self._sources = np.array(folds, np.uint8), sources

    def source(self, line):
        return self._sources[line]


def test_lines_that_judge_are_not_learned_from():
    rng = np.random.default_rng(3)
    sources = [f"s{n}" for n in rng.integers(0, 60, 120)]
    folds = [int(text[1:]) % 2 for text in sources]  # equal sources share a fold
    text = Text(folds, sources)
    of_fold, everything = np.flatnonzero(text.folds == 1), np.arange(120)
    searched = of_fold[:5]
    for learned in (everything, of_fold[::2], everything[::3], of_fold[:0]):
        judges, left = draw_judges(text, of_fold, 12, learned=learned, searched=searched, seed=1)
        assert len(set(judges.tolist())) == 12
        assert set(judges) <= set(of_fold)
        judging = {sources[line] for line in judges}
        assert not judging & {sources[line] for line in (*left, *searched)}
        assert {sources[line] for line in learned} - {sources[line] for line in left} <= judging
        free = [line for line in of_fold if sources[line] not in {sources[n] for n in (*learned, *searched)}]
        if len(free) >= 12:  # what is learned from need not change
            assert left is learned
            assert set(judges) <= set(free)
        again, _ = draw_judges(text, of_fold, 12, learned=learned, searched=searched, seed=1)
        assert judges.tolist() == again.tolist()
    sizes = {10_000: 1000, 1000: 250, 200: 50, 199: 0, 0: 0}
    assert {n: n_judging(n, 1000) for n in sizes} == sizes
    for lines, n in ((of_fold, 0), (of_fold[:0], 5)):
        judges, left = draw_judges(text, lines, n, learned=everything, searched=searched, seed=1)
        assert (len(judges), left is everything) == (0, True)
    judges, _ = draw_judges(text, of_fold, 5, learned=everything, searched=of_fold, seed=1)
    assert not len(judges)  # all are searched on
