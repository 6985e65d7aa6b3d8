"""From parallel text to a system folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.align import AlignConfig, AlignStep, Direction, align, read_pharaoh, write_pharaoh
from dragoman.corpus import Bitext, Side, check_class_sizes, clustering_work, learn_classes
from dragoman.corpus.tokens import (
    RawLines,
    TextSettings,
    TextSide,
    decide_raw,
    guess_language,
    learn_side,
    look_at,
    read_text_models,
    sample_file,
    write_text_models,
)
from dragoman.cost import allocated_bytes, free_unused
from dragoman.errors import InputError, MismatchError, naming
from dragoman.features import parse_templates
from dragoman.lm import EstimateConfig, TrainingText, estimate, estimate_work
from dragoman.settings import Record
from dragoman.system.folder import (
    CLASSES,
    COUNTS,
    GRAMMAR,
    LM,
    TEXT,
    WORK,
    close_system,
    fold_lm,
    identity,
    making,
    store_lm,
)
from dragoman.system.kinds import kind_named
from dragoman.system.manifest import MANIFEST
from dragoman.system.needs import Plan, TextSize, plan_training
from dragoman.system.settings import SystemSettings
from dragoman.system.stages import Monitor, Silent, Stages
from dragoman.system.system import System
from dragoman.system.training import DOMAINS, LINKS, TRAINING, store_domains
from dragoman.text import count_lines, count_words, open_output, read_lines, replace_bytes
from dragoman.types import PathLike, Paths, one_or_many

__all__ = ["TrainConfig", "train"]

_Texts = tuple[tuple[PathLike, ...], tuple[PathLike, ...]]
"""Files of source and target, aligned with each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainConfig(Record):
    """Settings of training."""

    settings: SystemSettings = field(default_factory=SystemSettings)
    alignment: AlignConfig = field(default_factory=AlignConfig)
    """Used if no alignment is given."""
    lm: EstimateConfig = field(default_factory=EstimateConfig)
    """Used if no language model is given."""
    raw: bool | None = None
    """Whether the text is raw: its pipeline is learned, and it is tokenised. None: found out from the text."""


def train(
    source: Paths,
    target: Paths,
    out: PathLike,
    *,
    alignment: PathLike | None = None,
    lm: PathLike | None = None,
    lm_text: Paths = (),
    domains: PathLike | None = None,
    text_models: PathLike | None = None,
    config: TrainConfig | None = None,
    resume: bool = False,
    memory: int | None = None,
    n_threads: int = 1,
    monitor: Monitor | None = None,
) -> System:
    """Train a system on line-aligned text into the folder `out`: corpus, word classes, alignment, grammar, language
    models.

    Several files of a side are one text, in their order, each aligned with the file at its place on the other side; a
    file that is named twice counts twice. `alignment` is a Pharaoh file, `lm` a model, `lm_text` text for one; what is
    not given is made from the pairs. With folds, `lm_text` joins the target side instead of replacing it, in the model
    of all data and in that of every fold; the system keeps the pairs, their alignment and `domains`, a file with the
    label of each (`System.training`). A stopped training goes on with `resume` after its last whole stage.
    `text_models` is the pipeline by which the text was tokenised, for a system of raw text whose training text is
    tokens already. `memory` bounds what is allocated, in bytes: where it is too little, extraction uses scratch files
    and fewer threads, and InputError is raised before anything takes long if that does not suffice.
    """
    lm_text = one_or_many(lm_text)
    config, monitor = config or TrainConfig(), monitor or Silent()
    texts = one_or_many(source), one_or_many(target)
    if len(texts[0]) != len(texts[1]):
        raise InputError(f"{len(texts[0])} source files but {len(texts[1])} target files; each has its other side")
    config = _with_text(config, texts, given=alignment is not None or text_models is not None, monitor=monitor)
    if config.raw and alignment is not None:
        raise InputError(
            "an alignment belongs to tokens; leave it out for raw text, or tokenise the text", path=alignment
        )
    # A misspelt one should not be found at the end.
    has_rules, has_classes = kind_named(config.settings.kind).has_rules, bool(config.settings.classes)
    parse_templates(config.settings.features, has_rules=has_rules, has_classes=has_classes)
    if config.settings.n_folds > 1 and lm is not None:
        raise InputError(
            "a finished language model cannot leave out a fold; with folds, give its text instead of the model"
        )
    if config.settings.n_folds == 1 and domains is not None:
        raise InputError("only a system with folds keeps the domains of its lines; use `n_folds`")
    files = {"alignment": alignment, "lm": lm, "domains": domains}
    record: dict[str, Any] = {name: identity(path) for name, path in files.items() if path is not None}
    for name, paths in zip(("source", "target"), texts, strict=True):
        record[name] = identity(paths[0]) if len(paths) == 1 else [identity(path) for path in paths]
    record |= {"lm_text": [identity(path) for path in lm_text], "settings": config.settings.to_json()}
    record |= {name: value for name, value in asdict(config).items() if name != "settings"}
    if not (Path(out) / MANIFEST).exists():
        _compare_counts(texts, alignment, domains)
    with making(out, record, monitor, resume=resume) as (base, stages):
        if not (base / MANIFEST).exists():
            if text_models is not None:
                write_text_models(base / TEXT, *read_text_models(text_models))
            stages.limit = memory
            _Work(base, config, n_threads, monitor, stages).train(texts, alignment, lm, lm_text, domains)
    return System.load(base)


