"""A foreign decoder given as a command template."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import string
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import FailedError, InputError

__all__ = ["PLACEHOLDERS", "CommandTemplate", "tail"]

PLACEHOLDERS = ("source", "weights", "nbest", "k", "round", "seed")
_REQUIRED = ("weights", "nbest")
_TAIL_LINES = 20
_GRACE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandTemplate:
    """A command with placeholders such as {weights}. It is split into words here and never given to a shell."""

    template: str
    timeout_s: float = 24 * 3600.0

    def __post_init__(self) -> None:
        words = self._words()
        if not words:
            raise InputError("the decoder command is empty")
        fields = {name for word in words for name in _fields(word)}
        if unknown := sorted(fields - set(PLACEHOLDERS)):
            known = " ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise InputError(f"the decoder command has an unknown placeholder {{{unknown[0]}}}; known are {known}")
        for name in _REQUIRED:
            if name not in fields:
                raise InputError(f"the decoder command lacks {{{name}}}: without it there is nothing to tune")
        if not self.timeout_s > 0:
            raise InputError(f"the time limit must be positive, not {self.timeout_s}")

    def fill(self, **values: object) -> list[str]:
        """The words of the command with every placeholder replaced."""
        return [word.format(**values) for word in self._words()]

    def run(self, log: Path, **values: object) -> None:
        """Run the command; its output goes to `log`. Raises FailedError with the tail of it when it fails or hangs."""
        words = self.fill(**values)
        with log.open("wb") as output:
            try:
                process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
                )
            except OSError as error:
                raise FailedError(f"the decoder '{words[0]}' cannot be started: {error.strerror or error}") from error
            try:
                with _watched(process):
                    status = process.wait(self.timeout_s)
            except subprocess.TimeoutExpired:
                raise FailedError(f"the decoder was still running after {self.timeout_s:g} s; {tail(log)}") from None
            finally:
                _end_group(process)
        if status:
            how = f"was ended by signal {-status}" if status < 0 else f"failed with status {status}"
            raise FailedError(f"the decoder {how}; {tail(log)}")

    def _words(self) -> list[str]:
        try:
            return shlex.split(self.template)
        except ValueError as error:
            raise InputError(f"the decoder command cannot be split into words: {error}") from error


def tail(log: Path) -> str:
    """The last lines that a decoder wrote, for an error message."""
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - 8192))
        lines = stream.read().decode("utf-8", errors="replace").splitlines()[-_TAIL_LINES:]
    return "its last output:\n" + "\n".join(lines) if lines else "it wrote nothing to its output"


def _fields(word: str) -> list[str]:
    try:
        return [name for _, name, _, _ in string.Formatter().parse(word) if name is not None]
    except ValueError as error:
        raise InputError(f"the decoder command has a stray brace in '{word}' ({error}); write {{{{ or }}}}") from error


@contextlib.contextmanager
def _watched(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Inside the block, the end of this process is that of the decoder and whatever it started, even by SIGKILL."""
    command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("watchdog.py")), str(process.pid)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as watchdog:
        try:
            yield
        finally:
            watchdog.kill()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the decoder and whatever it started."""
    for deadly in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, deadly)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
            if deadly == signal.SIGTERM and not _group_alive(process.pid):
                return


def _group_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
