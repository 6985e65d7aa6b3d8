"""Whole systems on the real corpora: `python -m bench.systems --corpus enja --model hiero --seeds 5`.

Trains (two threads), tunes once for each seed, translates the test set and scores it beside Moses' output. What was
made stays under build/bench/systems and is not made again; `--table` writes the page of the model,
docs/experiments/phrase.md or hiero.md, from all figures there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

from bench.harness import ANCHORS, DATA, RESULTS, ROOT
from dragoman.align import AlignConfig, AlignMethod
from dragoman.analysis import MetricScore, SystemOutput, compare_systems
from dragoman.grammar import RuleExtraction
from dragoman.metric import Bleu, Chrf, Ter
from dragoman.system import (
    KINDS,
    DenseSet,
    HieroSettings,
    PhraseSettings,
    Preset,
    System,
    SystemSettings,
    TrainConfig,
    reordering_by_name,
    train,
)
from dragoman.text import open_output, read_lines
from dragoman.tuning import LoopSettings, TuneConfig, tune_system

OUT = RESULTS / "systems"
PAGES = ROOT / "docs" / "experiments"
THREADS = 2
PRESETS = (Preset.DEFAULT, Preset.ACCURATE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Where the text is, and what Moses made of the test set."""

    source: str
    target: str
    dev: str = "dev"
    test: str = "test"
    anchor: str | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)
    """Of Moses, by model."""
    n_references: int = 1

    def sources(self, folder: str, part: str) -> Path:
        return DATA / folder / f"{part}.{self.source}.xz"

    def references(self, folder: str, part: str) -> list[Path]:
        """Of dev or test; training takes the first."""
        if self.n_references == 1:
            return [DATA / folder / f"{part}.{self.target}.xz"]
        return [DATA / folder / f"{part}.{self.target}.{r}.xz" for r in range(self.n_references)]