def _compare_counts(texts: _Texts, alignment: PathLike | None, domains: PathLike | None) -> None:
    """Raise MismatchError where files that belong together differ in their lines, before anything takes long."""
    n_lines = 0
    for source, target in zip(*texts, strict=True):
        count = count_lines(source)
        _compare(source, count, target)
        n_lines += count
    whole = " and ".join(os.fspath(path) for path in texts[0])
    for path in (alignment, domains):
        if path is not None:
            _compare(whole, n_lines, path)


def _compare(name: PathLike, n_lines: int, other: PathLike) -> None:
    found = count_lines(other)
    if found != n_lines:
        raise MismatchError(
            f"line-aligned files must have equally many lines, but {os.fspath(name)} has {n_lines}, "
            f"{os.fspath(other)} has {found}"
        )


def _with_text(config: TrainConfig, texts: _Texts, *, given: bool, monitor: Monitor) -> TrainConfig:
    """The same with what the text itself tells: whether it is raw, and its languages.

    `given`: something that belongs to tokens was given too, so that the text must be tokens.
    """
    text = config.settings.text
    for path in (*texts[0], *texts[1]):
        identity(path)  # raises for what cannot be read more than once
    if config.raw is False or (config.raw is None and given):
        _check_lowercase(text)
        for path in (*texts[0], *texts[1]):
            if (look := look_at(sample_file(path))).is_uncut:
                monitor.warn(
                    f"{os.fspath(path)} is not cut into words ({look.run_length:.1f} letters between spaces), "
                    "and whole clauses would be words of the system; leave out `raw=False`, or cut it first"
                )
        return replace(config, raw=False)
    samples = [[sample_file(path) for path in paths] for paths in texts]
    several = len(texts[0]) > 1
    names = [os.fspath(path) for paths in texts for path in paths] if several else ["source", "target"]
    raw, why = (True, "") if config.raw else decide_raw([lines for side in samples for lines in side], names)
    if not raw:
        monitor.say(f"the text is taken as tokenised ({why}); if it is not, say `raw=True`")
        _check_lowercase(text)
        return replace(config, raw=False)
    if why:
        monitor.say(f"the text is taken as raw ({why}); if it is tokenised, say `raw=False`")
    found = {}
    for name, side, paths in zip(("source_language", "target_language"), samples, texts, strict=True):
        language = getattr(text, name)
        if language is None:
            language = guess_language([line for lines in side for line in lines], paths)
            shown = "not known, so abbreviations are not" if language is None else f"taken as '{language}'"
            monitor.say(f"the {name.replace('_', ' ')} is {shown}; `languages` says otherwise")
        found[name] = language
    return replace(config, raw=True, settings=replace(config.settings, text=replace(text, raw=True, **found)))


def _check_lowercase(text: TextSettings) -> None:
    """Raise InputError where lowercasing would do nothing."""
    if text.lowercase and not text.raw and text.source_language is None:
        raise InputError("`lowercase` belongs to raw text; of a tokenised one, name its `languages` too")


