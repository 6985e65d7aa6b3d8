"""Small runs for tests of what reads them: a few cells with made-up records and translations."""

from __future__ import annotations

import json

import numpy as np

from dragoman.cost import StageCost
from dragoman.features import Weights, write_weights
from dragoman.run import CellKey, CellResult, CellRound, cell_folder, translations_file

WORDS = ("the", "a", "cat", "dog", "bird", "sat", "ran", "slept", "on", "under", "near", "mat", "house", "tree", "and")
SETTINGS = {
    "title": "A fake run",
    "citation": "Nobody 2011",
    "expected": "nothing in particular",
    "published": [],
    "report": {},
}


def sentences(n, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, size=int(rng.integers(5, 12)))) for _ in range(n)]


def noisy(lines, rate, seed):
    """Lines with words exchanged at a rate."""
    rng = np.random.default_rng(seed)
    return [
        " ".join(str(rng.choice(WORDS)) if rng.random() < rate else word for word in line.split()) for line in lines
    ]


def write_test_set(run, name, source, *references):
    folder = run / "corpora" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "source.txt").write_text("".join(f"{line}\n" for line in source), encoding="utf-8")
    for i, lines in enumerate(references):
        (folder / f"reference.{i}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def rounds(n, *, start=0.2, end=0.3, n_features=14, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(
        CellRound(
            round=i + 1,
            dev=start + (end - start) * i / max(1, n - 1) + float(rng.normal(0, 0.002)),
            test=None if i % 2 else start + (end - start) * i / max(1, n - 1) - 0.01,
            n_candidates=5000 * (i + 1),
            n_features=n_features,
            n_active=n_features - n + i,
            decode_wall_s=3.0,
            decode_cpu_s=5.0 + i / 10,
            learn_wall_s=1.0,
            learn_cpu_s=1.5,
            statistics_cpu_s=0.2,
        )
        for i in range(n)
    )


def explanation(source, text, tree=()):
    """As `Explanation.to_json` of a phrase-based or, with a tree, a hierarchical system."""
    feature = {"name": "lm", "value": -4.5, "weight": 0.5, "contribution": -2.25}
    words = text.split()
    piece = {
        "source": source,
        "target": text,
        "span": [0, len(source.split())],
        "positions": list(range(len(words))),
        "score": -2.25,
        "features": [feature],
    }
    return {
        "source": source,
        "text": text,
        "score": -2.25,
        "pieces": [piece],
        "alignment": [[0, 0]],
        "features": [feature],
        **({"tree": list(tree)} if tree else {}),
    }


def write_cell(
    run,
    *,
    corpus="toy",
    system="phrase",
    features="phrase15",
    optimiser="mert",
    seed=1,
    lines=None,
    error=None,
    weights=None,
    derivations=(),
    n_rounds=3,
    **fields,
):
    key = CellKey(corpus=corpus, system=system, features=features, optimiser=optimiser, seed=seed)
    if error is not None:
        CellResult(key=key, error=error).save(run)
        return key
    folder = cell_folder(run, key)
    (folder / "weights").mkdir(parents=True, exist_ok=True)
    (folder / "test.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for i in range(n_rounds):
        values = weights or {"lm": 0.5, "tm:0": 0.2, "wp:a b": 0.01}
        now = {name: value * (1 + np.sin(place) / (i + 1)) for place, (name, value) in enumerate(values.items())}
        write_weights(Weights.from_dict(now), folder / "weights" / f"{i + 1:04d}.tsv")
    records = [json.dumps({"sentence": i, "explanation": one}) + "\n" for i, one in derivations]
    (folder / "derivations.jsonl").write_text("".join(records), encoding="utf-8")
    settings = {
        "method": optimiser,
        "rounds": rounds(n_rounds, seed=seed),
        "best_round": n_rounds,
        "stopped": "max_rounds",
        "stages": (
            StageCost(name="grammar", wall_s=4.0, cpu_s=6.0, peak_bytes=200 << 20, cached=seed > 1),
            StageCost(name="tune", wall_s=12.0, cpu_s=20.0, peak_bytes=300 << 20),
        ),
        "scores": {"bleu": 0.3, "chrf": 0.5, "ter": 0.6, "length_ratio": 1.0},
        **fields,
    }
    CellResult(key=key, **settings).save(run)
    return key


def write_translations(run, key, test, lines):
    """Of a test set that is not the main one."""
    path = translations_file(cell_folder(run, key), test)
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def start_run(run, **settings):
    run.mkdir(parents=True, exist_ok=True)
    record = {"format": "dragoman-run", "version": 1, "dragoman": "0", "settings": {**SETTINGS, **settings}}
    (run / "run.json").write_text(json.dumps(record), encoding="utf-8")
    return run


def fake_run(run, *, rates=None, seeds=(1, 2, 3), n_sentences=40, corpus="toy", **settings):
    """Optimisers with rates of wrong words, over seeds, on one corpus."""
    start_run(run, **settings)
    refs = sentences(n_sentences)
    source = [line.upper() for line in refs]
    write_test_set(run, corpus, source, refs)
    for i, (optimiser, rate) in enumerate((rates or {"mert": 0.3, "pro": 0.1}).items()):
        for seed in seeds:
            lines = noisy(refs, rate, 100 * i + seed)
            write_cell(
                run,
                corpus=corpus,
                optimiser=optimiser,
                seed=seed,
                lines=lines,
                derivations=[(0, explanation(source[0], lines[0]))],
            )
    return run


def count_ties_in_sacrebleu(monkeypatch):
    """Let sacrebleu's p-values, in points, count differences that equal the observed one, as ours do."""

    def p_value(stats, difference):
        return (np.sum(stats >= difference - 1e-9).item() + 1) / (len(stats) + 1)

    monkeypatch.setattr("sacrebleu.significance._compute_p_value", p_value)


def slow_bootstrap(metric, outputs, references, *, n, seed=12345):
    """Scores in points of two systems' resamples, [resample, system], one at a time by sacrebleu; and the p-value."""
    statistics = [metric._extract_corpus_statistics(lines, references) for lines in outputs]

    def scores(chosen):
        return [metric._aggregate_and_compute([rows[i] for i in chosen]).score for rows in statistics]

    rng = np.random.default_rng(seed)
    n_sentences = len(outputs[0])
    resampled = np.array([scores(rng.choice(n_sentences, size=n_sentences, replace=True)) for _ in range(n)])
    observed = np.subtract(*scores(range(n_sentences)))
    differences = resampled[:, 0] - resampled[:, 1]
    as_far = np.abs(differences - differences.mean()) >= abs(observed) - 1e-9
    return resampled, (as_far.sum().item() + 1) / (n + 1)
