"""From the files of an archive to a corpus: what is fetched is kept, so that a stopped collection goes on."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from dragoman.errors import FailedError, InputError
from dragoman.files.store import read_json, write_json
from dragoman.run import RunFolder
from dragoman.settings import Record
from dragoman.text import open_output
from dragoman_debian.archive import AptArchive, Archive, Catalogue, FolderArchive
from dragoman_debian.catalogues import message_pairs, read_mo, read_po
from dragoman_debian.descriptions import Description, description_pairs, read_descriptions

__all__ = ["DebianConfig", "DebianResult", "Part", "build_corpus"]

_RECORD = "collect"
_ENGLISH = "en"
_CODE = re.compile(r"[a-z]{2,3}(?:_[A-Z]{2})?(?:@[a-z]+)?")
_PACKAGES = "packages.json"
_MOST_FAILURES = 5
"""Packages that may fail one after the other before something must be wrong with all of them."""


class Part(StrEnum):
    """What is translated."""

    DESCRIPTIONS = "descriptions"
    INTERFACES = "interfaces"


@dataclass(frozen=True, slots=True, kw_only=True)
class DebianConfig(Record):
    """What to collect."""

    languages: tuple[str, str]
    """Of source and target, as Debian names them: `de`, `pt_BR`. The originals are in `en`."""
    parts: tuple[Part, ...] = tuple(Part)
    limit: int | None = 200
    """Packages whose interface translations are fetched, those with most catalogues first; None: all."""
    folder: Path | None = None
    """A folder of Debian's files instead of apt."""

    def _check(self) -> None:
        for code in self.languages:
            if not _CODE.fullmatch(code):
                raise InputError(f"'{code}' is no language as Debian names them; expected a code such as de or pt_BR")
        if self.languages[0] == self.languages[1]:
            raise InputError(f"source and target are both '{self.languages[0]}'")
        if not self.parts:
            raise InputError(f"nothing to collect; choose from {', '.join(Part)}")
        if self.limit is not None and self.limit < 1:
            raise InputError(f"at least one package is needed, not {self.limit}")


@dataclass(slots=True, kw_only=True)
class DebianResult:
    """What was collected."""

    files: tuple[Path, Path]
    domains: Path
    sources: Path
    n_pairs: dict[str, int] = field(default_factory=dict)
    """By part."""
    n_duplicates: int = 0
    failed: list[str] = field(default_factory=list)
    """Packages that could not be had, and why."""


