"""What a tuning leaves of a set of sentences for its report: translations by the weights before and after.

tune/development/   source.txt  reference.0.txt …  before.txt  after.txt  set.json    of the first and the kept round
tune/test/          the same of a test set, where one was named

`set.json` lists checksums of the others: they are what a report shows first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.corpus.tokens import guess_language
from dragoman.errors import InputError, naming
from dragoman.files.store import Format, from_plain, make_folder, read_json
from dragoman.metric import Metric, Tokenizer, by_name
from dragoman.settings import Record
from dragoman.system import System
from dragoman.text import read_lines, replace_bytes

__all__ = ["DEVELOPMENT", "TEST", "BeforeAfter", "raw_tokenizer"]

DEVELOPMENT, TEST = "development", "test"
_FORMAT = Format("dragoman-before-after", 1, "record of a tuning", "set.json")
_TEXTS = ("source", "before", "after")
_LOOKED_AT = 2000
"""Lines of a reference that tell its language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counting:
    tokenizer: str
    lowercase: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAfter(Record):
    """Sentences, the lines of every reference, both translations, and how metrics count them."""

    source: Sequence[str]
    references: Sequence[Sequence[str]]
    before: Sequence[str]
    after: Sequence[str]
    tokenizer: Tokenizer = Tokenizer.NONE
    lowercase: bool = False

    def _check(self) -> None:
        lengths = {len(lines) for lines in (self.before, self.after, *self.references)}
        if not self.references or lengths != {len(self.source)}:
            raise InputError(f"{len(self.source)} sentences, but translations and references have {sorted(lengths)}")

    def metrics(self, names: Iterable[str]) -> list[Metric]:
        """Metrics that count as the set is counted."""
        return [by_name(name, tokenizer=self.tokenizer, lowercase=self.lowercase) for name in names]

    def save(self, folder: Path) -> None:
        """Write it into a folder, over what was there."""
        make_folder(folder)
        texts = {"source": self.source, "before": self.before, "after": self.after}
        texts |= {f"reference.{i}": lines for i, lines in enumerate(self.references)}
        for name, lines in texts.items():
            replace_bytes(folder / f"{name}.txt", "".join(f"{line}\n" for line in lines).encode("utf-8"))
        counting = {"tokenizer": self.tokenizer.value, "lowercase": self.lowercase}
        _FORMAT.write(folder, [f"{name}.txt" for name in texts], {"counting": counting})

    @classmethod
    def load(cls, folder: Path) -> BeforeAfter | None:
        """What `save` wrote; None if there is no such folder. Raises InputError for damaged files."""
        path = folder / _FORMAT.manifest
        if not path.exists():
            return None
        if "format" not in read_json(path, _FORMAT.what):
            raise InputError(
                "lists no checksums: it was made by an older version of dragoman, or is damaged; tune again, or remove "
                "its folder to do without these sentences",
                path=path,
            )
        manifest = _FORMAT.read(folder)
        with naming(path):
            counting = from_plain(_Counting, manifest.content.get("counting"))
            if counting.tokenizer not in list(Tokenizer):
                raise InputError(f"'{counting.tokenizer}' is no tokenizer; the run is damaged")
        names = [*_TEXTS, *(f"reference.{i}" for i in range(len(manifest.files) - len(_TEXTS)))]
        source, before, after, *references = (list(read_lines(manifest.check(f"{name}.txt"))) for name in names)
        with naming(folder):
            return cls(
                source=source,
                references=references,
                before=before,
                after=after,
                tokenizer=Tokenizer(counting.tokenizer),
                lowercase=counting.lowercase,
            )


def raw_tokenizer(system: System, references: Sequence[Sequence[str]]) -> Tokenizer:
    """BLEU's tokeniser for the raw text that a system writes, by its language, or by the script of the references."""
    code = system.settings.text.target_language
    return Tokenizer.of_language(guess_language(references[0][:_LOOKED_AT]) if code is None else code)