CORPORA = {
    "enja": Corpus(
        source="ja",
        target="en",
        anchor="moses-enja",
        outputs={"phrase": "phrase/test.out.gz", "hiero": "hiero/test.out.gz"},
    ),
    "multi30k": Corpus(
        source="de",
        target="en",
        test="test2016_flickr",
        anchor="moses-multi30k-de",
        outputs={"phrase": "phrase.test2016.out.gz", "hiero": "hiero.test2016.out.gz"},
    ),
    "debian-fr-en": Corpus(source="fr", target="en"),
    "bible-mref": Corpus(source="swh", target="en", n_references=4),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One way to build and tune a system."""

    corpus: str
    model: str = "phrase"
    align: str = "anchors"
    reordering: str = "msd"
    dense: DenseSet = DenseSet.FULL14
    tight: bool = False
    method: str = "mert"
    features: str = "none"
    k: int = 100
    distinct: bool = False
    preset: Preset = Preset.DEFAULT
    tests: tuple[Preset, ...] = PRESETS
    rounds: int = 10

    @property
    def variant(self) -> str:
        """What else was chosen about the model."""
        if self.model == "phrase":
            return self.reordering
        return f"{self.dense}{' tight' if self.tight else ''}"

    @property
    def name(self) -> str:
        k = f"{'d' if self.distinct else 'k'}{self.k}{'' if self.preset is Preset.DEFAULT else f'-{self.preset}'}"
        return ".".join(
            [self.corpus, self.model, self.align, self.variant.replace(" ", "."), self.method, self.features, k]
        )


def build(case: Case) -> System:
    corpus = CORPORA[case.corpus]
    folder = OUT / "models" / f"{case.corpus}.{case.model}.{case.align}.{case.variant.replace(' ', '.')}"
    if (folder / "system.json").exists():
        return System.load(folder)
    shutil.rmtree(folder, ignore_errors=True)
    given = case.align == "anchors" and corpus.anchor is not None
    rules = RuleExtraction(tight=True, min_source_gap=1) if case.tight else RuleExtraction()
    phrase = PhraseSettings(reordering=reordering_by_name(case.reordering))
    hiero = HieroSettings(dense=case.dense, rules=rules)
    config = TrainConfig(
        settings=SystemSettings(model=phrase if case.model == "phrase" else hiero),
        alignment=AlignConfig(method=AlignMethod.FAST if case.align == "anchors" else AlignMethod(case.align)),
    )
    return train(
        corpus.sources(case.corpus, "train"),
        corpus.references(case.corpus, "train")[0],
        folder,
        alignment=ANCHORS / str(corpus.anchor) / "train.align.xz" if given else None,
        config=config,
        n_threads=THREADS,
    )


def run_seed(case: Case, system: System, seed: int) -> dict[str, object]:
    folder = OUT / "runs" / case.name / str(seed)
    figures = folder / "figures.json"
    if figures.exists():
        stored: dict[str, object] = json.loads(figures.read_text())
        return stored
    corpus = CORPORA[case.corpus]
    config = TuneConfig(
        k=case.k,
        loop=LoopSettings(max_rounds=case.rounds),
        features=() if case.features == "none" else (case.features,),
        distinct=case.distinct,
        preset=case.preset,
    )
    tuned = tune_system(
        system,
        corpus.sources(case.corpus, corpus.dev),
        corpus.references(case.corpus, corpus.dev),
        folder,
        optimiser=case.method,
        config=config,
        seed=seed,
        resume=True,
        n_threads=THREADS,
        on_round=lambda record: print(f"  round {record.round}: dev {100 * record.score:.2f}", flush=True),
    )
    tuning = tuned.manifest.about["tuning"]
    learned = [entry["learned"] for entry in tuning["rounds"] if entry["learned"]]
    result: dict[str, object] = {
        "seed": seed,
        "dev": 100 * tuning["score_after"],
        "rounds": len(tuning["rounds"]),
        "tune_wall_s": sum(entry["wall_s"] for entry in [*tuning["rounds"], *learned]),
        "tune_cpu_s": tuning["cpu_s"],
    }
    sources = list(read_lines(corpus.sources(case.corpus, corpus.test)))
    milliseconds = {}
    for preset in case.tests:
        cpu = time.process_time()
        lines = list(tuned.translate(sources, preset=preset, n_threads=THREADS))
        milliseconds[preset.value] = 1000 * (time.process_time() - cpu) / len(sources)
        with open_output(output_path(case, seed, preset)) as output:
            for line in lines:
                output.write(line)
    result["ms_per_sentence"] = milliseconds
    figures.write_text(json.dumps(result))
    return result


def output_path(case: Case, seed: int, preset: Preset) -> Path:
    return OUT / "runs" / case.name / str(seed) / f"test.{preset}.out"


def run_case(case: Case, seeds: list[int]) -> None:
    print(case.name, flush=True)
    system = build(case)
    results = [run_seed(case, system, seed) for seed in seeds]
    corpus = CORPORA[case.corpus]
    references = [list(read_lines(path)) for path in corpus.references(case.corpus, corpus.test)]
    systems = [
        SystemOutput(name=preset.value, runs=[list(read_lines(output_path(case, seed, preset))) for seed in seeds])
        for preset in case.tests
    ]
    if corpus.anchor is not None:
        theirs = list(read_lines(ANCHORS / corpus.anchor / corpus.outputs[case.model]))
        systems.insert(0, SystemOutput(name="Moses", runs=[theirs]))
    scores = compare_systems(systems, references, [Bleu(), Chrf(), Ter()], n_threads=THREADS)
    record = {
        "corpus": case.corpus,
        "model": case.model,
        "align": case.align,
        "variant": case.variant,
        "method": case.method,
        "features": case.features,
        "k": case.k,
        "distinct": case.distinct,
        "preset": case.preset,
        "seeds": seeds,
        "stages": system.manifest.about["stages"],
        "runs": results,
        "test": {
            score.name: {item.metric: figures_of(item, bool(corpus.anchor)) for item in score.scores}
            | {"length_ratio": score.length_ratio}
            for score in scores
        },
    }
    (OUT / f"{case.name}.json").write_text(json.dumps(record, indent=1))
    for score in scores:
        bleu = score.scores[0]
        runs = [round(100 * x, 2) for x in bleu.run_scores]
        print(f"{case.name}: {score.name} BLEU {100 * bleu.score:.2f} {runs}, length {score.length_ratio:.3f}")


def figures_of(item: MetricScore, has_peer: bool) -> dict[str, object]:
    return {
        "mean": 100 * item.score,
        "runs": [100 * score for score in item.run_scores],
        "std": None if item.std is None else 100 * item.std,
        "p": item.p_randomisation if has_peer else None,
    }


def write_table(model: str) -> None:
    """Into the page of the model."""
    rows = []
    for path in sorted(OUT.glob("*.json")):
        r = json.loads(path.read_text())
        if r["model"] != model:
            continue
        runs, tests = r["runs"], r["test"]
        train_s = sum(stage["wall_s"] for stage in r["stages"])
        peak = max(stage["peak_bytes"] for stage in r["stages"]) / 2**30
        cells = [
            r["corpus"], r["align"], r["variant"], r["method"], r["features"],
            f"{r['k']}{' distinct' if r['distinct'] else ''}", str(len(r["seeds"])),
        ]  # fmt: skip
        tried = [preset for preset in Preset if preset.value in tests]
        for preset in Preset:
            if preset not in tried:
                cells += ["", ""]
                continue
            bleu = tests[preset.value]["bleu"]
            cells.append(f"{bleu['mean']:.2f}" + ("" if bleu["std"] is None else f" ± {bleu['std']:.2f}"))
            cells.append(f"{mean(run['ms_per_sentence'][preset.value] for run in runs):.1f}")
        best = tests[tried[-1].value]
        cells += [f"{best['chrf']['mean']:.2f}", f"{best['ter']['mean']:.2f}"]
        cells += [f"{tests['Moses']['bleu']['mean']:.2f}", f"{best['bleu']['p']:.3f}"] if "Moses" in tests else ["", ""]
        cells += [
            f"{mean(run[key] for run in runs):.{n}f}" for key, n in (("dev", 2), ("rounds", 1), ("tune_cpu_s", 0))
        ]
        cells += [f"{train_s:.0f}", f"{peak:.2f}"]
        rows.append(f"| {' | '.join(cells)} |")
    header = [
        "corpus", "alignment", "reordering" if model == "phrase" else "dense",
        "method", "features", "k", "seeds", "BLEU (fast)", "CPU ms",
        "BLEU (default)", "CPU ms", "BLEU (accurate)", "CPU ms", "chrF", "TER",
        "Moses BLEU", "p", "dev BLEU", "rounds", "tuning CPU s",
        "training s", "peak GiB",
    ]  # fmt: skip
    page = PAGES / f"{model}.md"
    text = page.read_text(encoding="utf-8")
    begin, end = text.index("<!-- table -->"), text.index("<!-- end of table -->")
    table = "\n".join(["<!-- table -->", f"| {' | '.join(header)} |", f"|{'---|' * len(header)}", *rows, ""])
    page.write_text(text[:begin] + table + text[end:], encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", choices=CORPORA, action="append")
    parser.add_argument("--align", default="anchors", help="anchors, or a method of dragoman align")
    parser.add_argument("--model", default="phrase", choices=KINDS)
    parser.add_argument("--reordering", default="msd", help="of a phrase-based system")
    parser.add_argument(
        "--dense", type=DenseSet, default=DenseSet.FULL14, choices=list(DenseSet), help="of a hierarchical one"
    )
    parser.add_argument("--tight", action="store_true", help="rules from tight phrases (Chiang 2007)")
    parser.add_argument("--method", default="mert")
    parser.add_argument("--features", default="none", help="sparse features")
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--distinct", action="store_true")
    parser.add_argument(
        "--preset", type=Preset, default=Preset.DEFAULT, choices=list(Preset), help="of search in tuning"
    )
    parser.add_argument(
        "--test-preset", type=Preset, action="append", choices=list(Preset), help="of search in testing"
    )
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--table", action="store_true", help="write the model's page from the figures of all runs")
    args = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    for corpus in args.corpus or []:
        case = Case(
            corpus=corpus,
            model=args.model,
            align=args.align,
            reordering=args.reordering,
            dense=args.dense,
            tight=args.tight,
            method=args.method,
            features=args.features,
            k=args.k,
            distinct=args.distinct,
            preset=args.preset,
            tests=tuple(args.test_preset or PRESETS),
            rounds=args.rounds,
        )
        run_case(case, list(range(1, args.seeds + 1)))
    if args.table:
        write_table(args.model)


if __name__ == "__main__":
    main()
