"""Where files of Debian's archive come from: apt, as this machine is configured, or a folder of such files."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import tarfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import FailedError, InputError
from dragoman.text import read_lines

__all__ = ["AptArchive", "Archive", "Catalogue", "FolderArchive"]

_CATALOGUE = re.compile(r"(?:^|/)usr/share/locale(?:-langpack)?[^ ]*/([A-Za-z_@]+)/LC_MESSAGES/([^/ ]+)\.mo$")
_TIMEOUT_S = 1800
_MOST_CATALOGUE_BYTES = 1 << 26
_CONTENTS = "Acquire::IndexTargets::deb::dragoman-contents"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A compiled catalogue (`.mo`) or one as text (`.po`) in a language."""

    language: str
    name: str
    """The name of the program's messages."""
    data: bytes
    compiled: bool = True


class Archive(ABC):
    """The files that a corpus is made of."""

    @abstractmethod
    def refresh(self) -> None:
        """Bring the lists of the archive up to date."""

    @abstractmethod
    def translations(self, language: str) -> list[tuple[Path, str]]:
        """Files with descriptions in a language, and where each is from."""

    @abstractmethod
    def packages(self, languages: Sequence[str]) -> list[str]:
        """Packages with catalogues of all these languages, those with most of them first."""

    @abstractmethod
    def catalogues(self, package: str, languages: Sequence[str]) -> tuple[str, list[Catalogue]]:
        """Where a package is from, and its catalogues of these languages."""


