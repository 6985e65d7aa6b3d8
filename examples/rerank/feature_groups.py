"""What features are worth: groups added one after another to somebody's lists, several methods and seeds, one table.

    python examples/rerank/feature_groups.py --dev dev.jsonl --dev-source dev.de -r dev.en \
        --test test.jsonl --test-source test.de --test-reference test.en --system SYSTEM --main l2r --others r2l,reverse

Lists have a feature `--main`, the score of the model that made them, and others of further models; SYSTEM is a system
trained on the same text (`dragoman train`), for a language model and word translations. Everything is tuned on dev and
measured on test. p is of approximate randomisation over the runs of both rows (Clark et al. 2011), against the row
`models`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

import numpy as np

from dragoman.evaluate.significance import paired_randomisation, shuffled_totals
from dragoman.features import Weights
from dragoman.metric import Bleu, Smoothing
from dragoman.optim import OPTIMISERS
from dragoman.pool import Choice, Pool, mbr, oracle, read_pool, read_references, rerank, with_metric
from dragoman.rescoring import add_candidate_features
from dragoman.text import read_lines
from dragoman.tune import tune_pool

METRIC = Bleu(smoothing=Smoothing.NONE)
N_TRIALS = 2000


def main() -> None:
    """Read, tune, measure, write the table."""
    options = parsed()
    dev = prepared(options.dev, options.dev_source, options.reference, options)
    test = prepared(options.test, options.test_source, options.test_reference, options)
    result = {
        "first candidate": points(rerank(test, Weights.from_dict({})).score()),
        "oracle": points(oracle(test).score()),
        "mbr bleu": points(mbr(test, Bleu()).score()),
        "rows": [],
    }
    say(f"first {result['first candidate']:.2f}, oracle {result['oracle']:.2f}, mbr {result['mbr bleu']:.2f}")
    for method in options.methods.split(","):
        result["rows"] += rows_of(method, groups_of(dev, options), dev, test, options)
    say(table(result["rows"]))
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def parsed() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name in ("--dev", "--dev-source", "--test", "--test-source", "--system"):
        parser.add_argument(name, required=True)
    parser.add_argument("-r", "--reference", action="append", required=True, help="of dev; repeat")
    parser.add_argument("--test-reference", action="append", required=True, help="repeat")
    parser.add_argument("--main", default="l2r", help="score of the model that made the lists")
    parser.add_argument("--others", default="r2l,reverse", help="scores of further models, and lengths, separated by ,")
    parser.add_argument("--methods", default="mert,pro,mira,rm,xbleu")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--json", help="write all numbers here")
    return parser.parse_args()


def prepared(path: str, source: str, references: list[str], options: argparse.Namespace) -> Pool:
    """A list with its metric and all features."""
    told = [
        f"lm={options.system}",
        f"system={options.system}",
        "agreement",
        f"agreement={options.main}:0.5",
        "length",
        "copies",
        "punctuation",
        "repeats",
    ]
    pool = add_candidate_features(read_pool([path]), told, list(read_lines(source)), n_threads=2)
    return with_metric(pool, METRIC, read_references(references), allow_missing=True, n_threads=2)


def groups_of(pool: Pool, options: argparse.Namespace) -> dict[str, set[str]]:
    """Names of rows and the features that each may use."""
    names = set(pool.dense_names())

    def those(*stems: str) -> set[str]:
        return {name for name in names if name.startswith(stems)}

    lm, words, agree = those("lm_"), those("m1_", "unlinked"), those("agree")
    surface = those("length", "copied", "numbers", "marks", "last_mark", "brackets", "doubled", "repeated")
    scores = set(options.others.split(","))
    models = names - lm - words - agree - surface
    return {
        "one model": models - scores,
        "one model, all of ours": names - scores,
        "models": models,
        "+ language model": models | lm,
        "+ word translations": models | lm | words,
        "+ agreement": models | lm | words | agree,
        "+ surface": names,
    }


def rows_of(
    method: str, groups: dict[str, set[str]], dev: Pool, test: Pool, options: argparse.Namespace
) -> list[dict[str, object]]:
    """A row for each group of features: tuned on dev with every seed, measured on test."""
    seeds = [int(seed) for seed in options.seeds.split(",")]
    start = Weights.from_dict({options.main: 1.0})
    statistics_of: dict[str, np.ndarray] = {}
    rows = []
    for name, used in groups.items():
        frozen = sorted(set(dev.dense_names()) - used)
        tuned = [tune_pool(dev, OPTIMISERS[method](), start, seed=seed, frozen=frozen, n_threads=2) for seed in seeds]
        choices = [rerank(test, record.weights) for record in tuned]
        statistics_of[name] = np.stack([chosen_statistics(choice) for choice in choices])
        scores = [points(choice.score()) for choice in choices]
        rows.append(
            {
                "method": method,
                "group": name,
                "n_features": len(used),
                "dev": statistics.fmean(points(record.score_after) for record in tuned),
                "test": statistics.fmean(scores),
                "deviation": statistics.stdev(scores) if len(scores) > 1 else 0.0,
                "cpu_s": statistics.fmean(record.cpu_s for record in tuned),
            }
        )
    for row in rows:
        row["p"] = p_value(statistics_of["models"], statistics_of[str(row["group"])])
    return rows


def chosen_statistics(choice: Choice) -> np.ndarray:
    """Statistics of the chosen candidate of each sentence, [n_sentences, n_stats]."""
    (shard,), (chosen,) = choice.pool.shards, choice.candidates
    return shard.stats[chosen]


def p_value(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Of the difference of the means over runs, from statistics [run, sentence, n_stats]."""
    if np.array_equal(ours, theirs):
        return 1.0
    first, second = shuffled_totals(ours, theirs[None], N_TRIALS, seed=1)
    means = [METRIC.score(side.sum(axis=1).mean(axis=0)) for side in (ours, theirs)]
    return paired_randomisation(METRIC.score(second[:, 0]), METRIC.score(first[:, 0]), abs(means[1] - means[0]))


def table(rows: list[dict[str, object]]) -> str:
    """Rows as Markdown."""
    lines = [
        "| method | features | number | dev | test | deviation | p | CPU s |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['method']} | {row['group']} | {row['n_features']} | {row['dev']:.2f} | {row['test']:.2f} "
        f"| {row['deviation']:.2f} | {row['p']:.4f} | {row['cpu_s']:.1f} |"
        for row in rows
    ]
    return "\n".join(lines)


def points(score: float) -> float:
    """As papers write it."""
    return METRIC.points(score)


def say(text: str) -> None:
    """A paragraph on standard output, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
