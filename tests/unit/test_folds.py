"""The training text of a system with folds, and its lists: each line by a system that has not seen it."""

from __future__ import annotations

import numpy as np
import pytest

from dragoman.align import read_pharaoh, write_pharaoh
from dragoman.align.links import Alignment
from dragoman.errors import InputError, MismatchError
from dragoman.lm import EstimateConfig, TrainingText, estimate
from dragoman.metric import by_name
from dragoman.pool import with_metric
from dragoman.system import (
    SHARD_LINES,
    FoldDecoder,
    HieroSettings,
    PhraseSettings,
    Preset,
    System,
    SystemSettings,
    TrainConfig,
    reordering_by_name,
    save_tuned,
    shards,
    train,
)
from small_text import write_lines, write_splits

K = 20
FOLD = 1
MODELS = {
    "phrase": PhraseSettings(reordering=reordering_by_name("hrm")),
    "hiero": HieroSettings(),
}


def config(model, n_folds=1):
    return TrainConfig(settings=SystemSettings(model=model, n_folds=n_folds), lm=EstimateConfig(order=3))


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    write_splits(folder, 300, 1, 1, seed=3)
    for side in ("de", "en"):  # words of one line alone, the last one the same on both sides
        path = folder / f"train.{side}"
        lines = path.read_text(encoding="utf-8").splitlines()
        write_lines(path, [f"{line} nur{side}{i} hapax{i}" if i % 7 == 0 else line for i, line in enumerate(lines)])
    write_lines(folder / "domains", ["mo" if i % 3 else "news" for i in range(300)])
    write_lines(folder / "mono.en", ["hapax7 is here .", "the other text has words of its own ."] * 3)
    return folder


@pytest.fixture(scope="module", params=MODELS)
def built(request, text, tmp_path_factory):
    """A system with folds, and one trained afresh without the lines of a fold, on the same alignment."""
    base = tmp_path_factory.mktemp(request.param)
    model = MODELS[request.param]
    files = text / "train.de", text / "train.en"
    more = {"lm_text": [text / "mono.en"]} if request.param == "phrase" else {}
    system = train(*files, base / "s", domains=text / "domains", config=config(model, 3), n_threads=2, **more)
    lines = system.training
    kept = np.flatnonzero(lines.folds != FOLD).tolist()
    write_lines(base / "de", [lines.source(i) for i in kept])
    write_lines(base / "en", [lines.target(i) for i in kept])
    links = list(lines.links)
    write_pharaoh(base / "links", Alignment.of([links[i] for i in kept]))
    lm_text = [text / "mono.en", base / "en"] if more else []
    fresh = train(
        base / "de", base / "en", base / "fresh", alignment=base / "links", lm_text=lm_text, config=config(model)
    )
    return system, fresh


def candidates(pool):
    """Of every sentence: words, total and features by name of each candidate, the best first."""
    shard, found = pool.shards[0], []
    for s in range(shard.n_sentences):
        found.append([])
        for c in range(shard.sentences[s], shard.sentences[s + 1]):
            row = slice(shard.feature_rows[c], shard.feature_rows[c + 1])
            names = pool.index.names(shard.feature_ids[row])
            features = dict(sorted(zip(names, shard.feature_values[row].tolist(), strict=True)))
            found[-1].append((pool.text(shard, c), float(shard.totals[c]), features))
    return found


def test_lists_of_a_fold_are_those_of_a_system_trained_without_it(built):
    system, fresh = built
    lines = np.flatnonzero(system.training.folds == FOLD)
    decoder = FoldDecoder(system)
    pool = decoder.kbest(lines, system.weights, K)
    assert pool.shards[0].sentence_ids.tolist() == lines.tolist()
    theirs = fresh.kbest([system.training.source(i) for i in lines.tolist()], K)
    mine, other = candidates(pool), candidates(theirs)
    assert mine == other
    alone = [i for i in lines.tolist() if i % 7 == 0]
    assert alone, "no line of the fold has words of its own"
    unknown = {name: i for i, name in enumerate(lines.tolist())}
    for line in alone:
        assert any(f"hapax{line}" in text for text, _, _ in mine[unknown[line]])
        assert all(features["unknown"] >= 2 for _, _, features in mine[unknown[line]])
