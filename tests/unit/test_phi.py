"""Learned sparse weights as blocks in search: against plain weights, and what a tuning makes of them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.kit.small_systems import TEMPLATES, all_names, opened, sentences_of

from dragoman.errors import InputError
from dragoman.features import (
    FeatureTable,
    Weights,
    blocks_by_orientation,
    class_sizes,
    places_by_template,
    read_weights,
    write_weights,
)
from dragoman.optim import Mert, Pro
from dragoman.optim.hols import moved
from dragoman.system import KINDS, System
from dragoman.tuning import Keep, LastSearch, LoopSettings, PhiBlocks, PhiSettings, TuneConfig, tune_system
from dragoman.tuning.phi import KEPT, PHI, Phi, read_phi

CONFIG = TuneConfig(k=20, loop=LoopSettings(max_rounds=2))
SMALL = Mert(n_starts=2, n_directions=2)
LOCAL = "reorder_local(top=20)"


def phi_of(made, kind):
    """Weights with few binary digits, so that sums do not depend on their order."""
    sparse = [name for name in all_names(made, kind) if ":" in name]
    return {name: (i % 9 - 4) / 8 for i, name in enumerate(sorted(sparse)) if i % 3}


def table_of(values):
    return FeatureTable.from_weights(Weights.from_dict(values))


def tune(made, out, phi, *, kind="phrase", method=SMALL, config=CONFIG, **more):
    path = out.with_name(f"{out.name}.phi")
    write_weights(Weights.from_dict(phi), path)
    dev = made / "dev.de", [made / "dev.en"]
    return tune_system(made / kind, *dev, out, optimiser=method, config=config, phi=path, **more)


def with_phi(**settings):
    return replace(CONFIG, phi=PhiSettings(**settings))


def result_of(out):
    return json.loads((out / "tune/result.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blocks", PhiBlocks)
def test_blocks_of_weight_1_decode_as_plain_weights_do(made, kind, blocks):
    values, sentences = phi_of(made, kind), sentences_of(made)
    plain, system = opened(made, kind), opened(made, kind)
    dense = {name: round(8 * plain.weights[name]) / 8 for name in plain.translator.dense()}
    sparse = {"templates": TEMPLATES[kind], "classes": (4, 9)}
    phi = Phi.of(table_of(values), Weights.from_dict(dense), blocks, dense=plain.translator.dense(), **sparse)
    inside = system.with_blocks(phi.blocks, rest=False)
    pools = [
        inside.kbest(sentences, 30, weights=phi.start().on(inside.index)),
        plain.kbest(sentences, 30, weights=Weights.from_dict(dense | values, plain.index)),
    ]
    ours, theirs = (pool.shards[0] for pool in pools)
    assert ours.sentences.tolist() == theirs.sentences.tolist()
    assert ours.totals.tolist() == theirs.totals.tolist()
    texts = [[pool.text(pool.shards[0], c) for c in range(pool.n_candidates)] for pool in pools]
    assert texts[0] == texts[1]
    assert len({*texts[0]}) > len(sentences)
    assert dict(moved(phi.start(), phi.blocks).items()) == {k: v for k, v in (dense | values).items() if v}


def test_orientations_are_first_arguments_of_reordering():
    names = [
        "reorder_local:m,f_first,x",
        "reorder_local:g,f_first,x",
        "reorder_gap:l,x",
        "reorder_stack:m",
        "reorder_local:x,m",  # no orientation
        "reorder_local:mm,f_first,x",
        "rule_id:m,x",
        "reorder_:s,x",
        "reorder:s,x",
        "dense",
        "dense,x",
        "reorder_bwd_m",
    ]
    table = table_of({name: 1.0 + i for i, name in enumerate(names)})
    found = {block.name: sorted(block.table.names()) for block in blocks_by_orientation(table, "weight", prefix="p_")}
    assert found == {
        "p_m": ["reorder_local:m,f_first,x", "reorder_stack:m"],
        "p_g": ["reorder_local:g,f_first,x"],
        "p_l": ["reorder_gap:l,x"],
        "p_s": ["reorder_:s,x"],
        "p_reorder_local": ["reorder_local:mm,f_first,x", "reorder_local:x,m"],
        "p_rule_id": ["rule_id:m,x"],
        "p_reorder": ["reorder:s,x"],
    }


def test_a_binary_file_is_mapped_and_means_the_same(tmp_path):
    weights = Weights.from_dict({"lm": 0.5, "rule_id:a,b": -0.25, "rule_id:b,a": 0.125})
    tables = []
    for name in ("phi.tsv", "phi.bin"):
        write_weights(weights, tmp_path / name)
        table = read_phi(tmp_path / name)
        tables.append(dict(zip(table.names(), table.columns["weight"].tolist(), strict=True)))
    assert tables[0] == tables[1] == dict(weights.items())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", [SMALL, Pro(threshold=0.0)], ids=["mert", "pro"])
def test_the_result_has_the_blocks_weights_times_phi(made, tmp_path, kind, method):
    share = 1 if kind == "phrase" else 1 / 64  # so that neither all nor none of the candidates are bad
    phi = {name: share * value for name, value in phi_of(made, kind).items()}
    # The last round, whether or not it decodes better than the first.
    config = replace(with_phi(blocks=PhiBlocks.TEMPLATE), loop=LoopSettings(max_rounds=2, keep=Keep.LAST))
    tuned = tune(made, tmp_path / "t", phi, kind=kind, method=method, config=config)
    result = result_of(tmp_path / "t")
    assert {f"{PHI}_{template.split('(')[0]}" for template in TEMPLATES[kind]} == result["blocks"].keys()
    assert any(value != 1 for value in result["blocks"].values())
    # The blocks' weights are relative to the dense ones, whose scale a search is free to change.
    dense, start = tuned.translator.dense(), opened(made, kind).weights
    scale = sum(abs(tuned.weights[name]) for name in dense) / sum(abs(start[name]) for name in dense)
    for name, value in phi.items():
        block = scale * result["blocks"][f"{PHI}_{name.split(':')[0]}"]
        assert tuned.weights[name] == pytest.approx(block * value, rel=1e-9)
    assert not [name for name, _ in tuned.weights.items() if name.startswith(PHI)]
    assert result["score_after"] == result["rounds"][-1]["score"]
    # The first round has phi as it is, and all its weights are of features.
    first = read_weights(tmp_path / "t/tune/rounds/0001/weights.tsv")
    assert {name: first[name] for name in phi} == phi
    # A round's score is that of decoding with these weights.
    system = System.load(tmp_path / "t")
    lines = (tmp_path / "t/tune/rounds" / f"{result['best_round']:04d}" / "output.txt").read_text().split("\n")[:-1]
    assert list(system.translate(sentences_of(made))) == lines


def test_what_is_free_moves_and_nothing_else(made, tmp_path):
    phi, start = phi_of(made, "phrase"), opened(made, "phrase")
    dense = start.translator.dense()

    def moved_by(name, frozen=(), **settings):
        config = replace(with_phi(**settings), frozen=frozen)
        tuned = tune(made, tmp_path / name, phi, config=config)
        blocks = result_of(tmp_path / name)["blocks"]
        kept = [d for d in dense if tuned.weights[d] == start.weights[d]]
        return blocks, len(kept) == len(dense), {n: tuned.weights[n] for n in phi} == phi

    blocks, dense_kept, phi_kept = moved_by("none", blocks=PhiBlocks.NONE)
    assert (blocks, dense_kept, phi_kept) == ({}, False, True)
    blocks, dense_kept, _ = moved_by("blocks", blocks=PhiBlocks.ORIENTATION, last=LastSearch.BLOCKS)
    assert dense_kept
    assert {f"{PHI}_{o}" for o in "mg"} <= blocks.keys() >= {f"{PHI}_rule_id"}
    blocks, dense_kept, phi_kept = moved_by("nothing", last=LastSearch.NONE)
    assert (blocks, dense_kept, phi_kept) == ({}, True, True)
    assert [entry["learned"] for entry in result_of(tmp_path / "nothing")["rounds"]] == [None, None]
    blocks, _, _ = moved_by("frozen", frozen=("phi_m", "lm"), blocks=PhiBlocks.ORIENTATION)
    assert blocks["phi_m"] == 1
    assert System.load(tmp_path / "frozen").weights["lm"] == start.weights["lm"]


@pytest.mark.parametrize("blocks", [PhiBlocks.ONE, PhiBlocks.TEMPLATE])
def test_frozen_sparse_weights_stay(made, tmp_path, blocks):
    phi = {name: value for name, value in phi_of(made, "phrase").items() if value}
    single = min(name for name in phi if name.startswith("word_pair:"))
    loop = LoopSettings(max_rounds=2, keep=Keep.LAST)
    config = replace(with_phi(blocks=blocks), frozen=("rule_id", single), loop=loop)
    tuned = tune(made, tmp_path / "t", phi, config=config)
    stay = {name for name in phi if name.startswith("rule_id:")} | {single}
    assert {name: tuned.weights[name] for name in stay} == {name: phi[name] for name in stay}
    result = result_of(tmp_path / "t")
    assert any(value != 1 for value in result["blocks"].values())
    assert "phi_rule_id" not in result["blocks"]
    assert f"{len(stay):,} sparse weights of phi are frozen and stay as they are" in result["notes"]


def test_sparse_weights_of_the_start_stay_unless_phi_has_them(made, tmp_path):
    phi = phi_of(made, "phrase")
    (other, both), theirs = sorted(phi)[:2], dict(opened(made, "phrase").weights.items())
    del phi[other]
    start = Weights.from_dict(theirs | {other: 0.5, both: 7.0})
    config = with_phi(blocks=PhiBlocks.NONE)
    tuned = tune(made, tmp_path / "t", phi, config=config, weights=start)
    assert tuned.weights[other] == 0.5
    assert tuned.weights[both] == phi[both]
    notes = " ".join(result_of(tmp_path / "t")["notes"])
    assert "1 sparse weights of the start are replaced" in notes
    assert "1 sparse weights of the start are not of phi" in notes
    assert KEPT not in notes


def test_lines_of_the_last_fold_can_be_searched(made, tmp_path):
    phi = phi_of(made, "phrase")
    tune(made, tmp_path / "t", phi, config=with_phi(last=LastSearch.HELD_OUT_BLOCKS, line_search=30))
    result = result_of(tmp_path / "t")
    (step,) = result["steps"]
    assert (step["name"], step["n_lines"]) == ("search", 30)
    assert step["score_after"] >= step["score_before"]
    assert len(result["rounds"]) == 3


class StoppedError(Exception):
    pass


def test_a_stopped_search_goes_on_to_the_same_weights(made, tmp_path):
    phi, config = phi_of(made, "phrase"), with_phi(blocks=PhiBlocks.ORIENTATION)

    def stop(record):
        if record.round == 1:
            raise StoppedError

    tune(made, tmp_path / "whole", phi, config=config)
    with pytest.raises(StoppedError):
        tune(made, tmp_path / "t", phi, config=config, on_round=stop)
    tune(made, tmp_path / "t", phi, config=config, resume=True, n_threads=2)
    assert (tmp_path / "t/weights.tsv").read_bytes() == (tmp_path / "whole/weights.tsv").read_bytes()
    with pytest.raises(InputError, match="other settings"):
        tune(made, tmp_path / "t", {**phi, sorted(phi)[0]: 3.0}, config=config, resume=True)


BAD_INPUT = {
    "dense weights alone": ({"lm": 1.0}, {}, "phi has no weight of a sparse feature"),
    "other templates": (
        {"discount:1": 1.0},
        {},
        "features of discount, which the system does not use.*`features=disc",
    ),
    "templates with classes": (
        {"reorder_stack:l,e_last,c9,2": 1.0},
        {"config": replace(CONFIG, features=("rule_id",))},
        "features of reorder_stack, which the system does not use.*`features=sparse_hrm`$",
    ),
    "templates that do not look at classes": (
        {"reorder_local:m,f_first,c9,2": 1.0, "reorder_local:m,f_first,c9": 1.0},
        {},
        r"classes of reorder_local \(c9\).*has classes=0.*`features=sparse_hrm_local`$",
    ),
    "classes that the system lacks": (
        {"reorder_gap:l,c9,2": 1.0, "reorder_gap:l,c50,2": 1.0, "reorder_gap:l,c7": 1.0},
        {},
        r"classes of reorder_gap \(c9, c50\), but the system has classes of 4, 9;.* with `classes=\(50\)` too",
    ),
    "no template": (
        {"rule_id:a,b": 1.0, "nonsense": 2.0},
        {},
        "neither the system's dense ones nor of a template: non",
    ),
    "a block to freeze": (
        {"rule_id:a,b": 1.0},
        {"config": replace(CONFIG, frozen=("phi_x",))},
        "'phi_x' cannot be fro",
    ),
    "a misspelt feature": (
        {"rule_id:a,b": 1.0},
        {"config": replace(CONFIG, frozen=("lmm",))},
        "'lmm' cannot be frozen",
    ),
    "one candidate": ({"rule_id:a,b": 1.0}, {"config": replace(CONFIG, k=1)}, "at least two candidates"),
    "hols": ({"rule_id:a,b": 1.0}, {"method": "hols"}, "hols cannot search for the weights of blocks"),
}


@pytest.mark.parametrize(("phi", "changes", "message"), BAD_INPUT.values(), ids=BAD_INPUT)
def test_bad_input_leaves_nothing_behind(made, tmp_path, phi, changes, message):
    with pytest.raises(InputError, match=message):
        tune(made, tmp_path / "t", phi, **changes)
    assert not (tmp_path / "t").exists()


def test_settings_that_leave_nothing_to_search_are_refused():
    with pytest.raises(InputError, match="nothing to tune by last = blocks"):
        PhiSettings(blocks=PhiBlocks.NONE, last=LastSearch.BLOCKS)
    with pytest.raises(InputError, match="size must be at least 1"):
        PhiSettings(size=0)


def test_sizes_of_word_classes_are_those_of_names():
    names = [
        "reorder_local:m,f_first,c50",  # a word
        "reorder_local:m,f_first,c20,17",
        "reorder_local:g,e_last,c80,3",
        "reorder_gap:l,c5,1",
        "reorder_gap:l,cx,1",
        "reorder_phrase:m,c50,17",  # two phrases
        "reorder_stack:m",
        "rule_id:c5,1",
    ]
    table = table_of(dict.fromkeys(names, 1.0))
    assert class_sizes(table, places_by_template(table)) == {"reorder_local": {20, 80}, "reorder_gap": {5}}
    table = table_of({"reorder_gap:l": 1.0})
    assert not class_sizes(table, places_by_template(table))


def test_many_features_are_split_at_once():
    """Templates and orientations of names of all lengths, against a loop."""
    rng = np.random.default_rng(1)
    names = {
        f"{rng.choice(['reorder_local', 'reorder_gap', 'rule_id', 'é'])}:{rng.choice(list('mslrgx'))}{rest}": 1.0
        for rest in ("", *(f",{i:x}" for i in range(500)))
        for _ in range(2)
    }
    wanted = {}
    for name in names:
        template, arguments = name.split(":")
        first = arguments.split(",")[0]
        key = first if template.startswith("reorder_") and first in "mslrg" else template
        wanted.setdefault(key, set()).add(name)
    found = blocks_by_orientation(table_of(names), "weight", prefix="")
    assert {block.name: set(block.table.names()) for block in found} == wanted
