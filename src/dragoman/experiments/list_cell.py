"""One cell of a recipe of lists: learn weights, choose from the test sets' lists, score; then write its record."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.analysis.resampling import cross_validate, held_out_tests
from dragoman.candidates import Choice, Pool, mbr, metric_of, rerank
from dragoman.cost import measured
from dragoman.experiments.corpora import TEST
from dragoman.experiments.held_out import metrics_of, score_lines
from dragoman.experiments.list_form import DEV, Choosing, ListRecipe, MethodPlan
from dragoman.experiments.list_stages import ListStages
from dragoman.features import Weights, write_weights
from dragoman.files.store import make_folder
from dragoman.register import code_of
from dragoman.run import (
    CellKey,
    CellResult,
    CellRound,
    RunFolder,
    SetScores,
    TextSize,
    cell_folder,
    corpus_folder,
    save_plan,
    save_sizes,
    sizes_file,
    start_file,
    translations_file,
)
from dragoman.settings import plain
from dragoman.text import replace_bytes, split_tokens
from dragoman.tuning import TuneRecord, tune_pool

__all__ = ["ListCell", "learned_weights", "list_cell_plan"]

_START, _LEARNED = 1, 2
"""Numbers of the rounds: with the weights to start from, and with those that were learned."""


def list_cell_plan(key: CellKey, recipe: ListRecipe, stages: ListStages) -> dict[str, Any]:
    """The settings and inputs that the cell's results depend on."""
    method = recipe.methods[key.optimiser]
    settings = {k: v for k, v in plain(method).items() if k != "optimiser"}
    groups = {name: plain(recipe.features[name]) for name in recipe.groups(key.features)}
    needed = sorted(recipe.trained_of(key))
    last = stages.plan(key)[-1]
    return {
        "text": stages.identity(),
        "system": plain(recipe.systems[key.system]),
        "trained": {name: plain(recipe.trained[name]) for name in needed},
        "lists": {"stage": last.kind, "settings": last.key["settings"]},
        "method": _method_name(method),
        "tuning": {
            "features": groups,
            "optimiser": None if method.optimiser is None else plain(method.optimiser),
            **settings,
        },
        **code_of(method, method.objective()),
        "seed": key.seed,
    }


def _method_name(method: MethodPlan) -> str:
    return method.choosing.value if method.optimiser is None else method.optimiser.name