class AptArchive(Archive):
    """By apt and its configuration, with lists of its own in a folder, so that nobody needs to be root."""

    def __init__(self, folder: Path, languages: Sequence[str], *, command: str = "apt-get") -> None:
        if shutil.which(command) is None or shutil.which("dpkg-deb") is None:
            raise InputError(
                f"there is no {command} and dpkg-deb on this machine; collect the files on a Debian system, or name a "
                "folder with Translation-xx files, packages and catalogues with --from"
            )
        self._folder = folder.resolve()
        self._command = command
        for name in ("lists/partial", "cache/archives/partial", "packages"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        settings = {
            "Dir::State::Lists": self._folder / "lists",
            "Dir::Cache": self._folder / "cache",
            "Debug::NoLocking": "true",
            "Acquire::Languages": ",".join(languages),
            "Acquire::GzipIndexes": "false",
            f"{_CONTENTS}::MetaKey": "$(COMPONENT)/Contents-$(ARCHITECTURE)",
            f"{_CONTENTS}::ShortDescription": "Contents",
            f"{_CONTENTS}::Description": "$(RELEASE)/$(COMPONENT) $(ARCHITECTURE) Contents",
            f"{_CONTENTS}::KeepCompressed": "true",
            f"{_CONTENTS}::KeepCompressedAs": "gz",
        }
        self._options = [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]

    def refresh(self) -> None:
        # Some of the machine's sources may be out of reach; what is needed is looked for afterwards.
        self._run("update", check=False)

    def translations(self, language: str) -> list[tuple[Path, str]]:
        return [
            (path, site) for kind, code, site, path in self._targets() if (kind, code) == ("Translations", language)
        ]

    def packages(self, languages: Sequence[str]) -> list[str]:
        counts: dict[str, Counter[str]] = {language: Counter() for language in languages}
        for kind, _, _, path in self._targets():
            if kind != "dragoman-contents":
                continue
            for line in read_lines(path):
                name, _, owners = line.rstrip().rpartition(" ")
                match = _CATALOGUE.search(name.rstrip()) if "/LC_MESSAGES/" in name else None
                if match is not None and match[1] in counts:
                    for owner in owners.split(","):
                        counts[match[1]][owner.rpartition("/")[2]] += 1
        found = Counter({name: min(count[name] for count in counts.values()) for name in counts[languages[0]]})
        return [name for name, n in sorted(found.items(), key=lambda item: (-item[1], item[0])) if n]

    def catalogues(self, package: str, languages: Sequence[str]) -> tuple[str, list[Catalogue]]:
        folder = self._folder / "packages"
        shown = self._run("download", "--print-uris", package, folder=folder)
        match = re.search(r"^'([^']+)' (\S+\.deb) ", shown, re.MULTILINE)
        if match is None:
            raise FailedError(f"apt does not say where the package {package} is")
        self._run("download", package, folder=folder)
        path = folder / match[2]
        try:
            return match[1], list(_catalogues_of(path, languages))
        finally:
            path.unlink(missing_ok=True)

    def _targets(self) -> Iterator[tuple[str, str, str, Path]]:
        """Kind, language, site and file of the lists that are there."""
        out = self._run("indextargets", "--format", "$(CREATED_BY)\t$(LANGUAGE)\t$(REPO_URI) $(RELEASE)\t$(FILENAME)")
        for line in out.splitlines():
            kind, language, site, path = line.split("\t")
            if Path(path).is_file():
                yield kind, language, site, Path(path)

    def _run(self, *words: str, folder: Path | None = None, check: bool = True) -> str:
        try:
            done = subprocess.run(  # noqa: S603 - no shell
                [self._command, "-q", *self._options, *words],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
                encoding="utf-8",
                errors="replace",
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise FailedError(f"{self._command} {words[0]}: {error}") from error
        if check and done.returncode:
            said = [line for line in done.stderr.splitlines() if line.startswith("E:")] or done.stderr.splitlines()[-1:]
            raise FailedError(f"{self._command} {words[0]} failed: {' '.join(said) or done.returncode}")
        return done.stdout


class FolderArchive(Archive):
    """A folder with Translation-xx files (plain, gz, xz or zst), packages (.deb), and catalogues.

    Catalogues that no package has are `LANGUAGE/NAME.mo`, `LANGUAGE/LC_MESSAGES/NAME.mo`, and the same with `.po`.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise InputError("a folder with files of Debian's archive was expected", path=folder)
        self._folder = folder

    def refresh(self) -> None:
        pass

    def translations(self, language: str) -> list[tuple[Path, str]]:
        name = re.compile(rf"(?:.*_)?Translation-{re.escape(language)}(?:\.(?:gz|xz|zst))?")
        return [(path, path.name) for path in sorted(self._folder.rglob("*Translation-*")) if name.fullmatch(path.name)]

    def packages(self, languages: Sequence[str]) -> list[str]:
        return [path.relative_to(self._folder).as_posix() for path in sorted(self._files(languages))]

    def catalogues(self, package: str, languages: Sequence[str]) -> tuple[str, list[Catalogue]]:
        path = self._folder / package
        if path.suffix == ".deb":
            if shutil.which("dpkg-deb") is None:
                raise InputError("dpkg-deb is needed to open a package, and is not on this machine", path=path)
            return package, list(_catalogues_of(path, languages))
        found = []
        for language in languages:
            for folder in (path / language, path / language / "LC_MESSAGES"):
                files = sorted(folder.glob("*.[mp]o"))
                found += [Catalogue(language, file.stem, file.read_bytes(), file.suffix == ".mo") for file in files]
        return package, found

    def _files(self, languages: Sequence[str]) -> set[Path]:
        """Packages, and the folders of catalogues."""
        found = set(self._folder.rglob("*.deb"))
        for language in languages:
            for file in self._folder.rglob("*.[mp]o"):
                parents = file.parent, file.parent.parent
                place = next((parent for parent in parents if parent.name == language), None)
                if place is not None:
                    found.add(place.parent)
        return found


def _catalogues_of(package: Path, languages: Sequence[str]) -> Iterator[Catalogue]:
    """The compiled catalogues in a package, whose files dpkg-deb unpacks as a stream."""
    with subprocess.Popen(  # noqa: S603 - no shell
        [shutil.which("dpkg-deb") or "dpkg-deb", "--fsys-tarfile", str(package)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as unpacking:
        assert unpacking.stdout is not None
        with contextlib.ExitStack() as stack:
            stack.callback(unpacking.kill)
            try:
                tar = stack.enter_context(tarfile.open(fileobj=unpacking.stdout, mode="r|"))
                for member in tar:
                    match = _CATALOGUE.search(member.name)
                    if match is None or match[1] not in languages or not member.isfile():
                        continue
                    stream = tar.extractfile(member) if member.size <= _MOST_CATALOGUE_BYTES else None
                    if stream is not None:
                        yield Catalogue(match[1], match[2], stream.read())
            except (tarfile.TarError, EOFError, OSError) as error:
                raise FailedError(f"{package}: cannot be unpacked: {error}") from error
