"""One cell of a grid: tune, translate the test set, score, explain; then write its record."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from dragoman.cost import StageCost, measured, peak_memory
from dragoman.evaluate import SystemOutput, compare_systems
from dragoman.features import find_weights, read_weights
from dragoman.metric import by_name, score_text
from dragoman.recipe.cache import Cache, Made, program_name
from dragoman.recipe.grid import GridRecipe
from dragoman.recipe.optimisers import TuningPlan
from dragoman.recipe.stages import SharedStages, decode_test, decoding_key, read_held_out, system_folder
from dragoman.run import CellKey, CellResult, CellRound, RunFolder, cell_folder, save_plan
from dragoman.settings import plain
from dragoman.store import make_folder
from dragoman.system import Monitor, System
from dragoman.system.manifest import MANIFEST, read_manifest
from dragoman.text import read_lines, replace_bytes, split_tokens
from dragoman.tune import RoundRecord, Step, tune_system

__all__ = ["CellWork", "Watch", "cell_plan"]

TUNED = "tuned"
PROGRAMS = "programs.txt"
_METRICS = ("bleu", "chrf", "ter")
_SAMPLE_TOKENS = range(5, 31)
"""Preferred lengths of sample sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Progress callbacks of a cell."""

    monitor: Monitor
    on_step: Callable[[CellKey, int, str], None]
    on_round: Callable[[CellKey, RoundRecord], None]


def cell_plan(key: CellKey, recipe: GridRecipe, shared: SharedStages) -> dict[str, Any]:
    """The settings and inputs that the cell's results depend on."""
    tuning = _tuning(key, recipe)
    return {
        "text": shared.identity(),
        "system": plain(recipe.systems[key.system]),
        "method": tuning.optimiser.name,
        "tuning": {"optimiser": plain(tuning.optimiser), **plain(tuning.config)},
        "seed": key.seed,
        "samples": recipe.report.samples,
        "rounds_on_test": recipe.report.follows(key),
    }


def _tuning(key: CellKey, recipe: GridRecipe) -> TuningPlan:
    plan = recipe.optimisers[key.optimiser]
    preset = recipe.systems[key.system].preset
    return replace(plan, config=replace(plan.config, features=recipe.features[key.features], preset=preset))


