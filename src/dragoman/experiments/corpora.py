"""`[corpora.NAME]`: files of text, or sizes of the embedded corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.errors import InputError, needing
from dragoman.experiments.drawing import Drawn, check_drawn, read_drawn
from dragoman.experiments.table import RecipeTable
from dragoman.settings import Record
from dragoman.system import TextSettings
from dragoman.text import count_lines

if TYPE_CHECKING:
    from dragoman_synth import SynthConfig

__all__ = ["TEST", "CorpusFiles", "CorpusPlan", "PartFiles", "PartPlan", "SynthPlan", "TestPart", "read_corpus"]

_WILD = "*?["
TEST = "test"
"""The main test set among the parts of a corpus, and its name if it is the only one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthPlan:
    """Settings of the embedded generator."""

    n_train: int
    n_dev: int
    n_test: int
    config: SynthConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class PartPlan:
    """Names of the files of a part, which may be patterns. `others` are references, or the target side of training."""

    source: str
    others: tuple[str, ...]
    skip: int
    """Number of lines to leave out first."""
    limit: int | None
    """Number of lines to use; None: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFiles:
    """The existing files of a part."""

    source: Path
    others: tuple[Path, ...]
    skip: int
    limit: int | None
    n_lines: int
    """Number of lines that are used."""

    @property
    def stop(self) -> int | None:
        """The line after the last to use; None: all are used."""
        return None if self.limit is None else self.skip + self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class TestPart:
    """A test set: its name, and that of its copies, `test` for the main one."""

    __test__ = False  # not for pytest

    name: str
    part: str

    @property
    def other(self) -> str | None:
        """The name of a test set that is not the main one."""
        return None if self.part == TEST else self.name


def _test_parts(names: Iterable[str]) -> list[TestPart]:
    """The test sets of these names, of which the first is the main one."""
    return [TestPart(name=name, part=f"{TEST}-{name}" if number else TEST) for number, name in enumerate(names)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusFiles:
    """All files of a corpus."""

    train: PartFiles
    dev: PartFiles | Drawn
    tests: Mapping[str, PartFiles | Drawn]
    """The test sets by name, the main one first."""
    align: Path | None
    lm: Path | None
    lm_text: tuple[Path, ...]
    domains: Path | None = None
    """A label of every line of the training text."""

    def parts(self) -> dict[str, PartFiles]:
        """The parts that have files, by the names of their copies."""
        return {name: part for name, part in self._parts().items() if isinstance(part, PartFiles)}

    def drawn(self) -> dict[str, Drawn]:
        """The parts that are drawn from the training text, by the names of their copies."""
        return {name: part for name, part in self._parts().items() if isinstance(part, Drawn)}

    def _parts(self) -> dict[str, PartFiles | Drawn]:
        tests = {test.part: self.tests[test.name] for test in _test_parts(self.tests)}
        return {"train": self.train, "dev": self.dev, **tests}


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusPlan(Record):
    """A corpus: either `synth` or the names of files."""

    name: str
    base: Path
    synth: SynthPlan | None = None
    train: PartPlan | None = None
    dev: PartPlan | Drawn | None = None
    tests: Mapping[str, PartPlan | Drawn] = field(default_factory=dict)
    """The test sets by name, the main one first."""
    drawing: int | None = None
    """The seed of sets that are drawn from the training text; None: that of the cell."""
    align: str | None = None
    lm: str | None = None
    lm_text: tuple[str, ...] = ()
    domains: str | None = None
    raw: bool = False
    text: TextSettings

    def test_parts(self) -> list[TestPart]:
        return _test_parts(self.tests or (TEST,))

    def is_drawn(self, test: TestPart) -> bool:
        """Whether each seed draws this test set anew."""
        return self.drawing is None and isinstance(self.tests.get(test.name), Drawn)

    def drawing_of(self, seed: int) -> int | None:
        """The drawing that a cell of this seed uses; None if nothing is drawn."""
        if not any(isinstance(part, Drawn) for part in (self.dev, *self.tests.values())):
            return None
        return seed if self.drawing is None else self.drawing

    def find(self) -> CorpusFiles | None:
        """Find the files and compare their line counts; None for the embedded corpus.

        Raises InputError with the key.
        """
        if self.train is None or self.dev is None:
            return None
        train, dev = self._part("train", self.train), self._part_or_drawn("dev", self.dev)
        key = _test_key(self.tests)
        align = None if self.align is None else self._one("align", self.align)
        if align is not None:
            _same_lines(f"corpora.{self.name}.align", train.source, [align])
        domains = None if self.domains is None else self._one("domains", self.domains)
        if domains is not None:
            _same_lines(f"corpora.{self.name}.domains", train.source, [domains])
        return CorpusFiles(
            train=train,
            dev=dev,
            tests={name: self._part_or_drawn(key.format(name), part) for name, part in self.tests.items()},
            align=align,
            lm=None if self.lm is None else self._one("lm", self.lm),
            lm_text=self.all_files("lm_text", self.lm_text),
            domains=domains,
        )

    def _part_or_drawn(self, name: str, part: PartPlan | Drawn) -> PartFiles | Drawn:
        return part if isinstance(part, Drawn) else self._part(name, part)

    def _part(self, name: str, part: PartPlan) -> PartFiles:
        source = self._one(f"{name}.source", part.source)
        key = f"{name}.target" if name == "train" else f"{name}.references"
        others = self.all_files(key, part.others)
        if name == "train" and len(others) != 1:
            raise InputError(f"corpora.{self.name}.{key}: one file was expected, but {len(others)} match {part.others}")
        n_lines = _same_lines(f"corpora.{self.name}.{key}", source, others)
        if n_lines == 0:
            raise InputError(f"corpora.{self.name}.{name}.source: {source} is empty")
        if part.skip >= n_lines:
            raise InputError(f"corpora.{self.name}.{name}.skip = {part.skip}: {source} has only {n_lines} lines")
        n_used = min(n_lines - part.skip, part.limit or n_lines)
        return PartFiles(source=source, others=others, skip=part.skip, limit=part.limit, n_lines=n_used)

    def _one(self, key: str, pattern: str) -> Path:
        found = self.all_files(key, (pattern,))
        if len(found) != 1:
            raise InputError(
                f"corpora.{self.name}.{key}: one file was expected, but '{pattern}' matches {len(found)}: "
                f"{', '.join(path.name for path in found[:4])}"
            )
        return found[0]

    def held_out_files(self) -> dict[str, PartFiles]:
        """The files of development and test sets, by the names of their copies; of a corpus that draws none."""
        parts = {"dev": self.dev, **{test.part: self.tests.get(test.name) for test in self.test_parts()}}
        keys = {"dev": "dev", **{test.part: _test_key(self.tests).format(test.name) for test in self.test_parts()}}
        return {name: self._part(keys[name], part) for name, part in parts.items() if isinstance(part, PartPlan)}

    def all_files(self, key: str, patterns: tuple[str, ...]) -> tuple[Path, ...]:
        """The files that match, in order. Raises InputError for a pattern without any."""
        found: dict[Path, None] = {}
        for pattern in patterns:
            if any(sign in pattern for sign in _WILD):
                if Path(pattern).is_absolute():
                    raise InputError(f"corpora.{self.name}.{key} = {pattern!r}: a pattern is relative; use `data=DIR`")
                matches = sorted(self.base.glob(pattern))
                if not matches:
                    raise InputError(f"corpora.{self.name}.{key}: no file matches '{pattern}' in {self.base.resolve()}")
            else:
                matches = [self.base / pattern]
            for path in matches:
                if not path.is_file():
                    what = "is not a file" if path.exists() else "does not exist"
                    raise InputError(
                        f"corpora.{self.name}.{key}: {path} {what}; paths are relative to the recipe, or to `data`"
                    )
                found[path] = None
        return tuple(found)


def _test_key(tests: Iterable[str]) -> str:
    return TEST if list(tests) == [TEST] else "tests.{}"


def read_corpus(name: str, table: RecipeTable, base: Path, *, needs_training: bool = True) -> CorpusPlan:
    """Check everything except the files, which `CorpusPlan.find` checks."""
    if "synth" in table:
        plan = CorpusPlan(name=name, base=base, synth=_synth(table.table("synth")), text=TextSettings())
        for key in table.present():
            if key != "synth":
                raise InputError(f"'{table.named(key)}' does not go together with '{table.named('synth')}'")
        return plan
    raw = table.flag("raw")
    text = replace(_text(table), raw=raw)
    if raw and text.source_language is None:
        raise table.wrong("raw", f"'{table.named('languages')}' is missing; expected two codes such as 'de-en'")
    align = table.find("align", str)
    if raw and align is not None:
        raise table.wrong("align", "an alignment belongs to tokens; leave it out of a raw corpus")
    plan = CorpusPlan(
        name=name,
        base=base,
        train=_read_part(table.need_table("train"), "target") if needs_training or "train" in table else None,
        dev=_read_part_or_drawn(table.need_table("dev")),
        tests=_read_tests(table),
        drawing=table.number("drawing", 0) if "drawing" in table else None,
        align=align,
        lm=table.find("lm", str),
        lm_text=table.texts("lm_text"),
        domains=table.find("domains", str),
        raw=raw,
        text=text,
    )
    table.done()
    if plan.lm is not None and plan.lm_text:
        raise table.wrong("lm", f"is a model already; leave out '{table.named('lm_text')}'")
    _check_drawings(table, plan)
    return plan


def _check_drawings(table: RecipeTable, plan: CorpusPlan) -> None:
    parts = {table.named("dev"): plan.dev, **{table.named(f"tests.{name}"): part for name, part in plan.tests.items()}}
    drawn = {key: part for key, part in parts.items() if isinstance(part, Drawn)}
    if plan.drawing is not None and not drawn:
        raise table.wrong("drawing", "no set of this corpus is drawn from the training text")
    if plan.is_drawn(plan.test_parts()[0]):
        raise InputError(
            f"'{table.named('drawing')}' is missing: the main test set is the same for all seeds; "
            "give it files, or a number of the drawing"
        )
    check_drawn(drawn)
    if plan.lm is not None and any(part.is_out for part in drawn.values()):
        raise table.wrong("lm", "lines cannot be taken out of a finished language model")


def _read_tests(table: RecipeTable) -> dict[str, PartPlan | Drawn]:
    """`test`, or the tables of `tests`."""
    if "tests" not in table:
        return {TEST: _read_part_or_drawn(table.need_table("test"))}
    if "test" in table:
        raise InputError(f"'{table.named('test')}' does not go together with '{table.named('tests')}'")
    return {name: _read_part_or_drawn(part) for name, part in table.entries("tests").items()}


def _read_part_or_drawn(part: RecipeTable) -> PartPlan | Drawn:
    return read_drawn(part) if "drawn" in part else _read_part(part)


def _read_part(part: RecipeTable, others: str = "references") -> PartPlan:
    source = part.take("source", str)
    names = (part.take("target", str),) if others == "target" else part.texts("references")
    if not names:
        raise InputError(f"'{part.named('references')}' is missing; expected text or a list of texts")
    skip, limit = part.number("skip", 0, 0), part.number("limit", 1, 0) or None
    part.done()
    return PartPlan(source=source, others=names, skip=skip, limit=limit)


def _synth(table: RecipeTable) -> SynthPlan:
    with needing("dragoman-synth"):
        from dragoman_synth import SynthConfig
    plan = SynthPlan(
        n_train=table.number("train", 1),
        n_dev=table.number("dev", 1),
        n_test=table.number("test", 1),
        config=SynthConfig(
            seed=table.number("seed", 0, 0),
            n_references=table.number("references", 1, 1, most=16),
            noise=_share(table, "noise"),
        ),
    )
    table.done()
    return plan


def _share(table: RecipeTable, key: str) -> float:
    value = table.find(key, int, float)
    if value is not None and not 0 <= value <= 1:
        raise table.wrong(key, "expected a number from 0 to 1")
    return float(value or 0)


def _text(table: RecipeTable) -> TextSettings:
    languages, lowercase = table.text("languages"), table.flag("lowercase")
    if not languages:
        if lowercase:
            raise table.wrong("lowercase", f"'{table.named('languages')}' is missing; expected codes such as 'de-en'")
        return TextSettings()
    source, dash, target = languages.partition("-")
    if not (source and dash and target):
        raise table.wrong("languages", "expected two codes such as 'de-en'")
    return TextSettings(source_language=source, target_language=target, lowercase=lowercase)


def _same_lines(key: str, source: Path, others: tuple[Path, ...] | list[Path]) -> int:
    n_lines = count_lines(source)
    for other in others:
        if (n := count_lines(other)) != n_lines:
            raise InputError(f"{key}: {other} has {n} lines but {source} has {n_lines}; they must be line-aligned")
    return n_lines
