"""Pairs and systems that forests around references cannot be made of: a clear error or a counted skip."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.small_systems import make_systems
from tests.kit.small_text import write_lines

from dragoman import _core
from dragoman.align import Alignment
from dragoman.errors import InputError
from dragoman.features import FeatureTable
from dragoman.grammar import RuleExtraction
from dragoman.lm import EstimateConfig
from dragoman.optim import FastForest, Mert
from dragoman.search import EdgeKind, Reach, ReferenceConfig
from dragoman.system import (
    KINDS,
    HieroSettings,
    System,
    SystemSettings,
    TrainConfig,
    export_system,
    import_system,
    train,
)
from dragoman.system.references import MAX_WORDS, FoldReferences
from dragoman.tuning import LastSearch, LoopSettings, PhiSettings, Theta, TuneConfig, tune_system

WORDS = 4096


@pytest.fixture(scope="module", params=["hiero", "phrase"])
def odd(request, tmp_path_factory):
    """Training text with a line of 4,096 words and one without links."""
    folder = tmp_path_factory.mktemp(f"odd-{request.param}")
    text = make_text(folder)
    model = KINDS[request.param].settings()
    if request.param == "hiero":
        model = HieroSettings(rules=RuleExtraction(added=True))
    settings = SystemSettings(model=model, n_folds=3, features=("word_context(top=0)",))
    config = TrainConfig(settings=settings, lm=EstimateConfig(order=2))
    train(*text[:2], folder / "system", alignment=text[2], config=config)
    return System.load(folder / "system")


def make_text(folder):
    source, target, links = [], [], []
    for i in range(90):
        words = [f"w{(i * k) % 7}" for k in range(1, 5)]
        source.append(" ".join(words))
        target.append(" ".join(f"{'tu'[i // 7 % 2]}{word[1:]}" for word in words))
        links.append("0-0 1-1 2-2 3-3")
    source += [" ".join(["w1"] * WORDS), "w2 w3"]
    target += [" ".join(["t1"] * WORDS), "t2 t3"]
    links += [" ".join(f"{i}-{i}" for i in range(WORDS)), ""]
    write_lines(folder / "dev.s", source[:8])
    write_lines(folder / "dev.t", target[:8])
    return [write_lines(folder / name, rows) for name, rows in (("s", source), ("t", target), ("a", links))]


def test_long_lines_and_lines_without_links_are_counted_and_left_out(odd):
    references = FoldReferences(odd)
    lines = np.arange(len(odd.training), dtype=np.int64)
    lengths = odd.training.source_ids.lengths()
    weights = FeatureTable.from_weights(odd.weights, "weight")
    found = references.parse(lines, weights, ReferenceConfig())
    reached = dict(zip(found.lines.tolist(), found.forests.reached.tolist(), strict=True))
    assert sorted(reached) == lines.tolist()
    (long,) = np.flatnonzero(lengths > MAX_WORDS)
    without = [int(line) for line in lines if not len(odd.training.links[int(line)])]
    assert len(without) == 1
    assert reached[int(long)] == Reach.NO
    if odd.settings.kind == "phrase":
        assert reached[without[0]] == Reach.NO
    assert sum(how != Reach.NO for how in reached.values()) >= 90
    assert np.isfinite(found.forests.feature_values).all()


def test_tuning_leaves_them_out_and_says_how_many_teach(odd, tmp_path):
    config = TuneConfig(
        k=5,
        loop=LoopSettings(max_rounds=1),
        phi=PhiSettings(search=Mert(n_starts=1, n_directions=1), theta=Theta.SYSTEM, last=LastSearch.NONE),
    )
    folder = odd.folder.parent
    result = tune_system(
        odd.folder, folder / "dev.s", [folder / "dev.t"], tmp_path / "t", optimiser=FastForest(), config=config
    )
    assert result is not None
    assert np.isfinite(System.load(tmp_path / "t").weights.values).all()
    note = next(note for note in _notes(tmp_path / "t") if "of them teach" in note)
    assert f"of {len(odd.training):,} references" in note


def _notes(out):
    import json

    return json.loads((out / "tune/result.json").read_text(encoding="utf-8"))["notes"]


def test_empty_pairs_have_no_forest(odd):
    parser = odd.translator.reference_parser()
    none = np.zeros(0, np.int32)
    forests = parser.parse(["", "w1"], (np.array([0, 0, 0]), none), Alignment.of([[], []]), odd.weights)
    assert forests.reached.tolist() == [Reach.NO, Reach.NO]
    assert forests.n_edges == 0
    store = _core.ReferenceStore(len(odd.index))
    store.add(forests.arrays(), np.arange(len(odd.index), dtype=np.int32))
    assert len(store) == 0


def test_links_of_another_text_are_named(odd):
    parser = odd.translator.reference_parser()
    ids = np.array([odd.translator.vocab.id("t1")], np.int32)
    with pytest.raises(InputError, match="a link of pair 1 lies outside its sentences; are they of another text"):
        parser.parse(["w1"], (np.array([0, 1]), ids), Alignment.of([[(0, 3)]]), odd.weights)


def test_systems_without_folds_and_models_that_have_seen_all_are_refused(tmp_path):
    source, target, links = make_text(tmp_path)
    for model in (KINDS["phrase"].settings(), KINDS["hiero"].settings()):
        out = tmp_path / model.kind
        config = TrainConfig(settings=SystemSettings(model=model), lm=EstimateConfig(order=2))
        train(source, target, out, alignment=links, config=config)
        with pytest.raises(InputError, match="train it with `n_folds`"):
            FoldReferences(System.load(out))
        # No more has one that was imported, whose tables have no counts.
        export_system(System.load(out), tmp_path / f"{model.kind}-files")
        settings = System.load(out).settings
        imported = import_system(tmp_path / f"{model.kind}-files", tmp_path / f"{model.kind}-back", settings=settings)
        with pytest.raises(InputError, match="train it with `n_folds`"):
            FoldReferences(imported)
    folded = TrainConfig(settings=SystemSettings(n_folds=3), lm=EstimateConfig(order=2))
    with pytest.raises(InputError, match="cannot leave out a fold"):
        train(source, target, tmp_path / "folded", alignment=links, lm=out / "lm.arpa", config=folded)


def test_same_words_by_another_rule_count_as_the_reference(tmp_path):
    """In 'ja ja' the words of 'ja X -> yes X' and 'ja X -> X yes' are the same."""
    pairs = [("ja ja", "yes yes", "0-0 1-1"), ("ja nein", "yes no", "0-0 1-1"), ("ja gut", "good yes", "0-1 1-0")]
    rows = [*pairs * 8, *(("nein gut", "no good", "0-0 1-1"),) * 4]
    files = [write_lines(tmp_path / str(k), column) for k, column in enumerate(zip(*rows, strict=True))]
    settings = SystemSettings(model=HieroSettings(rules=RuleExtraction(min_source_gap=1, min_target_gap=1)))
    config = TrainConfig(settings=settings, lm=EstimateConfig(order=2))
    train(files[0], files[1], tmp_path / "system", alignment=files[2], config=config)
    system = System.load(tmp_path / "system")
    ids = np.array([system.translator.vocab.id("yes")] * 2, np.int32)
    forests = system.translator.reference_parser().parse(
        ["ja ja"],
        (np.array([0, 2]), ids),
        Alignment.of([[(0, 0), (1, 1)]]),
        system.weights,
        ReferenceConfig(max_wrong=0),
    )
    same = np.flatnonzero(forests.kinds == EdgeKind.SAME_WORDS)
    assert len(same) > 0
    assert (forests.gains[same] == 1).all()
    lm = system.index.find("lm")
    for e in same:
        begin, end = forests.feature_offsets[e : e + 2]
        assert lm not in forests.feature_ids[begin:end].tolist()
    store = _core.ReferenceStore(len(system.index))
    store.add(forests.arrays(), np.arange(len(system.index), dtype=np.int32))
    values, model = system.weights.values_on(system.index), _core.ReferenceModel("likelihood")
    changed = {
        **forests.arrays(),
        "kinds": np.where(forests.kinds == EdgeKind.SAME_WORDS, EdgeKind.WRONG, forests.kinds),
    }
    changed["kinds"] = changed["kinds"].astype(np.uint8)
    as_wrong = _core.ReferenceStore(len(system.index))
    as_wrong.add(changed, np.arange(len(system.index), dtype=np.int32))
    order = np.array([0])
    assert store.value(model, order, values)[0] < as_wrong.value(model, order, values)[0]


def test_pairs_of_a_small_system_of_each_kind_with_damaged_links_never_crash(tmp_path):
    made = make_systems(tmp_path, n_folds=2)
    rng = np.random.default_rng(3)
    for kind in ("hiero", "phrase"):
        system = System.load(made / kind).with_templates(("word_context(top=5)",))
        lines = np.arange(40, dtype=np.int64)
        target = system.training.target_ids.take(lines)
        source = system.training.encoded(lines, None)
        n, m = np.diff(source.offsets), np.diff(target.offsets)
        links = [
            sorted({(int(rng.integers(n[s])), int(rng.integers(m[s]))) for _ in range(int(rng.integers(0, 30)))})
            for s in range(len(lines))
        ]
        forests = system.translator.reference_parser().parse(
            source, (target.offsets, target.ids), Alignment.of(links), system.weights
        )
        store = _core.ReferenceStore(len(system.index))
        store.add(forests.arrays(), np.arange(len(system.index), dtype=np.int32))
        values, order = system.weights.values_on(system.index), np.arange(len(store))
        loss, share = store.value(_core.ReferenceModel("likelihood"), order, values)
        assert np.isfinite(loss)
        assert 0 <= share <= 1
