"""The stages that cells share: text, alignment, language model, system, translations of the test set.

The key of each is known before anything is computed, so that a plan can show what is cached.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from dragoman.align import AlignStep, Direction, align_files, write_pharaoh
from dragoman.corpus.tokens import RawLines, learn_side, write_text_models
from dragoman.experiments.corpora import CorpusFiles, CorpusPlan, PartFiles, SynthPlan
from dragoman.experiments.drawing import trained_on, write_drawn
from dragoman.experiments.systems import SystemPlan
from dragoman.features import Weights
from dragoman.files.store import digest, digest_json
from dragoman.lm import LanguageModel, TrainingText, estimate, estimate_work
from dragoman.settings import takes_text
from dragoman.system import Monitor, Preset, SystemView, train
from dragoman.text import open_output, read_lines
from dragoman.types import Progress
from dragoman.work.store import Made, Step, Store

__all__ = ["SYSTEM", "SharedStages", "decode_file", "decoding", "of_stage", "read_held_out", "system_folder"]

_Prepare = Callable[[str], str] | None
_ALIGN, _LM, _DOMAINS, _TEXT = "train.align.zst", "lm.bin", "domains", "text.json"
SYSTEM = "system"
"""The folder of the system in the result of the last stage."""


def of_stage(
    stage: str,
    module: str,
    work: Callable[[Path], None],
    *,
    settings: Mapping[str, Any],
    inputs: Mapping[str, str],
    more_code: Sequence[str] = (),
) -> Step:
    """The step of a stage; `inputs` are names of other results, or digests of files; `more_code` further modules."""
    key = {"settings": dict(settings), "inputs": dict(inputs)}
    return Step(kind=stage, key=key, modules=(module, *more_code), work=lambda folder, _: work(folder))


class SharedStages:
    """The stages up to a system, for one corpus, one way of training and one drawing from the training text."""

    def __init__(
        self,
        store: Store,
        corpus: CorpusPlan,
        files: CorpusFiles | None,
        system: SystemPlan,
        drawing: int | None = None,
        *,
        n_threads: int,
        monitor: Monitor,
    ) -> None:
        self._store = store
        self._corpus = corpus
        self._files = files
        self._system = system
        self._drawing = drawing
        self._n_threads = n_threads
        self._monitor = monitor
        self._config = system.config(corpus.text)
        given = files is not None and files.align is not None
        self._aligned = given if system.aligned is None else system.aligned
        # Language models of folds are estimated by training itself.
        self._makes_lm = self._config.settings.n_folds == 1
        self.text = self._text()

    def plan(self) -> list[Step]:
        """All stages in order: text first, the system last."""
        aligning = [] if self._aligned else [self._alignment()]
        estimating = [self._lm()] if self._makes_lm else []
        return [self.text, *aligning, *estimating, self._trained()]

    def make(self) -> list[Made]:
        return [self._store.make(stage) for stage in self.plan()]

    def identity(self) -> dict[str, Any]:
        """What the text of a corpus depends on, besides the seed of a cell that draws from it."""
        settings = dict(self.text.key["settings"])
        if self._corpus.drawing is None:
            settings.pop("drawing", None)
        return {"settings": settings, "inputs": self.text.key["inputs"]}

    def _text(self) -> Step:
        corpus, files, work = self._corpus, self._files, self._write_text
        if files is None:
            assert corpus.synth is not None
            generated = {"synth": asdict(corpus.synth)}
            return of_stage("corpus", __name__, work, settings=generated, inputs={}, more_code=("dragoman_synth",))
        parts = files.parts()
        inputs = {
            f"{name}.{number}": digest(path)
            for name, part in parts.items()
            for number, path in enumerate((part.source, *part.others))
        }
        inputs |= {f"lm_text.{number}": digest(path) for number, path in enumerate(files.lm_text)}
        single = {"align": files.align, "lm": files.lm, _DOMAINS: files.domains}
        inputs |= {name: digest(path) for name, path in single.items() if path}
        limits = {name: part.limit for name, part in parts.items()}
        settings: dict[str, Any] = {"limits": limits, "raw": corpus.raw, "text": corpus.text.to_json()}
        if skips := {name: part.skip for name, part in parts.items() if part.skip}:
            settings["skips"] = skips
        if drawn := files.drawn():
            settings |= {"drawn": {name: asdict(part) for name, part in drawn.items()}, "drawing": self._drawing}
        return of_stage("corpus", __name__, work, settings=settings, inputs=inputs)

    def _parts_of_text(self, *prefixes: str, whole: bool = False) -> dict[str, str]:
        """Inputs of a stage that reads only some parts of the text, so that other parts may change.

        `whole` is of a stage that also reads the lines that are taken out of the training.
        """
        if self._files is None:
            return {"text": self.text.name}
        before = self.text.key
        inputs = {name: digest for name, digest in before["inputs"].items() if name.startswith(prefixes)}
        part = self._files.train
        settings = {**before["settings"], "limits": part.limit, "skips": part.skip}
        drawn = [asdict(part) for part in self._files.drawn().values() if part.is_out and not whole]
        settings |= {"drawn": drawn, "drawing": self._drawing if drawn else None}
        return {"text": digest_json({"settings": settings, "inputs": inputs})}

    def _alignment(self) -> Step:
        inputs = self._parts_of_text("train.", whole=True)
        return of_stage("alignment", __name__, self._align, settings=asdict(self._config.alignment), inputs=inputs)

    def _lm(self) -> Step:
        inputs = self._parts_of_text("train.1", "lm")
        return of_stage("language model", __name__, self._estimate, settings=asdict(self._config.lm), inputs=inputs)

    def _trained(self) -> Step:
        # A system without folds keeps neither its text nor the domains of its lines.
        parts = [*(["align"] if self._aligned else []), *([] if self._makes_lm else ["lm_text", _DOMAINS])]
        inputs = self._parts_of_text("train.", *parts)
        if not self._aligned:
            inputs["alignment"] = self._alignment().name
        if self._makes_lm:
            inputs["lm"] = self._lm().name
        settings: dict[str, Any] = {"settings": self._config.settings.to_json()}
        if not self._makes_lm:
            settings["lm"] = asdict(self._config.lm)
        return of_stage("grammar", __name__, self._train, settings=settings, inputs=inputs)

    def _write_text(self, folder: Path) -> None:
        if self._files is None:
            assert self._corpus.synth is not None
            _write_synth(folder, self._corpus.synth, self._monitor)
            return
        files = self._files
        self._monitor.say(f"reading the text of {self._corpus.name}")
        source, target = self._learn_text(folder, files.train) if self._corpus.raw else (None, None)
        for name, part in files.parts().items():
            _write_part(folder, name, part, source, target)
        if drawn := files.drawn():
            assert self._drawing is not None
            write_drawn(folder, drawn, self._drawing)
        for number, path in enumerate(files.lm_text):
            _write(folder / f"lm-text.{number}", _prepared(read_lines(path), target))
        if files.align is not None:
            _write(folder / _ALIGN, _chosen(files.align, files.train))
        if files.domains is not None:
            _write(folder / _DOMAINS, _chosen(files.domains, files.train))
        if files.lm is not None:
            shutil.copyfile(files.lm, folder / "given-lm")

    def _learn_text(self, folder: Path, part: PartFiles) -> tuple[_Prepare, _Prepare]:
        """The pipeline of raw text, learned from the training part and stored beside it."""
        text = self._corpus.text
        languages = text.source_language, text.target_language
        sides = [
            learn_side(partial(_chosen, path, part), language, target=target, case=text.truecase or text.lowercase)
            for path, language, target in zip((part.source, part.others[0]), languages, (False, True), strict=True)
        ]
        write_text_models(folder / _TEXT, sides[0], sides[1])
        lines = RawLines(sides[0], sides[1], text)
        return lines.prepare, lines.prepare_target

    def _align(self, folder: Path) -> None:
        base = self._store.place(self.text)
        with self._monitor.progress("aligning words", 100) as bar:

            def progress(step: AlignStep) -> None:
                half = 50 if step.direction is Direction.REVERSE else 0
                bar(half + 50 * step.iteration // step.n_iterations)

            result = align_files(
                base / "train.source",
                base / "train.target",
                self._config.alignment,
                n_threads=self._n_threads,
                progress=progress,
            )
        write_pharaoh(folder / _ALIGN, result.alignment)

    def _estimate(self, folder: Path) -> None:
        base = self._store.place(self.text)
        if (base / "given-lm").exists():
            with self._monitor.progress("reading the language model") as progress:
                LanguageModel.load(base / "given-lm", progress=progress).save(folder / _LM)
            return
        lines = TrainingText()
        given = sorted(base.glob("lm-text.*"))
        with trained_on(base, [] if given else [base / "train.target"], folder) as own:
            for path in given or own:
                lines.add_file(path)
        with self._monitor.progress("estimating the language model", estimate_work(lines, self._config.lm)) as bar:
            estimate(lines, self._config.lm, progress=bar).model.save(folder / _LM)

    def _train(self, folder: Path) -> None:
        text = self._store.place(self.text)
        links = text if self._aligned else self._store.place(self._alignment())
        files = [text / "train.source", text / "train.target", links / _ALIGN]
        if not self._makes_lm and (text / _DOMAINS).exists():
            files.append(text / _DOMAINS)
        with trained_on(text, files, folder) as (source, target, alignment, *domains):
            train(
                source,
                target,
                folder / SYSTEM,
                alignment=alignment,
                lm=self._store.place(self._lm()) / _LM if self._makes_lm else None,
                lm_text=() if self._makes_lm else sorted(text.glob("lm-text.*")),
                domains=domains[0] if domains else None,
                text_models=text / _TEXT if self._corpus.raw else None,
                config=self._config,
                n_threads=self._n_threads,
                monitor=self._monitor,
            )
        shutil.rmtree(folder / SYSTEM / "train")  # names the scratch folder and times of change


@takes_text
def decoding(
    stage: str,
    work: Callable[[Path], None],
    system: str,
    source: Path,
    templates: Sequence[str],
    preset: Preset,
    weights: Path,
    fold: int | None = None,
) -> Step:
    """The translations of a development or test set: corpora that share the text share them."""
    without = {} if fold is None else {"fold": fold}
    return of_stage(
        stage,
        __name__,
        work,
        settings={"templates": list(templates), "preset": preset.value, **without},
        inputs={"system": system, "text": digest(source), "weights": digest(weights)},
    )


def system_folder(made: Made) -> Path:
    """The folder of the system in the result of the last stage."""
    return made.folder / SYSTEM


@takes_text
def decode_file(
    view: SystemView, source: Path, weights: Weights, preset: Preset, n_threads: int, monitor: Monitor, out: Path
) -> None:
    """Translate a file's lines."""
    sentences = list(read_lines(source))
    with monitor.progress("translating", len(sentences)) as progress:
        lines = view.translate(
            sentences, weights=weights.on(view.index), preset=preset, n_threads=n_threads, tokenized=True
        )
        _write(out, _counted(lines, progress))


