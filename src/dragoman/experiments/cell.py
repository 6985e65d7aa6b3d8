"""One cell of a grid: tune, translate the test set, score, explain; then write its record."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dragoman.candidates import Objective
from dragoman.cost import StageCost, measured, peak_memory
from dragoman.errors import InputError
from dragoman.experiments.corpora import TEST
from dragoman.experiments.grid import GridRecipe
from dragoman.experiments.held_out import Translating, metrics_of, score_set
from dragoman.experiments.optimisers import TuningPlan
from dragoman.experiments.rounds import cell_rounds, constants, earlier_steps
from dragoman.experiments.sizes import text_sizes
from dragoman.experiments.stages import SharedStages, read_held_out, system_folder
from dragoman.experiments.starts import CellStart
from dragoman.features import Weights, find_weights, read_weights
from dragoman.files.store import from_plain, make_folder, read_json, unseal
from dragoman.metric import Smoothing
from dragoman.optim import Optimiser
from dragoman.register import code_of
from dragoman.run import (
    CellKey,
    CellResult,
    HeldOutLines,
    RunFolder,
    SetScores,
    Update,
    cell_folder,
    corpus_folder,
    load_cell,
    save_plan,
    save_sizes,
    sizes_file,
    start_file,
    translations_file,
)
from dragoman.settings import plain
from dragoman.system import Monitor, System
from dragoman.system.manifest import MANIFEST
from dragoman.text import read_lines, replace_bytes, split_tokens
from dragoman.tuning import LearnFrom, Phase, RoundRecord, StepRecord, TuneConfig, tune_system
from dragoman.work.code import program_name
from dragoman.work.store import Made, Store

__all__ = ["CellWork", "Watch", "cell_plan"]

TUNED = "tuned"
PROGRAMS = "programs.txt"
_DEV, _WEIGHTS = "dev", "weights"
_TESTING, _MEASURING = "test decoding", "dev decoding"
"""Stages: translating the test sets, and the development set with the weights that were kept."""
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
    tests = [test.name for test in recipe.corpora[key.corpus].test_parts()]
    return {
        "text": shared.identity(),
        "system": plain(recipe.systems[key.system]),
        "method": tuning.optimiser.name,
        "tuning": {
            "optimiser": plain(tuning.optimiser),
            **_plain_config(tuning.optimiser, tuning.config),
            **({} if tuning.start is None else {"start": plain(tuning.start)}),
        },
        **code_of(tuning, Objective(tuning.config.metric).metric),
        "seed": key.seed,
        "samples": recipe.report.samples,
        "rounds_on_test": recipe.report.follows(key),
        **({} if tests == [TEST] else {"tests": tests}),
        **({} if (start := recipe.start(key)) is None else {"start_cell": cell_plan(start, recipe, shared)}),
    }


def _plain_config(optimiser: Optimiser, config: TuneConfig) -> dict[str, Any]:
    """Settings of tuning; those of learning from the training text only where it does."""
    record: dict[str, Any] = plain(config)
    if config.learn_from is not LearnFrom.LISTS:
        del record["phi"]
    if config.loop.patience is None:
        del record["loop"]["patience"]  # as before there was any
    if config.learn_from is not LearnFrom.LISTS and optimiser.text_plan() is None:
        del record["judge_lines"]
    return record


def _tuning(key: CellKey, recipe: GridRecipe) -> TuningPlan:
    plan = recipe.optimisers[key.optimiser]
    preset = recipe.systems[key.system].preset
    return replace(plan, config=replace(plan.config, features=recipe.templates(key), preset=preset))


class CellWork:
    """The work of one cell."""

    def __init__(
        self,
        key: CellKey,
        recipe: GridRecipe,
        shared: SharedStages,
        store: Store,
        run: RunFolder,
        *,
        n_threads: int,
        watch: Watch,
    ) -> None:
        self.key = key
        self.folder = cell_folder(run.path, key)
        self._recipe = recipe
        self._shared = shared
        self._store = store
        self._run = run
        self._n_threads = n_threads
        self._watch = watch
        self._preset = recipe.systems[key.system].preset
        self._templates = recipe.templates(key)
        self._tuning = _tuning(key, recipe)
        self._tests = recipe.corpora[key.corpus].test_parts()

    def run(self) -> CellResult:
        save_plan(self._run.path, self.key, cell_plan(self.key, self._recipe, self._shared))
        programs = self._sign()
        made = self._shared.make()
        for stage in made:
            self._log(stage.cost)
        text = made[0].folder
        self._keep_test_sets(text)
        if not sizes_file(self._run.path, self.key.corpus).exists():
            save_sizes(self._run.path, self.key.corpus, text_sizes(text, self._tests))
        tuning, tuned_cost = self._tune(text, made[-1])
        translating = Translating(
            self._store,
            made[-1],
            self._templates,
            self._preset,
            self._tuning.config.fold,
            self._n_threads,
            self._watch.monitor,
        )
        by_round, by_part, by_start = self._translate(text, tuning, translating)
        with measured("scoring") as scoring:
            scores = {part: self._score(text, lines, part) for part, lines in by_part.items()}
            tests = {number: self._objective(text, lines, TEST) for number, lines in by_round.items()}
            start = {part: self._objective(text, lines, part) for part, lines in by_start.items()}
        with measured("derivations") as explaining:
            self._explain(text, translating, tuning["best_round"])
        decoding = (translating.cost(_TESTING), translating.cost(_MEASURING))
        costs = (tuned_cost, *decoding, scoring(), explaining())
        for cost in costs:
            self._log(cost)
        objective, lines = self._tuning.config.objective(), tuning.get("held_out_lines")
        result = CellResult(
            key=self.key,
            method=self._tuning.optimiser.name,
            metric=objective.name,
            higher_is_better=objective.higher_is_better,
            rounds=tuple(cell_rounds(tuning["rounds"], self._weights, tests)),
            best_round=tuning["best_round"],
            stopped=tuning["stopped"],
            stages=(*(stage.cost for stage in made), *costs),
            scores={**scores[TEST].scores, "length_ratio": scores[TEST].length_ratio},
            tests={test.name: scores[test.part] for test in self._tests},
            start={test.name: start[test.part] for test in self._tests},
            tune=scores[_DEV],
            units=constants(tuning["rounds"]),
            updates=tuple(from_plain(Update, update) for update in tuning.get("updates", ())),
            steps=tuple(earlier_steps(tuning.get("steps", ()))),
            notes=tuple(tuning["notes"]),
            warnings=tuple(tuning.get("warnings", ())),
            held_out_lines=None if lines is None else from_plain(HeldOutLines, lines),
            programs=programs,
        )
        result.save(self._run.path)
        return result

    def _sign(self) -> tuple[str, ...]:
        """Record this program version; return all that worked on the cell."""
        path = self.folder / PROGRAMS
        programs = [*read_lines(path)] if path.exists() else []
        if programs[-1:] != [own := program_name(__name__)]:
            programs.append(own)
            replace_bytes(path, "".join(f"{name}\n" for name in programs).encode("utf-8"))
        return tuple(programs)

    def _keep_test_sets(self, text: Path) -> None:
        """Copy the test sets into the run, of each the source last: its presence marks completeness.

        One that each seed draws anew goes into the cell.
        """
        for test in self._tests:
            is_own = self._recipe.corpora[self.key.corpus].is_drawn(test)
            shared = corpus_folder(self._run.path, self.key.corpus, test.other)
            folder = make_folder(self.folder / "tests" / test.name if is_own else shared)
            source, references = read_held_out(text, test.part)
            goals = [*(f"reference.{number}.txt" for number in range(len(references))), "source.txt"]
            for path, goal in zip([*references, source], goals, strict=True):
                content = path.read_bytes()
                if not (folder / goal).exists() or (folder / goal).read_bytes() != content:
                    replace_bytes(folder / goal, content)

    def _tune(self, text: Path, system: Made) -> tuple[dict[str, Any], StageCost]:
        out, method = self.folder / TUNED, self._tuning.optimiser
        source, references = read_held_out(text, _DEV)
        if not (out / MANIFEST).exists():
            logged = {entry["round"] for entry in self._logged_rounds()}
            with peak_memory() as peak:

                def on_round(record: RoundRecord) -> None:
                    if record.round not in logged:  # a resumed tuning also reports earlier rounds
                        self._log_round(record, peak())
                    self._watch.on_round(self.key, record)

                def on_step(number: int, step: Phase) -> None:
                    self._watch.on_step(self.key, number, "decoding" if step is Phase.DECODE else "learning")

                def on_stage(name: str, n_lines: int, record: StepRecord | None) -> None:
                    if record is None:
                        self._watch.on_step(self.key, 0, f"{name}, {n_lines:,} lines")
                    else:
                        how = "found" if record.found else f"{record.wall_s:.0f} s"
                        self._watch.monitor.say(f"{self.key.name}: {name}, {n_lines:,} lines: {how}")

                parent = System.load(system_folder(system))
                with self._watch.monitor.progress("decoding") as progress:
                    tune_system(
                        parent,
                        source,
                        references,
                        out,
                        optimiser=method,
                        config=self._tuning.config,
                        weights=self._start(parent.translator.dense()),
                        seed=self.key.seed,
                        resume=True,
                        shared=self._store.folder,
                        raw=False,
                        n_threads=self._n_threads,
                        progress=progress,
                        say=self._watch.monitor.say,
                        on_stage=on_stage,
                        on_step=on_step,
                        on_round=on_round,
                    )
        tuning = unseal(read_json(out / "tune" / "result.json", "run"), "run")
        weights = make_folder(self.folder / _WEIGHTS)
        for entry in tuning["rounds"]:
            name = f"{entry['round']:04d}"
            stored = find_weights(out / "tune" / "rounds" / name, "weights")
            replace_bytes(weights / f"{name}{stored.suffix}", stored.read_bytes())
        for candidates in out.glob("tune/rounds/*/candidates"):  # a kill came before tuning dropped them
            shutil.rmtree(candidates)
        spent = [*tuning["rounds"], *(entry["learned"] for entry in tuning["rounds"] if entry["learned"])]
        made = [step for step in earlier_steps(tuning.get("steps", ())) if not step.cached]
        cost = StageCost(
            name="tuning",
            wall_s=round(sum(entry["wall_s"] for entry in spent) + sum(step.wall_s for step in made), 3),
            cpu_s=round(sum(entry["cpu_s"] for entry in spent) + sum(step.cpu_s for step in made), 3),
            peak_bytes=max((entry["peak_bytes"] for entry in self._logged_rounds()), default=0),
        )
        return tuning, cost

    def _start(self, dense: Sequence[str]) -> Weights | None:
        """Initial weights; None: the system's. Raises InputError if the cell that has them failed."""
        start, before = self._tuning.start, self._recipe.start(self.key)
        if start is None:
            return None
        if isinstance(start, CellStart):
            assert before is not None
            result = load_cell(self._run.path, before)
            if result is None or result.error is not None:
                why = "is not finished" if result is None else "failed"
                raise InputError(f"the cell {before.name}, whose weights are the start, {why}")
            folder = cell_folder(self._run.path, before) / _WEIGHTS
            return start.take(read_weights(find_weights(folder, f"{result.best_round:04d}")), dense)
        # Of a method with a seed of its own for all but the last step: of that one, so that cells share what comes
        # before.
        seed = self._tuning.training_seed
        return start.draw(dense, self.key.seed if seed is None else seed)

    def _translate(
        self, text: Path, tuning: Mapping[str, Any], translating: Translating
    ) -> tuple[dict[int, Path], dict[str, Path], dict[str, Path]]:
        """Translations of the main test set by round, of every part by the best, and of every test set by the first.

        The cell keeps those of test sets by the best round, and by the first, which has the initial weights, and whose
        translations are shared between cells.
        """
        best = tuning["best_round"]
        rounds = [entry["round"] for entry in tuning["rounds"]]
        first = rounds[0]
        if not self._recipe.report.follows(self.key):
            rounds = sorted({first, best})

        def translate(stage: str, part: str, number: int) -> Path:
            self._watch.on_step(self.key, number, f"on the {'test' if stage == _TESTING else 'development'} set")
            return translating.translate(stage, text / f"{part}.source", self._weights(number))

        by_round = {number: translate(_TESTING, TEST, number) for number in rounds}
        by_part = {TEST: by_round[best]}
        by_part |= {test.part: translate(_TESTING, test.part, best) for test in self._tests[1:]}
        by_start = {TEST: by_round[first]}
        by_start |= {test.part: translate(_TESTING, test.part, first) for test in self._tests[1:]}
        for test in self._tests:
            for goal, made in (
                (translations_file(self.folder, test.other), by_part[test.part]),
                (start_file(self.folder, test.other), by_start[test.part]),
            ):
                make_folder(goal.parent)
                replace_bytes(goal, made.read_bytes())
        return by_round, by_part | {_DEV: translate(_MEASURING, _DEV, best)}, by_start

    def _score(self, text: Path, lines: Path, part: str) -> SetScores:
        metrics = metrics_of(self._recipe.report.metrics)
        return score_set(lines, read_held_out(text, part)[1], metrics, self._n_threads)

    def _objective(self, text: Path, lines: Path, part: str) -> float:
        """The score by the metric that was tuned for."""
        references = zip(*(read_lines(path) for path in read_held_out(text, part)[1]), strict=True)
        objective = self._tuning.config.objective(list(references), smoothing=Smoothing.EXP)
        return objective.judge(list(read_lines(lines)), n_threads=self._n_threads)

    def _explain(self, text: Path, translating: Translating, best: int) -> None:
        sentences = list(read_lines(text / f"{TEST}.source"))
        chosen = choose_samples(sentences, self._recipe.report.samples)
        lines = []
        if chosen:
            view = translating.view
            weights = read_weights(self._weights(best)).on(view.index)
            for sentence in chosen:
                found = view.explain(sentences[sentence], weights=weights, preset=self._preset)
                if found is not None:
                    record = {"sentence": sentence, "explanation": found.to_json()}
                    lines.append(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
        replace_bytes(self.folder / "derivations.jsonl", "".join(lines).encode("utf-8"))

    def _weights(self, number: int) -> Path:
        return find_weights(self.folder / _WEIGHTS, f"{number:04d}")

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


def choose_samples(sentences: Sequence[str], n: int) -> list[int]:
    """Sentences spread over the test set, preferably of moderate length."""
    nice = [i for i, sentence in enumerate(sentences) if len(split_tokens(sentence)) in _SAMPLE_TOKENS]
    pool = nice if len(nice) >= n else [i for i, sentence in enumerate(sentences) if split_tokens(sentence)]
    n = min(n, len(pool))
    return [pool[i * len(pool) // n] for i in range(n)]