def learned_weights(run: Path, key: CellKey) -> Path:
    """The file of the weights that a cell learned."""
    return cell_folder(run, key) / "weights" / f"{_LEARNED:04d}.tsv"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCell:
    """The work of one cell."""

    key: CellKey
    recipe: ListRecipe
    stages: ListStages
    run_folder: RunFolder
    n_threads: int

    def run(self) -> CellResult:
        run, key, stages = self.run_folder, self.key, self.stages
        method = self.recipe.methods[key.optimiser]
        save_plan(run.path, key, list_cell_plan(key, self.recipe, stages))
        made = stages.make(key)
        self._keep_test_sets()
        pools = stages.pools(made[-1], method)
        with measured("tuning") as tuning:
            choices, rounds, record = self._choose(method, pools)
        with measured("held-out folds") as validating:
            held_out = self._held_out(method, pools[DEV]) if method.folds else None
        with measured("scoring") as scoring:
            oracle = stages.oracle(key, pools, method)
            scores = {part: self._score(part, choice) for part, choice in choices.items()}
        start = self._start()
        if method.optimiser is not None:
            self._keep_start(pools, start)
        by_name = {test.part: test.name for test in self.recipe.corpora[key.corpus].text.test_parts()}
        costs = [tuning(), *([validating()] if method.folds else []), scoring()]
        result = CellResult(
            key=key,
            method=_method_name(method),
            metric=metric_of(pools[DEV]).name,
            rounds=rounds,
            best_round=rounds[-1].round,
            stopped="fixed lists need one round",
            stages=(*(stage.cost for stage in made), *costs),
            scores={**scores[TEST].scores, "length_ratio": scores[TEST].length_ratio},
            tests={name: scores[part] for part, name in by_name.items()},
            start={name: rerank(pools[part], start).score() for part, name in by_name.items() if _same(pools, part)},
            tune=scores[DEV],
            held_out=held_out,
            oracle={name: oracle[part] for part, name in by_name.items() if _same(pools, part)},
            higher_is_better=metric_of(pools[DEV]).higher_is_better,
            notes=() if record is None else record.notes,
            warnings=() if record is None else record.warnings,
        )
        for cost in costs:
            run.log("stage", cell=key.name, **dataclasses.asdict(cost))
        result.save(run.path)
        return result

    def _start(self) -> Weights:
        return Weights.from_dict(dict(self.recipe.systems[self.key.system].start))

    def _choose(
        self, method: MethodPlan, pools: Mapping[str, Pool]
    ) -> tuple[dict[str, Choice], tuple[CellRound, ...], TuneRecord | None]:
        """What is chosen from the lists of every part, the rounds that led to it, and what learning tells."""
        folder = make_folder(cell_folder(self.run_folder.path, self.key) / "weights")
        if method.optimiser is None:
            weights = Weights.from_dict({})
            choices = {
                part: rerank(pool, weights)
                if method.choosing is Choosing.FIRST
                else mbr(pool, method.objective().metric, n_threads=self.n_threads)
                for part, pool in pools.items()
            }
            return choices, (_round(_START, pools, choices, weights, None),), None
        start = self._start()
        record = tune_pool(pools[DEV], method.optimiser, start, seed=self.key.seed, n_threads=self.n_threads)
        write_weights(start, folder / f"{_START:04d}.tsv")
        write_weights(record.weights, learned_weights(self.run_folder.path, self.key))
        before = {part: rerank(pool, start) for part, pool in pools.items()}
        after = {part: rerank(pool, record.weights) for part, pool in pools.items()}
        rounds = (
            _round(_START, pools, before, start, record),
            _round(_LEARNED, pools, after, record.weights, None),
        )
        return after, rounds, record

    def _held_out(self, method: MethodPlan, dev: Pool) -> float:
        assert method.optimiser is not None
        rows = cross_validate(
            dev,
            {method.optimiser.name: method.optimiser},
            self._start(),
            seed=self.key.seed,
            n_folds=method.folds,
            n_threads=self.n_threads,
        )
        return held_out_tests(dev, rows, n_draws=2, fold_seed=self.key.seed)[-1].score

    def _keep_test_sets(self) -> None:
        """Copy the test sets into the run, of each the source last: its presence marks completeness."""
        run, corpus = self.run_folder.path, self.recipe.corpora[self.key.corpus].text
        sizes = {DEV: _size(self.stages, DEV)}
        for test in corpus.test_parts():
            folder = make_folder(corpus_folder(run, corpus.name, test.other))
            texts = [*self.stages.references(test.part), self.stages.sources(test.part)]
            names = [*(f"reference.{number}.txt" for number in range(len(texts) - 1)), "source.txt"]
            for lines, name in zip(texts, names, strict=True):
                _keep(folder / name, lines)
            sizes[f"test/{test.name}"] = _size(self.stages, test.part)
        if not sizes_file(run, corpus.name).exists():
            save_sizes(run, corpus.name, sizes)

    def _keep_start(self, pools: Mapping[str, Pool], start: Weights) -> None:
        """What the initial weights choose from the lists of the test sets."""
        for test in self.recipe.corpora[self.key.corpus].text.test_parts():
            path = start_file(cell_folder(self.run_folder.path, self.key), test.other)
            make_folder(path.parent)
            _keep(path, self._lines(test.part, rerank(pools[test.part], start)))

    def _lines(self, part: str, choice: Choice) -> list[str]:
        lines = [""] * len(self.stages.sources(part))
        for id_, text in choice.texts():
            lines[id_] = text
        return lines

    def _score(self, part: str, choice: Choice) -> SetScores:
        """Scores of what was chosen, which the cell keeps if it is of a test set."""
        run, corpus = self.run_folder.path, self.recipe.corpora[self.key.corpus].text
        lines = self._lines(part, choice)
        others = {test.part: test.other for test in corpus.test_parts()}
        folder = cell_folder(run, self.key)
        path = folder / f"{DEV}.txt" if part == DEV else translations_file(folder, others[part])
        make_folder(path.parent)
        _keep(path, lines)
        metrics = metrics_of(self.recipe.report.metrics)
        return score_lines(lines, self.stages.references(part), metrics, self.n_threads)


def _same(pools: Mapping[str, Pool], part: str) -> bool:
    """Whether a test set is measured as the development set is: its lists may lack an external score."""
    return metric_of(pools[part]) == metric_of(pools[DEV])


def _round(
    number: int,
    pools: Mapping[str, Pool],
    choices: Mapping[str, Choice],
    weights: Weights,
    learned: TuneRecord | None,
) -> CellRound:
    cost = None if learned is None else learned.rounds[0].learned
    return CellRound(
        round=number,
        dev=choices[DEV].score(),
        test=choices[TEST].score() if _same(pools, TEST) else None,
        n_candidates=pools[DEV].n_candidates,
        n_features=pools[DEV].n_features,
        n_active=len(weights.ids()),
        decode_wall_s=0.0,
        decode_cpu_s=0.0,
        learn_wall_s=0.0 if cost is None else cost.wall_s,
        learn_cpu_s=0.0 if cost is None else cost.cpu_s,
    )


def _size(stages: ListStages, part: str) -> TextSize:
    source, target = stages.sources(part), stages.references(part)[0]
    tokens = [sum(len(split_tokens(line)) for line in lines) for lines in (source, target)]
    return TextSize(lines=len(source), source_tokens=tokens[0], target_tokens=tokens[1])


def _keep(path: Path, lines: list[str]) -> None:
    content = "".join(f"{line}\n" for line in lines).encode("utf-8")
    if not path.exists() or path.read_bytes() != content:
        replace_bytes(path, content)