def read_held_out(text: Path, part: str) -> tuple[Path, list[Path]]:
    """The files of `dev` or a test set: source and references."""
    references: list[Path] = []
    while (path := text / f"{part}.reference.{len(references)}").exists():
        references.append(path)
    return text / f"{part}.source", references


def _write_synth(folder: Path, plan: SynthPlan, monitor: Monitor) -> None:
    from dragoman_synth import generate_splits

    with monitor.progress("generating text", plan.n_train) as progress:
        splits = generate_splits(plan.n_train, plan.n_dev, plan.n_test, plan.config, progress=progress)
    _write(folder / "train.source", (example.source for example in splits.train))
    _write(folder / "train.target", (example.references[0] for example in splits.train))
    for name, examples in (("dev", splits.dev), ("test", splits.test)):
        _write(folder / f"{name}.source", (example.source for example in examples))
        for r in range(plan.config.n_references):
            _write(folder / f"{name}.reference.{r}", [example.references[r] for example in examples])


def _write_part(folder: Path, name: str, part: PartFiles, source: _Prepare, target: _Prepare) -> None:
    _write(folder / f"{name}.source", _prepared(_chosen(part.source, part), source))
    for number, path in enumerate(part.others):
        goal = f"{name}.target" if name == "train" else f"{name}.reference.{number}"
        _write(folder / goal, _prepared(_chosen(path, part), target))


def _chosen(path: Path, part: PartFiles) -> Iterator[str]:
    """The lines of a file that the part uses."""
    return islice(read_lines(path), part.skip, part.stop)


def _prepared(lines: Iterable[str], prepare: _Prepare) -> Iterable[str]:
    return lines if prepare is None else map(prepare, lines)


def _write(path: Path, lines: Iterable[str]) -> None:
    with open_output(path) as output:
        for line in lines:
            output.write(line)


def _counted(lines: Iterable[str], progress: Progress) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        yield line
        progress(number)