def build_corpus(
    out: Path,
    config: DebianConfig,
    *,
    resume: bool = False,
    open_archive: Callable[[Path], Archive] | None = None,
    say: Callable[[str], None] = lambda text: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> DebianResult:
    """Collect into the folder `out`: `corpus.SRC` and `corpus.TGT`, `corpus.domain` with the part of each line, and
    `sources.tsv` with the package, the place it is from and how many pairs it gave.

    Pairs occur once. `open_archive` makes the archive, whose files may be kept in a folder that it gets; unless it is
    given, that is apt's or the folder of the settings. `progress` gets packages done and in all.
    """
    settings = {
        "languages": list(config.languages),
        "parts": [part.value for part in config.parts],
        "limit": config.limit,
        "folder": None if config.folder is None else str(config.folder),
    }
    with RunFolder.open(out / _RECORD, settings, resume=resume) as run:
        kept = run.path / "apt"
        if open_archive is not None:
            archive = open_archive(kept)
        else:
            archive = AptArchive(kept, config.languages) if config.folder is None else FolderArchive(config.folder)
        collection = _Collection(archive, config, run, say, progress)
        collection.fetch()
        return collection.write(out)


@dataclass(slots=True)
class _Collection:
    archive: Archive
    config: DebianConfig
    run: RunFolder
    say: Callable[[str], None]
    progress: Callable[[int, int], None]
    failed: list[str] = field(default_factory=list)

    def fetch(self) -> None:
        """Everything that comes from elsewhere, unless it is there."""
        if not any(entry["event"] == "refreshed" for entry in self.run.trace()):
            self.say("bringing the archive's lists up to date")
            self.archive.refresh()
            for code in self.config.languages:
                if Part.DESCRIPTIONS in self.config.parts and not self.archive.translations(code):
                    raise FailedError(f"there is no Translation-{code} in the archive, so no description in '{code}'")
            self.run.log("refreshed")
        if Part.INTERFACES not in self.config.parts:
            return
        stored = self.run.path / _PACKAGES
        if not stored.exists():
            self.say("looking for packages with interface translations")
            # Messages are English themselves, so that no catalogue of English is needed.
            wanted = [code for code in self.config.languages if code != _ENGLISH]
            write_json(stored, {"packages": self.archive.packages(wanted)[: self.config.limit]})
        names = read_json(stored, "collection")["packages"]
        n_failures = 0
        for number, name in enumerate(names):
            path = self._messages(name)
            if not path.exists():
                try:
                    self._fetch_package(name, path)
                    n_failures = 0
                except (FailedError, InputError) as error:
                    self.failed.append(f"{name}: {error}")
                    n_failures += 1
                    if n_failures >= _MOST_FAILURES:
                        raise FailedError(
                            f"{n_failures} packages failed one after the other; what was fetched is kept, go on with "
                            f"--resume. The last: {self.failed[-1]}"
                        ) from error
            self.progress(number + 1, len(names))

    def write(self, out: Path) -> DebianResult:
        """The corpus from what was fetched."""
        source, target = self.config.languages
        files = out / f"corpus.{source}", out / f"corpus.{target}"
        result = DebianResult(
            files=files, domains=out / "corpus.domain", sources=out / "sources.tsv", failed=self.failed
        )
        seen: set[int] = set()
        with contextlib.ExitStack() as stack:
            outputs = [stack.enter_context(open_output(path)) for path in (*files, result.domains)]
            told = stack.enter_context(open_output(result.sources))
            told.write("part\tname\tfrom\tpairs")
            for part, name, place, pairs in self._sources():
                n = 0
                for pair in pairs:
                    key = hash(pair)
                    if key in seen:
                        result.n_duplicates += 1
                        continue
                    seen.add(key)
                    for output, text in zip(outputs, (*pair, part.value), strict=True):
                        output.write(text)
                    n += 1
                told.write(f"{part.value}\t{name}\t{place}\t{n}")
                result.n_pairs[part.value] = result.n_pairs.get(part.value, 0) + n
        self.run.log("end", **result.n_pairs)
        return result

    def _sources(self) -> Iterator[tuple[Part, str, str, Iterator[tuple[str, str]]]]:
        """Part, name, where it is from, and the pairs."""
        source, target = self.config.languages
        if Part.DESCRIPTIONS in self.config.parts:
            found: list[dict[str, Description]] = []
            places = []
            for code in (source, target):
                descriptions: dict[str, Description] = {}
                for path, place in self.archive.translations(code):
                    descriptions |= read_descriptions(path, code)
                    places.append(f"{place} Translation-{code}")
                found.append(descriptions)
            pairs = description_pairs(found[0], found[1], (source, target))
            yield Part.DESCRIPTIONS, "package descriptions", "; ".join(places), ((one, two) for _, one, two in pairs)
        if Part.INTERFACES in self.config.parts:
            for name in read_json(self.run.path / _PACKAGES, "collection")["packages"]:
                path = self._messages(name)
                if path.exists():
                    stored = read_json(path, "collection")
                    yield Part.INTERFACES, name, stored["from"], (tuple(pair) for pair in stored["pairs"])

    def _messages(self, name: str) -> Path:
        folder = self.run.path / "messages"
        folder.mkdir(exist_ok=True)
        return folder / f"{re.sub(r'[^A-Za-z0-9.+_-]', '_', name) or '_'}.json"

    def _fetch_package(self, name: str, path: Path) -> None:
        wanted = [code for code in self.config.languages if code != _ENGLISH]
        place, catalogues = self.archive.catalogues(name, wanted)
        by_name: dict[str, dict[str, dict[str, str]]] = {}
        for catalogue in catalogues:
            by_name.setdefault(catalogue.name, {})[catalogue.language] = _read(catalogue)
        pairs = [
            pair
            for messages in by_name.values()
            if all(code in messages for code in wanted)
            for pair in message_pairs(*(messages.get(code) for code in self.config.languages))
        ]
        write_json(path, {"from": place, "pairs": pairs})


def _read(catalogue: Catalogue) -> dict[str, str]:
    if catalogue.compiled:
        return read_mo(catalogue.data, f"{catalogue.name}.mo")
    try:
        text = catalogue.data.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8; convert it, for instance with msgconv", path=f"{catalogue.name}.po") from None
    return read_po(iter(text.split("\n")), f"{catalogue.name}.po")