@dataclass(slots=True)
class _Work:
    base: Path
    config: TrainConfig
    n_threads: int
    monitor: Monitor
    stages: Stages

    def train(
        self,
        texts: _Texts,
        links: PathLike | None,
        lm: PathLike | None,
        lm_text: Sequence[PathLike],
        domains: PathLike | None,
    ) -> None:
        do, scratch = self.stages.do, self.base / WORK
        settings = self.config.settings
        source, target = texts[0][0], texts[1][0]
        if len(texts[0]) > 1:
            source, target = (scratch / f"{side}.joined.zst" for side in ("source", "target"))
            do("joined text", partial(self._join, texts, (source, target)), makes=target)
        named = source, target
        if self.config.raw:
            do("text pipeline", partial(self._learn_text, source, target), makes=self.base / TEXT)
            raw = RawLines(*read_text_models(self.base / TEXT), settings.text)
            source = self._tokenised("source", source, raw.prepare)
            target = self._tokenised("target", target, raw.prepare_target)
            lm_text = [self._tokenised(f"text {i}", path, raw.prepare_target) for i, path in enumerate(lm_text, 1)]
        folder = self.base / TRAINING
        do("corpus", partial(self._corpus, source, target, folder, named), makes=folder)
        bitext = Bitext.load(folder)
        plan = self._plan(bitext, align=links is None, lm=lm is None, lm_text=lm_text)
        if domains is not None:
            do("domains", partial(store_domains, domains, folder, len(bitext), named[0]), makes=folder / DOMAINS)
        if settings.classes:
            do("classes", partial(self._classes, bitext), makes=self.base / list(CLASSES.values())[-1])
        kept = folder / LINKS
        do("alignment", partial(self._links, bitext, links, kept), makes=kept)
        links = kept
        do("grammar", partial(self._grammar, bitext, links, plan), makes=self.base / GRAMMAR)
        if settings.n_folds > 1:
            self._fold_lms(bitext, lm_text)
        else:
            do("language model", partial(self._lm, bitext, lm, lm_text), makes=self.base / LM)
        weights = kind_named(settings.kind).start_weights(settings.model)
        close_system(self.base, settings, self.stages, weights)

    def _join(self, texts: _Texts, goals: tuple[Path, Path]) -> None:
        """Write all files of each side into one."""
        for paths, goal in zip(texts, goals, strict=True):
            with self.monitor.progress(f"joining {len(paths)} files"), open_output(goal) as output:
                for path in paths:
                    for line in read_lines(path):
                        output.write(line)

    def _learn_text(self, source: PathLike, target: PathLike) -> None:
        text = self.config.settings.text
        sides: list[TextSide] = []
        for name, path, language in (
            ("source", source, text.source_language),
            ("target", target, text.target_language),
        ):
            with self.monitor.progress(f"learning words and case of the {name}"):
                case = text.truecase or text.lowercase
                side = learn_side(partial(read_lines, path), language, target=name == "target", case=case)
            sides.append(side)
            if side.jieba:
                self.monitor.say(f"the {name} is cut into words by jieba")
            elif side.segments is not None:
                self.monitor.say(f"{len(side.segments):,} words of the {name} were learned from its text")
        write_text_models(self.base / TEXT, sides[0], sides[1])

    def _tokenised(self, name: str, path: PathLike, prepare: Callable[[str], str]) -> PathLike:
        goal = self.base / WORK / f"{name.replace(' ', '-')}.zst"
        self.stages.do(f"tokens of the {name}", partial(self._tokenise, name, path, goal, prepare), makes=goal)
        return goal

    def _tokenise(self, name: str, path: PathLike, goal: Path, prepare: Callable[[str], str]) -> None:
        with self.monitor.progress(f"tokenising the {name}") as progress, open_output(goal) as output:
            for number, line in enumerate(read_lines(path), start=1):
                output.write(prepare(line))
                if number % 1000 == 0:
                    progress(number)

    def _corpus(self, source: PathLike, target: PathLike, folder: Path, named: tuple[PathLike, PathLike]) -> None:
        settings = self.config.settings
        with self.monitor.progress("reading the corpus") as progress:
            bitext = Bitext.build(
                source, target, folder, n_folds=settings.n_folds, seed=settings.fold_seed, progress=progress
            )
        if settings.n_folds > 1 and len(bitext) and np.bincount(bitext.folds).max() == len(bitext):
            raise InputError(
                f"all {len(bitext)} training lines are in fold {bitext.folds[0]}, so that nothing is left without it: "
                "identical source sentences share a fold; give more text"
            )
        if settings.classes:
            for side, file in zip((bitext.source, bitext.target), named, strict=True):
                with naming(file):
                    check_class_sizes(settings.classes, side.n_types)
        for side, path in zip((bitext.source, bitext.target), COUNTS.values(), strict=True):
            replace_bytes(self.base / path, np.bincount(side.ids, minlength=len(side.vocab)).astype("<i8").tobytes())

    def _classes(self, bitext: Bitext) -> None:
        sizes = self.config.settings.classes
        for side, path in zip((bitext.source, bitext.target), CLASSES.values(), strict=True):
            name = path.partition(".")[0]
            with self.monitor.progress(f"clustering {name} words", clustering_work(side, sizes)) as progress:
                learned = learn_classes(side, sizes, n_threads=self.n_threads, progress=progress)
            shown = ", ".join(f"{level.perplexity:.1f} of {level.n_classes}" for level in learned.levels)
            self.monitor.say(f"perplexity of {name} classes: {shown}")
            replace_bytes(self.base / path, learned.classes.table.astype("<i4").tobytes())

    def _links(self, bitext: Bitext, given: PathLike | None, goal: PathLike) -> None:
        if given is None:
            self._align(bitext, goal)
        else:
            write_pharaoh(goal, read_pharaoh(given, lengths=(bitext.source.lengths(), bitext.target.lengths())))

    def _align(self, bitext: Bitext, goal: PathLike) -> None:
        with self.monitor.progress("aligning words", 100) as bar:

            def progress(step: AlignStep) -> None:
                half = 50 if step.direction is Direction.REVERSE else 0
                bar(half + 50 * step.iteration // step.n_iterations)

            result = align(
                bitext.source, bitext.target, self.config.alignment, n_threads=self.n_threads, progress=progress
            )
        self.monitor.say(
            f"{result.alignment.n_links:,} links; the directions agree on {100 * result.agreement.f1:.1f} %"
        )
        if result.doubt:
            self.monitor.warn(result.doubt)
        pairing = result.pairing
        found = {"agreement": result.agreement.f1} | ({} if pairing is None else {"of_other_pairs": pairing.other})
        self.stages.tell("alignment", found)
        write_pharaoh(goal, result.alignment)

    def _plan(self, bitext: Bitext, *, align: bool, lm: bool, lm_text: Sequence[PathLike]) -> Plan:
        """Tell what the stages to come need. Raises InputError where that is more than they may have."""
        free_unused()
        plan = plan_training(
            TextSize.of(bitext, self.config.alignment.max_length),
            self.config,
            n_threads=self.n_threads,
            resident=allocated_bytes(),
            limit=self.stages.limit,
            align=align,
            lm=lm,
            n_lm_words=sum(count_words(path) for path in lm_text) if lm else 0,
        )
        self.monitor.say(str(plan))
        return plan

    def _grammar(self, bitext: Bitext, links: PathLike, plan: Plan) -> None:
        alignment = read_pharaoh(links, lengths=(bitext.source.lengths(), bitext.target.lengths()))
        settings = self.config.settings
        kind = kind_named(settings.kind)
        with self.monitor.progress(f"extracting {kind.unit}", len(bitext)) as progress:
            grammar = kind.extract(
                bitext,
                alignment,
                self.base / GRAMMAR,
                settings.model,
                plan.n_threads,
                progress,
                plan.max_memory_bytes,
            )
        self.monitor.say(f"{len(grammar):,} {kind.unit}")
        for note in grammar.notes():
            self.monitor.say(note)

    def _lm(self, bitext: Bitext, lm: PathLike | None, lm_text: Sequence[PathLike]) -> None:
        if lm is not None:
            store_lm(self.base, lm, self.monitor)
            return
        if not lm_text:
            self._estimate(TrainingText.of_side(bitext.target), self.base / LM)
            return
        text = TrainingText()
        with self.monitor.progress("reading text for the language model") as progress:
            for path in lm_text:
                text.add_file(path, progress)
        self._estimate(text, self.base / LM)

    def _fold_lms(self, bitext: Bitext, lm_text: Sequence[PathLike]) -> None:
        """Language models of all data and of all but each fold, with the other text in every one."""

        @cache
        def more() -> Side | None:
            if not lm_text:
                return None
            with self.monitor.progress("reading text for the language models") as progress:
                return Side.read(*lm_text, start=bitext.target.vocab, progress=progress)

        def whole() -> None:
            self._estimate(TrainingText.of_side(bitext.target, more=more()), self.base / LM)

        def without(fold: int) -> None:
            text = TrainingText.of_side(bitext.target, folds=bitext.folds, excluded=fold, more=more())
            self._estimate(text, self.base / fold_lm(fold))

        self.stages.do("language model", whole, makes=self.base / LM)
        for fold in range(bitext.n_folds):
            goal = self.base / fold_lm(fold)
            self.stages.do(f"language model without fold {fold}", partial(without, fold), makes=goal)

    def _estimate(self, text: TrainingText, goal: Path) -> None:
        with self.monitor.progress("estimating", estimate_work(text, self.config.lm)) as progress:
            estimate(text, self.config.lm, progress=progress).model.save(goal)
