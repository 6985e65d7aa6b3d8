"""The stages that cells of a recipe of lists share: systems trained for their scores, pools, features of candidates."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.candidates import (
    Objective,
    Pool,
    PoolFilter,
    compacted,
    filter_pool,
    has_scores,
    load_pool,
    oracle,
    read_pool,
    save_pool,
    unite_pools,
)
from dragoman.candidates.features import add_candidate_features, feature_makers, needs_scale, with_learned_scales
from dragoman.errors import InputError, naming
from dragoman.experiments.corpora import PartFiles
from dragoman.experiments.list_form import (
    DEV,
    Choosing,
    ListFiles,
    ListRecipe,
    MethodPlan,
    TrainedPlan,
    dropped,
    trained_names,
)
from dragoman.experiments.stages import SYSTEM, SharedStages, of_stage
from dragoman.files.store import digest
from dragoman.metric import METRICS
from dragoman.register import code_of
from dragoman.run import CellKey
from dragoman.settings import plain
from dragoman.system import Monitor, System
from dragoman.system.manifest import MANIFEST
from dragoman.text import open_output, read_lines
from dragoman.tuning import TUNE_RECORD, tune_system
from dragoman.work.store import Made, Step, Store

__all__ = ["ListStages"]

_TUNED, _SEED = "tuned", 1
Pools = Mapping[str, Pool]
"""By part: the development set and the test sets."""


class ListStages:
    """The stages of one corpus, and its pools; the pools that were asked for last are kept."""

    def __init__(
        self, store: Store, recipe: ListRecipe, corpus: str, files: ListFiles, *, n_threads: int, monitor: Monitor
    ) -> None:
        self._store = store
        self._recipe = recipe
        self._corpus = recipe.corpora[corpus]
        self._files = files
        self._n_threads = n_threads
        self._monitor = monitor
        self._plans: dict[tuple[str, str], list[Step]] = {}
        self._identity: dict[str, Any] | None = None
        self._systems: dict[str, SharedStages] = {}
        self._measured: tuple[object, Pools] | None = None
        self._oracles: dict[object, dict[str, float]] = {}

    def plan(self, key: CellKey) -> list[Step]:
        """All stages that a cell needs, in order; the last has its pools."""
        place = (key.system, key.features)
        if place not in self._plans:
            self._plans[place] = self._all_stages(key)
        return self._plans[place]

    def _all_stages(self, key: CellKey) -> list[Step]:
        needed = self._recipe.trained_of(key)
        stages = [stage for name in sorted(needed) for stage in self._shared(name).plan()]
        tuned = {name for name in self._recipe.systems[key.system].lists if name in self._recipe.trained}
        told = [text for group in self._recipe.groups(key.features) for text in self._recipe.features[group].add]
        tuned |= {name for name, is_tuned in trained_names(told) if is_tuned}
        stages += [self._own_lists(name) for name in sorted(tuned)]
        stages.append(self._lists(key.system))
        stages += [stage for group in self._recipe.groups(key.features) if (stage := self._group(key.system, group))]
        return stages

    def make(self, key: CellKey) -> list[Made]:
        return [self._store.make(stage) for stage in self.plan(key)]

    def pools(self, made: Made, method: MethodPlan) -> Pools:
        """The pools of the last stage by part, with the statistics of a method's objective.

        Features and minimum Bayes risk count duplicate candidates; other methods see each once.
        """
        wanted = (made.folder, _objective(method))
        if self._measured is None or self._measured[0] != wanted:
            pools = {part: load_pool(made.folder / part).in_memory() for part in self._files.parts}
            if method.choosing is not Choosing.MBR:
                pools = {part: pool.distinct(n_threads=self._n_threads) for part, pool in pools.items()}
            self._measured = (wanted, {part: self._with_objective(pool, part, method) for part, pool in pools.items()})
        return self._measured[1]

    def oracle(self, key: CellKey, pools: Pools, method: MethodPlan) -> dict[str, float]:
        """The best score that a choice from the lists can have, approximately, by part; features do not matter."""
        place = (key.system, _objective(method))
        if place not in self._oracles:
            self._oracles[place] = {part: oracle(pool).score() for part, pool in pools.items()}
        return self._oracles[place]

    def identity(self) -> dict[str, Any]:
        """The text that the cells' figures depend on."""
        if self._identity is None:
            self._identity = {
                part: {"limit": files.limit, "files": [digest(path) for path in (files.source, *files.others)]}
                for part, files in self._files.parts.items()
            }
        return self._identity

    def sources(self, part: str) -> list[str]:
        return _lines(self._files.parts[part].source, self._files.parts[part])

    def references(self, part: str) -> list[list[str]]:
        """The lines of each reference."""
        return [_lines(path, self._files.parts[part]) for path in self._files.parts[part].others]

    def _with_objective(self, pool: Pool, part: str, method: MethodPlan) -> Pool:
        by_sentence = list(zip(*self.references(part), strict=True))
        told = method.external
        if told is not None and (part == DEV or has_scores(pool, told, beside=METRICS)):
            objective = method.external_objective(told, pool, by_sentence)
        else:
            objective = method.objective(by_sentence)
        return objective.measure(pool, n_threads=self._n_threads)

    def _shared(self, name: str) -> SharedStages:
        if name not in self._systems:
            self._systems[name] = SharedStages(
                self._store,
                self._corpus.text,
                self._files.training,
                self._recipe.trained[name].system,
                n_threads=self._n_threads,
                monitor=self._monitor,
            )
        return self._systems[name]

    def _own_lists(self, name: str) -> Step:
        """A system tuned on the development set, and its lists of all parts."""
        plan = self._recipe.trained[name]
        assert plan.tuning is not None
        system = self._shared(name).plan()[-1]
        return of_stage(
            f"lists of {name}",
            __name__,
            lambda folder: self._translate(plan, self._store.place(system) / SYSTEM, folder),
            settings={
                "optimiser": plain(plan.tuning.optimiser),
                "config": plain(plan.tuning.config),
                "k": plan.k,
                **code_of(plan.tuning, Objective(plan.tuning.config.metric).metric),
            },
            inputs={"system": system.name, **_flat(self.identity())},
        )

    def _translate(self, plan: TrainedPlan, system: Path, folder: Path) -> None:
        assert plan.tuning is not None
        source, *references = [folder / f"{DEV}.{number}" for number in range(1 + len(self.references(DEV)))]
        for path, lines in zip([source, *references], [self.sources(DEV), *self.references(DEV)], strict=True):
            _write(path, lines)
        preset = plan.system.preset
        with self._monitor.progress("tuning") as progress:
            tuned = tune_system(
                System.load(system),
                source,
                references,
                folder / _TUNED,
                optimiser=plan.tuning.optimiser,
                config=plan.tuning.config,
                seed=_SEED,
                raw=False,
                n_threads=self._n_threads,
                progress=progress,
            )
        view = tuned.view()
        for part in self._files.parts:
            sentences = self.sources(part)
            with self._monitor.progress("making lists", len(sentences)) as progress:
                pool = view.kbest(
                    sentences, plan.k, distinct=True, preset=preset, n_threads=self._n_threads, progress=progress
                )
            save_pool(compacted(pool), folder / part)
        for path in (source, *references):
            path.unlink()
        shutil.rmtree(folder / _TUNED / TUNE_RECORD)

    def _lists(self, name: str) -> Step:
        system = self._recipe.systems[name]
        own = {list_: self._own_lists(list_) for list_ in system.lists if list_ in self._recipe.trained}
        inputs = {list_: stage.name for list_, stage in own.items()}
        for list_ in system.lists:
            for part, paths in self._files.lists.get(list_, {}).items() if list_ not in own else ():
                inputs |= {f"{list_}.{part}.{number}": digest(path) for number, path in enumerate(paths)}
        limits = {part: files.limit for part, files in self._files.parts.items()}
        settings = {"lists": list(system.lists), "limits": limits}

        def work(folder: Path) -> None:
            for part, files in self._files.parts.items():
                pools = {
                    list_: load_pool(self._store.place(own[list_]) / part)
                    if list_ in own
                    else self._read(self._files.lists[list_][part], files)
                    for list_ in system.lists
                }
                save_pool(unite_pools(pools, distinct=False, n_threads=self._n_threads), folder / part)

        return of_stage("lists", __name__, work, settings=settings, inputs=inputs)

    def _read(self, paths: tuple[Path, ...], files: PartFiles) -> Pool:
        pool = read_pool(paths, distinct=False, n_threads=self._n_threads)
        ids = np.concatenate([shard.sentence_ids for shard in pool.shards]).astype(np.int64)
        if files.limit is not None:
            pool, ids = pool.of_sentences(ids[ids < files.n_lines]), ids[ids < files.n_lines]
        if len(ids) == 0 or ids[-1] >= files.n_lines:
            with naming(paths[0]):
                last = ids[-1] if len(ids) else None
                raise InputError(
                    f"the last sentence of the lists is {last} (counted from 0), but {files.source} has "
                    f"{files.n_lines} lines; do they belong together?"
                )
        return pool.in_memory()

    def _group(self, system: str, name: str) -> Step | None:
        """The features of a group on those of the group that it extends; None where it changes nothing."""
        group = self._recipe.features[name]
        if not group.add and not group.drop:
            return None
        before = self._before(system, name)
        told, inputs = [], {"pool": before.name}
        for text in group.add:
            place, named = self._placed(text)
            told.append(place)
            inputs |= named
        if any(map(needs_scale, told)):
            inputs |= _flat({DEV: self.identity()[DEV]})

        def work(folder: Path) -> None:
            own = self._with_scales(told, before)
            for part in self._files.parts:
                pool = load_pool(self._store.place(before) / part).in_memory()
                with self._monitor.progress(f"features of {part}: {', '.join(group.add)}"):
                    pool = add_candidate_features(pool, own, self.sources(part), n_threads=self._n_threads)
                used = pool.index.names(np.unique(np.concatenate([shard.feature_ids for shard in pool.shards])))
                names = {*used, *pool.dense_names()}
                drop = dropped(names, group.drop, f"features.{name}")
                save_pool(compacted(filter_pool(pool, PoolFilter(), drop=drop)), folder / part)

        settings = {"add": list(group.add), "drop": list(group.drop), **code_of(*feature_makers(group.add))}
        return of_stage("features", __name__, work, settings=settings, inputs=inputs)

    def _with_scales(self, told: list[str], before: Step) -> list[str]:
        """The features with scales learned for BLEU on the development set."""
        if not any(map(needs_scale, told)):
            return told
        pool = load_pool(self._store.place(before) / DEV).in_memory()
        references = list(zip(*self.references(DEV), strict=True))
        pool = Objective("bleu", references, allow_missing=True).measure(pool, n_threads=self._n_threads)
        return with_learned_scales(told, pool, n_threads=self._n_threads)[0]

    def _before(self, system: str, name: str) -> Step:
        """The stage whose pools the group begins with."""
        for group in reversed(self._recipe.groups(name)[:-1]):
            if (stage := self._group(system, group)) is not None:
                return stage
        return self._lists(system)

    def added(self, key: CellKey) -> list[str]:
        """The features that a cell's candidates get, with the folders of trained systems in the place of names."""
        groups = self._recipe.groups(key.features)
        return [self._placed(text)[0] for group in groups for text in self._recipe.features[group].add]

    def _placed(self, text: str) -> tuple[str, dict[str, str]]:
        """A feature with files in the place of names, and what these files are."""
        inputs = {}
        for name, tuned in trained_names([text]):
            stage = self._own_lists(name) if tuned else self._shared(name).plan()[-1]
            folder = self._store.place(stage)
            place = folder / (_TUNED if tuned else SYSTEM)
            text = text.replace(f"{{{name}.{_TUNED}}}" if tuned else f"{{{name}}}", str(place))
            inputs[f"{name}.{_TUNED}" if tuned else name] = stage.name
        kind, equals, argument = text.partition("=")
        path = self._recipe.base / argument
        if not inputs and argument and path.exists():
            inputs[argument] = digest(path / MANIFEST if path.is_dir() else path)
            text = f"{kind}{equals}{path}"
        return text, inputs


def _objective(method: MethodPlan) -> object:
    told = method.external, method.lower_is_better, method.fill_missing
    return method.choosing is Choosing.MBR, told, method.objective().identity


def _flat(identity: Mapping[str, Any]) -> dict[str, str]:
    return {
        f"{part}.{number}": found if content["limit"] is None else f"{found} {content['limit']}"
        for part, content in identity.items()
        for number, found in enumerate(content["files"])
    }


def _lines(path: Path, part: PartFiles) -> list[str]:
    return list(islice(read_lines(path), part.skip, part.stop))


def _write(path: Path, lines: list[str]) -> None:
    with open_output(path) as output:
        for line in lines:
            output.write(line)