class CellWork:
    """The work of one cell."""

    def __init__(
        self,
        key: CellKey,
        recipe: GridRecipe,
        shared: SharedStages,
        cache: Cache,
        run: RunFolder,
        *,
        n_threads: int,
        watch: Watch,
    ) -> None:
        self.key = key
        self.folder = cell_folder(run.path, key)
        self._recipe = recipe
        self._shared = shared
        self._cache = cache
        self._run = run
        self._n_threads = n_threads
        self._watch = watch
        self._preset = recipe.systems[key.system].preset
        self._templates = recipe.features[key.features]
        self._tuning = _tuning(key, recipe)

    def run(self) -> CellResult:
        save_plan(self._run.path, self.key, cell_plan(self.key, self._recipe, self._shared))
        programs = self._sign()
        made = self._shared.make()
        for stage in made:
            self._log(stage.cost)
        self._keep_test_set(made[0])
        tuning, tuned_cost = self._tune(made[0], made[-1])
        outputs, decoded_cost = self._decode(made[0], made[-1], tuning)
        with measured("scoring") as scoring:
            scores, tests = self._score(made[0], outputs, tuning)
        with measured("derivations") as explaining:
            self._explain(made[0], made[-1], tuning["best_round"])
        costs = (tuned_cost, decoded_cost, scoring(), explaining())
        for cost in costs:
            self._log(cost)
        result = CellResult(
            key=self.key,
            method=self._tuning.optimiser.name,
            metric=by_name(self._tuning.config.metric).name,
            rounds=tuple(self._rounds(tuning["rounds"], tests)),
            best_round=tuning["best_round"],
            stopped=tuning["stopped"],
            stages=(*(stage.cost for stage in made), *costs),
            scores=scores,
            notes=tuple(tuning["notes"]),
            programs=programs,
        )
        result.save(self._run.path)
        return result

    def _sign(self) -> tuple[str, ...]:
        """Record this program version; return all that worked on the cell."""
        path = self.folder / PROGRAMS
        programs = [*read_lines(path)] if path.exists() else []
        if programs[-1:] != [program_name()]:
            programs.append(program_name())
            replace_bytes(path, "".join(f"{name}\n" for name in programs).encode("utf-8"))
        return tuple(programs)

    def _keep_test_set(self, text: Made) -> None:
        """Copy the test set into the run, the source last: its presence marks completeness."""
        folder = self._run.path / "corpora" / self.key.corpus
        make_folder(folder)
        source, references = read_held_out(text.folder, "test")
        goals = [*(f"reference.{number}.txt" for number in range(len(references))), "source.txt"]
        for path, goal in zip([*references, source], goals, strict=True):
            content = path.read_bytes()
            if not (folder / goal).exists() or (folder / goal).read_bytes() != content:
                replace_bytes(folder / goal, content)

    def _tune(self, text: Made, system: Made) -> tuple[dict[str, Any], StageCost]:
        out = self.folder / TUNED
        source, references = read_held_out(text.folder, "dev")
        if not (out / MANIFEST).exists():
            logged = {entry["round"] for entry in self._logged_rounds()}
            with peak_memory() as peak:

                def on_round(record: RoundRecord) -> None:
                    if record.round not in logged:  # a resumed tuning also reports earlier rounds
                        self._log_round(record, peak())
                    self._watch.on_round(self.key, record)

                def on_step(number: int, step: Step) -> None:
                    self._watch.on_step(self.key, number, "decoding" if step is Step.DECODE else "learning")

                with self._watch.monitor.progress("decoding") as progress:
                    tune_system(
                        system_folder(system),
                        source,
                        references,
                        out,
                        optimiser=self._tuning.optimiser,
                        config=self._tuning.config,
                        seed=self.key.seed,
                        resume=True,
                        n_threads=self._n_threads,
                        progress=progress,
                        on_step=on_step,
                        on_round=on_round,
                    )
        tuning: dict[str, Any] = read_manifest(out).about["tuning"]
        weights = make_folder(self.folder / "weights")
        for entry in tuning["rounds"]:
            name = f"{entry['round']:04d}"
            stored = find_weights(out / "tune" / "rounds" / name, "weights")
            replace_bytes(weights / f"{name}{stored.suffix}", stored.read_bytes())
        for candidates in out.glob("tune/rounds/*/candidates"):  # a kill came before tuning dropped them
            shutil.rmtree(candidates)
        spent = [*tuning["rounds"], *(entry["learned"] for entry in tuning["rounds"] if entry["learned"])]
        cost = StageCost(
            name="tuning",
            wall_s=round(sum(entry["wall_s"] for entry in spent), 3),
            cpu_s=round(sum(entry["cpu_s"] for entry in spent), 3),
            peak_bytes=max((entry["peak_bytes"] for entry in self._logged_rounds()), default=0),
        )
        return tuning, cost

    def _decode(self, text: Made, system: Made, tuning: Mapping[str, Any]) -> tuple[dict[int, list[str]], StageCost]:
        """Translations of the test set with the weights of rounds; those of the best round go to `test.txt`.

        The first round has the initial weights, whose translations are shared between cells.
        """
        best = tuning["best_round"]
        rounds = [entry["round"] for entry in tuning["rounds"]]
        if not self._recipe.report.follows(self.key):
            rounds = sorted({rounds[0], best})
        outputs, costs = {}, []
        view = _Lazy(partial(self._load, system))
        for number in rounds:
            self._watch.on_step(self.key, number, "on the test set")
            weights = self._weights(number)
            key = decoding_key(system.hash, text.hash, self._templates, self._preset, weights)

            def work(folder: Path, weights: Path = weights) -> None:
                decode_test(
                    view.system,
                    text.folder / "test.source",
                    read_weights(weights),
                    self._preset,
                    self._n_threads,
                    self._watch.monitor,
                    folder,
                )

            made = self._cache.make(key, work)
            costs.append(made.cost)
            content = (made.folder / "test.txt").read_bytes()
            outputs[number] = list(read_lines(made.folder / "test.txt"))
            if number == best:
                replace_bytes(self.folder / "test.txt", content)
        # Cached results cost nothing here, unless all are cached.
        own = [cost for cost in costs if not cost.cached] or costs
        return outputs, StageCost(
            name="test decoding",
            wall_s=round(sum(cost.wall_s for cost in own), 3),
            cpu_s=round(sum(cost.cpu_s for cost in own), 3),
            peak_bytes=max(cost.peak_bytes for cost in own),
            cached=own[0].cached,
        )

    def _score(
        self, text: Made, outputs: Mapping[int, list[str]], tuning: Mapping[str, Any]
    ) -> tuple[dict[str, float], dict[int, float]]:
        references = [list(read_lines(path)) for path in read_held_out(text.folder, "test")[1]]
        metrics = [by_name(name) for name in dict.fromkeys((*_METRICS, *self._recipe.report.metrics))]
        best = SystemOutput(name="best", runs=(outputs[tuning["best_round"]],))
        (score,) = compare_systems([best], references, metrics, n_bootstrap=0, n_trials=0, n_threads=self._n_threads)
        scores = {item.metric: item.score for item in score.scores} | {"length_ratio": score.length_ratio}
        config = self._tuning.config
        metric = by_name(config.metric, tokenizer=config.tokenizer, lowercase=config.lowercase)
        tests = {
            number: score_text(metric, lines, references, n_threads=self._n_threads).score
            for number, lines in outputs.items()
        }
        return scores, tests

    def _explain(self, text: Made, system: Made, best: int) -> None:
        sentences = list(read_lines(text.folder / "test.source"))
        chosen = choose_samples(sentences, self._recipe.report.samples)
        lines = []
        if chosen:
            view = self._load(system)
            weights = read_weights(self._weights(best)).on(view.index)
            for sentence in chosen:
                found = view.explain(sentences[sentence], weights=weights, preset=self._preset)
                if found is not None:
                    record = {"sentence": sentence, "explanation": found.to_json()}
                    lines.append(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
        replace_bytes(self.folder / "derivations.jsonl", "".join(lines).encode("utf-8"))

    def _weights(self, number: int) -> Path:
        return find_weights(self.folder / "weights", f"{number:04d}")

    def _load(self, system: Made) -> System:
        return System.load(system_folder(system)).with_templates(self._templates)

    def _rounds(self, entries: Sequence[Mapping[str, Any]], tests: Mapping[int, float]) -> Iterator[CellRound]:
        seen = 0
        for entry in entries:
            # A method that decodes while it learns says from how many; its last round is only measured.
            seen = (entry["learned"] or {}).get("n_candidates") or seen
            found = self._round(entry, tests.get(entry["round"]))
            yield replace(found, n_candidates=seen) if seen else found

    def _round(self, entry: Mapping[str, Any], test: float | None) -> CellRound:
        weights = read_weights(self._weights(entry["round"]))
        learned = entry["learned"] or dict.fromkeys(("wall_s", "cpu_s", "decode_cpu_s", "statistics_cpu_s"), 0.0)
        inside = learned["decode_cpu_s"] + learned["statistics_cpu_s"]  # of a method that decodes while it learns
        return CellRound(
            round=entry["round"],
            dev=entry["score"],
            test=test,
            n_candidates=entry["n_candidates"],
            n_features=entry["n_features"],
            n_active=len(weights.ids()),
            decode_wall_s=entry["wall_s"],
            decode_cpu_s=entry["cpu_s"] - entry["statistics_cpu_s"] + learned["decode_cpu_s"],
            learn_wall_s=learned["wall_s"],
            learn_cpu_s=learned["cpu_s"] - inside,
            statistics_cpu_s=entry["statistics_cpu_s"] + learned["statistics_cpu_s"],
        )

    def _logged_rounds(self) -> list[dict[str, Any]]:
        rounds = [e for e in self._run.trace() if e["event"] == "round" and e.get("cell") == self.key.name]
        return [e for e in rounds if isinstance(e.get("round"), int) and isinstance(e.get("peak_bytes"), int)]

    def _log(self, cost: StageCost) -> None:
        self._run.log("stage", cell=self.key.name, **dataclasses.asdict(cost))

    def _log_round(self, record: RoundRecord, peak_bytes: int) -> None:
        learned = record.learned
        self._run.log(
            "round",
            cell=self.key.name,
            round=record.round,
            score=record.score,
            n_candidates=record.n_candidates,
            n_features=record.n_features,
            decode_s=record.wall_s,
            learn_s=None if learned is None else learned.wall_s,
            peak_bytes=peak_bytes,
        )


class _Lazy:
    """A lazily loaded system."""

    def __init__(self, load: Callable[[], System]) -> None:
        self._load = load

    @cached_property
    def system(self) -> System:
        return self._load()


def choose_samples(sentences: Sequence[str], n: int) -> list[int]:
    """Sentences spread over the test set, preferably of moderate length."""
    nice = [i for i, sentence in enumerate(sentences) if len(split_tokens(sentence)) in _SAMPLE_TOKENS]
    pool = nice if len(nice) >= n else [i for i, sentence in enumerate(sentences) if split_tokens(sentence)]
    n = min(n, len(pool))
    return [pool[i * len(pool) // n] for i in range(n)]
