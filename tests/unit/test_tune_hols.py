"""Held-out line search on small systems: what is learned, steps on disk, stops, threads and workers."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
from dataclasses import replace

import numpy as np
import pytest
from tests.kit.small_text import write_lines

from dragoman.candidates import Objective
from dragoman.errors import InputError
from dragoman.features import HOLS_STEP, Block, FeatureIndex, Weights, read_weights
from dragoman.gradients import Gradient
from dragoman.lm import EstimateConfig
from dragoman.optim import Hils, Hols, Mert
from dragoman.optim.hols import Last, Start, StepBlocks, moved
from dragoman.system import FoldDecoder, HieroSettings, PhraseSettings, System, SystemSettings, TrainConfig, train
from dragoman.tuning import Decoder, LoopSettings, TuneConfig, tune_decoder, tune_system
from dragoman.tuning.line_sets import LineSets, draw_lines
from dragoman.work.engine import LocalEngine, open_engine

PHRASES = PhraseSettings(max_phrase_length=2)
MODELS = {"phrase": PHRASES, "hiero": HieroSettings(max_span=6)}
N_FOLDS, N_LINES, N_DEV = 3, 400, 15
BAD = "q"
"""The beginning of words that translate nothing."""
FREE = ("lm", "words", "phrases", "rules")
BLIND = Weights.from_dict({"words": 0.02, "lm": 0.01, "distortion": 1.0})
N_SEARCH, N_GRADIENT = 60, 200
SMALL = Hols(line_search=N_SEARCH, gradient_k=20, start_rounds=1, search_rounds=2, n_starts=1, n_directions=2)
TWO = replace(SMALL, updates=2)
CONFIG = TuneConfig(k=30, loop=LoopSettings(max_rounds=2), features=("rule_id",), limit=N_GRADIENT)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Systems with folds, and one without. Words a to h are A to H, but now and then a and b are nonsense."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(1)
    for part, n_lines, noise in (("train", N_LINES, 0.3), ("dev", N_DEV, 0.0)):
        sources = [rng.choice(list("abcdefgh"), 6).tolist() for _ in range(n_lines)]
        targets = [
            [f"{BAD}{rng.integers(2)}" if word in "ab" and rng.random() < noise else word.upper() for word in words]
            for words in sources
        ]
        write_lines(folder / f"{part}.x", map(" ".join, sources))
        write_lines(folder / f"{part}.y", map(" ".join, targets))
    for name, model, n_folds in (*((kind, model, N_FOLDS) for kind, model in MODELS.items()), ("plain", PHRASES, 1)):
        config = TrainConfig(settings=SystemSettings(model=model, n_folds=n_folds), lm=EstimateConfig(order=2))
        train(folder / "train.x", folder / "train.y", folder / name, config=config)
    return folder


def frozen_of(made, kind):
    """Dense features but a few, frozen where they cannot tell sense from nonsense, so that steps must."""
    return tuple(name for name in System.load(made / kind).translator.dense() if name not in FREE)


def tune(made, out, method=SMALL, *, kind="phrase", config=CONFIG, weights=BLIND, **more):
    config = replace(config, frozen=(*frozen_of(made, kind), *config.frozen))
    dev = made / "dev.x", [made / "dev.y"]
    return tune_system(made / kind, *dev, out, optimiser=method, config=config, weights=weights, **more)


@pytest.fixture(scope="module")
def whole(made, tmp_path_factory):
    """A tuning in one go with two updates, which others must equal."""
    out = tmp_path_factory.mktemp("whole") / "t"
    tune(made, out, TWO)
    return out


def result_of(out):
    return json.loads((out / "tune" / "result.json").read_text(encoding="utf-8"))


def weights_file(out):
    (path,) = out.glob("weights.*")
    return path.read_bytes()


def steps_of(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "locks")


def test_planted_bad_pairs_get_negative_weights(made, tmp_path):
    method = replace(SMALL, start=Start.SYSTEM, last=Last.HELD_OUT)
    tuned = tune(made, tmp_path / "t", method, config=replace(CONFIG, limit=None))
    (update,) = tuned.manifest.about["tuning"]["updates"]
    assert tuned.record.updates[0].blocks == update["blocks"]
    assert tuned.record.steps[-1].name == "search-1"
    assert update["blocks"][HOLS_STEP] > 0
    assert update["score_after"] > update["score_before"] + 0.05
    words = {f"rule_id:{word},{BAD}{i}": tuned.weights[f"rule_id:{word},{BAD}{i}"] for word in "ab" for i in range(2)}
    assert max(words.values()) < 0 < min(tuned.weights["rule_id:a,A"], tuned.weights["rule_id:b,B"])
    pairs = [value for name, value in tuned.weights.items() if name.startswith("rule_id") and BAD in name]
    assert sum(value < 0 for value in pairs) > 0.7 * len(pairs) > 14


class Column(Decoder):
    """Search with sparse weights instead of blocks; the direction becomes a column of the lists afterwards."""

    def __init__(self, folder, lines, blocks):
        self._folder, self._lines, self._blocks = folder, lines, blocks

    def decode(self, weights):
        system = System.load(self._folder).with_templates(["rule_id"])
        decoder = FoldDecoder(system)
        pool = decoder.kbest(
            self._lines, moved(weights.on(FeatureIndex()), self._blocks).on(system.index), CONFIG.k, distinct=True
        )
        (shard,) = pool.shards
        shard = replace(shard, sentence_ids=np.arange(len(self._lines), dtype=np.int32))
        names = pool.index.names(np.arange(len(pool.index), dtype=np.int32))
        covered = {name for block in self._blocks for name in block.table.names()}
        left = {name: 0.0 for name in names if name.startswith("rule_id") and name not in covered}
        return replace(pool, shards=(shard,)).project(
            [*self._blocks, *([Block.from_dict("left", left)] if left else [])]
        )


@pytest.mark.parametrize("kind", MODELS)
def test_an_update_is_mert_with_the_direction_as_one_more_column(made, tmp_path, kind):
    """The search by blocks against lists of a search by all weights, projected: the same decoder weights in the end."""
    method = replace(SMALL, n_starts=1, n_directions=0, last=Last.HELD_OUT, gradient_k=100)
    # Derivations of glue rules come first, or all those of a list of hiero would be of one translation.
    weights = Weights.from_dict({**dict(BLIND.items()), "glue": 1.0}) if kind == "hiero" else BLIND
    tuned = tune(made, tmp_path / "t", method, kind=kind, config=replace(CONFIG, distinct=True), weights=weights)
    folders = {path.name.split("-")[0]: path for path in (tmp_path / "t/tune/steps").iterdir()}
    gradient = Gradient.load(folders["gradient"] / "gradient").table
    system = System.load(made / kind)
    dense = system.translator.dense()
    step = {
        name: -g / n
        for name, g, n in zip(
            gradient.names(), gradient.columns["softramp"].tolist(), gradient.columns["n_lists"].tolist(), strict=True
        )
        if name not in dense and abs(g) > 1e-12 * n
    }
    lines = draw_lines(system.training, method, fold=None, limit=None).search
    start = {}
    for line in (folders["start"] / "weights.tsv").read_text(encoding="utf-8").split("\n")[:-1]:
        name, value = line.split("\t")
        start[name] = float(value)
    targets = [[system.training.target(line)] for line in lines.tolist()]
    wanted = tune_decoder(
        Column(made / kind, lines, [Block.from_dict(HOLS_STEP, step)]),
        Mert(n_starts=1, n_directions=0),
        Weights.from_dict(start),
        seed=1,
        objective=Objective("bleu", targets),
        settings=LoopSettings(max_rounds=method.search_rounds),
        frozen=frozen_of(made, kind),
    )
    (update,) = tuned.manifest.about["tuning"]["updates"]
    assert update["blocks"][HOLS_STEP] == pytest.approx(wanted.weights[HOLS_STEP], rel=1e-4)
    assert update["score_after"] == wanted.score_after
    assert wanted.weights[HOLS_STEP] != 0
    expected = {name: wanted.weights[HOLS_STEP] * value for name, value in step.items()}
    assert {name: tuned.weights[name] for name in expected} == pytest.approx(expected, rel=1e-4)
    assert {name: tuned.weights[name] for name in dense} == pytest.approx(
        {name: wanted.weights[name] for name in dense}, rel=1e-4
    )


def test_the_record_tells_every_step(made, whole):
    result, system = result_of(whole), System.load(whole)
    assert [step["name"] for step in result["steps"]] == ["start", "gradient-1", "search-1", "gradient-2", "search-2"]
    assert not any(step["found"] for step in result["steps"])
    lines = [step["n_lines"] for step in result["steps"]]
    assert lines == [N_SEARCH, N_GRADIENT // 2, N_SEARCH, N_GRADIENT // 2, N_SEARCH]
    assert [(u["update"], u["searched"]) for u in result["updates"]] == [(1, "held-out"), (2, "held-out"), (2, "dev")]
    assert all(u["loss"] > 0 and u["factor"] > 0 and u["n_features"] > 100 for u in result["updates"])
    assert result["updates"][1]["flips"]
    gradients = sorted(path for path in (whole / "tune/steps").glob("gradient-*/gradient"))
    dense = system.translator.dense()

    def norm(weights):
        return sum(abs(weights.get(name, 0.0)) for name in dense)

    (start,) = (read_weights(path / "weights.tsv") for path in (whole / "tune/steps").glob("start-*"))
    searches = {norm(dict(read_weights(p / "weights.tsv").items())) for p in (whole / "tune/steps").glob("search-*")}
    first, _, last = result["updates"]
    assert norm(dict(start.items())) / first["dense_scale"] in [pytest.approx(value) for value in searches]
    after_one = norm(dict(start.items())) / first["dense_scale"]
    assert after_one / last["dense_scale"] == pytest.approx(norm(dict(system.weights.items())))
    assert {u["n_seen"] for u in result["updates"]} == {len(Gradient.load(path).table) for path in gradients}
    assert result["n_sentences"] == N_DEV
    assert result["score_after"] == max(entry["score"] for entry in result["rounds"])
    assert result["n_features"] == len(system.weights.ids())
    assert result["cpu_s"] > sum(step["cpu_s"] for step in result["steps"]) > 0
    deviations = [note for note in result["notes"] if "scores deviate by" in note]
    assert len(deviations) == 2
    # A round of the development set has all weights, not those of blocks.
    names = {line.split("\t")[0] for line in (whole / "tune/rounds/0001/weights.tsv").read_text().split("\n")}
    assert HOLS_STEP not in names
    assert any(name.startswith("rule_id") for name in names)


def test_the_second_gradient_is_taken_where_the_first_update_ended(whole):
    result = result_of(whole)
    steps = {step["name"]: whole / "tune" / step["folder"] for step in result["steps"]}
    first, second = (Gradient.load(steps[f"gradient-{n}"] / "gradient") for n in (1, 2))
    assert first.settings["weights"] != second.settings["weights"]
    assert first.settings["lines"] != second.settings["lines"]
    scales = [u["factor"] for u in result["updates"][:2]]
    assert [first.settings["scale"], second.settings["scale"]] == scales


class StoppedError(Exception):
    pass


class Stops(LocalEngine):
    """Loses its worker after so many items."""

    def __init__(self, n):
        super().__init__()
        self._n = n

    def map(self, job, items):
        for result in super().map(job, items):
            if self._n == 0:
                raise StoppedError
            self._n -= 1
            yield result


def stop_at(place):
    """Stops where a step begins, or after it has ended."""

    def on_stage(name, n_lines, record):
        if (name, record is None) == place:
            raise StoppedError

    return on_stage


@pytest.mark.parametrize(
    "stops",
    [
        [("start", True), ("gradient-1", True), ("gradient-1", False)],
        [("search-1", True), ("search-2", True), ("last", True)],
        [0, 1, 2],
        ["round 1", "round 2"],
    ],
)
def test_a_stopped_tuning_goes_on_to_the_same_weights(made, whole, tmp_path, stops):
    for stop in stops:
        more = {}
        if isinstance(stop, int):
            more["engine"] = Stops(stop)
        elif isinstance(stop, str):

            def on_round(record, number=int(stop[-1])):
                if record.round == number:
                    raise StoppedError

            more["on_round"] = on_round
        else:
            more["on_stage"] = stop_at(stop)
        with pytest.raises(StoppedError):
            tune(made, tmp_path / "t", TWO, resume=True, **more)
    tune(made, tmp_path / "t", TWO, resume=True)
    assert weights_file(tmp_path / "t") == weights_file(whole)
    ours, theirs = result_of(tmp_path / "t"), result_of(whole)
    for one in (ours, theirs):
        one["updates"] = [{k: v for k, v in u.items() if not k.endswith("cpu_s")} for u in one["updates"]]
    assert ours["updates"] == theirs["updates"]
    assert ours["score_after"] == theirs["score_after"]
    assert [step["name"] for step in ours["steps"]] == [step["name"] for step in theirs["steps"]]


class Dies(Stops):
    """Loses the whole process."""

    def map(self, job, items):
        try:
            yield from super().map(job, items)
        except StoppedError:
            os.kill(os.getpid(), signal.SIGKILL)


def tune_to_death(made, out, n):
    tune(made, out, TWO, resume=True, engine=Dies(n))


def test_a_killed_tuning_goes_on_to_the_same_bytes(made, whole, tmp_path):
    """In the middle of a search, twice, and of what follows."""
    context = multiprocessing.get_context("spawn")
    for n in (1, 1, 3, 2):
        process = context.Process(target=tune_to_death, args=(made, tmp_path / "t", n))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    tune(made, tmp_path / "t", TWO, resume=True)
    assert weights_file(tmp_path / "t") == weights_file(whole)
    ours, theirs = (steps_of(out / "tune/steps") for out in (tmp_path / "t", whole))
    assert ours == theirs
    for name in ours:
        files = {path.name for path in (whole / "tune/steps" / name).iterdir()} - {"step.json"}
        for file in files:
            assert (tmp_path / "t/tune/steps" / name / file).read_bytes() == (
                whole / "tune/steps" / name / file
            ).read_bytes()


@pytest.mark.parametrize("how", ["threads", "workers"])
def test_threads_and_workers_give_the_same_bits(made, whole, tmp_path, how):
    if how == "threads":
        tune(made, tmp_path / "t", TWO, n_threads=2)
    else:
        with open_engine("local", n_workers=2, n_threads=1) as engine:
            tune(made, tmp_path / "t", TWO, engine=engine)
    assert weights_file(tmp_path / "t") == weights_file(whole)


def test_tunings_share_steps(made, whole, tmp_path):
    shared = tmp_path / "shared"
    found = []
    for seed in (1, 2):
        tune(made, tmp_path / f"t{seed}", TWO, shared=shared, seed=seed)
        found.append([step["found"] for step in result_of(tmp_path / f"t{seed}")["steps"]])
        names = steps_of(shared)
        assert sorted({name.split("-")[0] for name in names}) == ["gradient", "scale", "search", "start"]
        assert len(names) == 7
        assert [name.split("-")[0] for name in steps_of(tmp_path / f"t{seed}/tune/steps")] == ["last"]
    assert found == [[False] * 5, [True] * 5]
    assert weights_file(tmp_path / "t1") == weights_file(whole)
    # A step that the same gradient leads to elsewhere: bands share the start and the first gradient.
    tune(made, tmp_path / "bands", replace(SMALL, updates=2, blocks=StepBlocks.BANDS), shared=shared)
    assert [step["found"] for step in result_of(tmp_path / "bands")["steps"]] == [True, True, False, False, False]
    # A damaged one is told about and made again.
    (gradient,) = [path for path in shared.glob("gradient-*/gradient") if path.parent.name in names][:1]
    data = bytearray(gradient.read_bytes())
    data[-1] ^= 1
    gradient.write_bytes(data)
    said: list[str] = []
    tune(made, tmp_path / "t3", TWO, shared=shared, seed=3, say=said.append)
    (told,) = said
    assert told.startswith("gradient: the result in")
    assert "is damaged" in told
    assert sorted(step["found"] for step in result_of(tmp_path / "t3")["steps"]) == [False, True, True, True, True]
    data[-1] ^= 1
    assert gradient.read_bytes() == data


def test_the_last_search_on_held_out_lines_belongs_to_the_seed(made, tmp_path):
    method = replace(SMALL, last=Last.HELD_OUT, n_directions=5)
    for seed in (1, 2):
        tune(made, tmp_path / f"t{seed}", method, shared=tmp_path / "shared", seed=seed)
    names = [name.split("-")[0] for name in steps_of(tmp_path / "shared")]
    assert names == ["gradient", "scale", "search", "search", "start"]
    result = result_of(tmp_path / "t2")
    assert [step["found"] for step in result["steps"]] == [True, True, False]
    assert [entry["learned"] for entry in result["rounds"]] == [None, None]
    assert result["stopped"] == "the updates are done"


def test_seeds_share_nothing_if_the_training_seed_is_theirs(made, tmp_path):
    method, shared = replace(SMALL, last=Last.HELD_OUT, n_directions=5, training_seed=0), tmp_path / "shared"
    for seed in (1, 2):
        tune(made, tmp_path / f"t{seed}", method, shared=shared, seed=seed)
    assert not result_of(tmp_path / "t2")["steps"][0]["found"]
    assert [name.split("-")[0] for name in steps_of(shared)].count("start") == 2
    tune(made, tmp_path / "t", replace(method, training_seed=1), shared=shared)
    assert all(step["found"] for step in result_of(tmp_path / "t")["steps"])  # the same as with seed 1
    lines = draw_lines(System.load(made / "phrase").training, method, fold=None, limit=None)
    named = draw_lines(System.load(made / "phrase").training, replace(method, training_seed=1), fold=None, limit=None)
    assert np.array_equal(lines.search, named.search)


def test_blocks_alone_keep_the_dense_weights(made, tmp_path):
    tuned = tune(made, tmp_path / "t", replace(SMALL, last=Last.BLOCKS, blocks=StepBlocks.BANDS))
    search, last = (u["blocks"] for u in result_of(tmp_path / "t")["updates"])
    assert search.keys() == last.keys()
    (folder,) = (tmp_path / "t/tune/steps").glob("search-*")
    before = dict(line.split("\t") for line in (folder / "weights.tsv").read_text().split("\n")[:-1])
    dense = tuned.translator.dense()
    kept = [float(before.get(name, 0.0)) for name in dense]
    assert [tuned.weights[name] for name in dense] == pytest.approx(kept, rel=1e-12)


def test_frozen_features_stay(made, tmp_path):
    start = dict(BLIND.items())
    first = tune(made, tmp_path / "first", replace(SMALL, last=Last.HELD_OUT))
    rules = sorted(name for name, value in first.weights.items() if name.startswith("rule_id") and value)[:3]
    start |= dict(zip(rules, (0.5, -0.25, 0.125), strict=True))
    config = replace(CONFIG, frozen=("lm", *rules))
    tuned = tune(made, tmp_path / "t", config=config, weights=Weights.from_dict(start))
    assert {name: tuned.weights[name] for name in ("lm", *rules)} == {name: start[name] for name in ("lm", *rules)}
    assert sum(name.startswith("rule_id") for name, _ in tuned.weights.items()) > 100
    with pytest.raises(InputError, match="all sparse features are frozen"):
        tune(made, tmp_path / "u", config=replace(CONFIG, frozen=("rule_id",)))
    with pytest.raises(InputError, match="'nonsense' cannot be frozen"):
        tune(made, tmp_path / "u", config=replace(CONFIG, frozen=("nonsense",)))
    assert not (tmp_path / "u").exists()


def test_lines_of_search_and_gradient(made):
    training = System.load(made / "phrase").training
    folds = training.folds
    sets = draw_lines(training, TWO, fold=None, limit=None)
    assert set(folds[sets.search]) == {N_FOLDS - 1}
    assert sorted(sets.gradient) == np.flatnonzero(folds != N_FOLDS - 1).tolist()
    parts = [sets.part(update) for update in (1, 2)]
    assert sorted(np.concatenate(parts)) == sets.gradient.tolist()
    again = [
        draw_lines(training, replace(TWO, passes=2, updates=4), fold=None, limit=None).part(u) for u in (1, 2, 3, 4)
    ]
    assert [part.tolist() for part in again] == [part.tolist() for part in parts * 2]
    limited = draw_lines(training, SMALL, fold=None, limit=30)
    assert limited.search.tolist() == sets.search.tolist()
    assert len(limited.gradient) == 30
    assert set(limited.gradient) <= set(sets.gradient)
    one = draw_lines(training, SMALL, fold=1, limit=None)
    assert sorted([*one.search, *one.gradient]) == np.flatnonzero(folds == 1).tolist()
    inner = Hils(line_search=N_SEARCH)
    for fold in (None, 1):
        held_in = draw_lines(training, inner, fold=fold, limit=80)
        assert len(held_in.gradient) == 80
        assert set(held_in.search) <= set(held_in.gradient)


def test_lines_of_one_fold_share_no_sentence(made, tmp_path):
    for side in "xy":
        lines = (made / f"train.{side}").read_text().splitlines()[:150]
        write_lines(tmp_path / f"train.{side}", [*lines, *lines[::2]])
    settings = SystemSettings(model=PHRASES, n_folds=2)
    config = TrainConfig(settings=settings, lm=EstimateConfig(order=2))
    training = train(tmp_path / "train.x", tmp_path / "train.y", tmp_path / "s", config=config).training
    sets = draw_lines(training, replace(SMALL, line_search=30), fold=1, limit=None)
    searched, learned = ({training.source(line) for line in lines} for lines in (sets.search, sets.gradient))
    assert not searched & learned
    own = np.flatnonzero(training.folds == 1)
    assert learned == {training.source(line) for line in own} - searched
    assert len(sets.search) + len(sets.gradient) < len(own)


def test_an_overlap_is_refused():
    lines = {"search": np.array([3, 4]), "gradient": np.array([4, 5]), "n_parts": 1}
    with pytest.raises(InputError, match="1 lines of the line search are among those of the gradient; hils"):
        LineSets(**lines)
    assert LineSets(**lines, held_in=True).part(1).tolist() == [4, 5]


def test_hils_searches_where_the_gradient_is_from(made, tmp_path):
    method = Hils(line_search=N_SEARCH, gradient_k=20, start_rounds=1, search_rounds=1, n_starts=1, n_directions=0)
    tuned = tune(made, tmp_path / "t", method)
    assert tuned.manifest.about["tuning"]["method"] == "hils"


def test_tables_that_have_seen_the_lines_are_another_gradient(made, tmp_path):
    for all_data in (False, True):
        tune(made, tmp_path / f"t{all_data}", replace(SMALL, all_data=all_data), shared=tmp_path / "shared")
    fresh, seen = (result_of(tmp_path / f"t{all_data}")["steps"][1] for all_data in (False, True))
    assert seen["score_after"] > fresh["score_after"]


BAD_INPUT = {
    "no folds": ({"kind": "plain"}, "has no folds of its training text; train it with `n_folds`"),
    "too few lines": ({"method": replace(SMALL, line_search=1000)}, "asks for 1,000 lines, but there are"),
    "too few for the updates": (
        {"method": TWO, "config": replace(CONFIG, limit=1)},
        "1 gradient lines are too few for 2 updates",
    ),
    "no sparse feature": ({"config": replace(CONFIG, features=())}, "name some, such as `features=hols_sparse`"),
    "an unknown loss": ({"method": replace(SMALL, loss="hols")}, "there is no loss 'hols'"),
    "a setting of no loss": ({"method": replace(SMALL, loss_settings={"step": 2.0})}, "does not depend on its setting"),
    "no such fold": ({"config": replace(CONFIG, fold=9)}, "there is no fold 9"),
}


@pytest.mark.parametrize(("changes", "message"), BAD_INPUT.values(), ids=BAD_INPUT)
def test_bad_input_leaves_nothing_behind(made, tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        tune(made, tmp_path / "t", **changes)
    assert not (tmp_path / "t").exists()


def test_a_changed_training_text_is_refused(made, tmp_path):
    shutil.copytree(made / "phrase", tmp_path / "phrase")
    path = tmp_path / "phrase/training/target.ids"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    config = replace(CONFIG, features=("rule_id",))
    dev = made / "dev.x", [made / "dev.y"]
    with pytest.raises(InputError, match=r"target\.ids: has other content; the system is damaged"):
        tune_system(tmp_path / "phrase", *dev, tmp_path / "t", optimiser=SMALL, config=config)
    assert not (tmp_path / "t").exists()


def test_a_gradient_of_zero_keeps_what_was_done(made, tmp_path):
    """Lists of one candidate each have no gradient; so do costs that are all the same."""
    method = replace(SMALL, loss="softramp", loss_settings={"cost_scale": 1e-300})
    with pytest.raises(InputError, match="the gradient of softramp is 0 for every sparse feature"):
        tune(made, tmp_path / "t", method)
    kinds = [name.split("-")[0] for name in steps_of(tmp_path / "t/tune/steps")]
    assert kinds == ["gradient", "scale", "start"]
    with pytest.raises(InputError, match="other settings"):
        tune(made, tmp_path / "t", SMALL, resume=True)
