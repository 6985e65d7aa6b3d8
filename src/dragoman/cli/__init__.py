"""The command line. Only here do we print, exit or read options."""

from __future__ import annotations

import sys

from dragoman.cli.app import app
from dragoman.cli.session import report_error
from dragoman.errors import DragomanError

__all__ = ["app", "main"]


def main() -> None:
    """Run the `dragoman` command: exit status 0, 1 (failed) or 2 (bad usage or bad input)."""
    try:
        app()
    except DragomanError as error:
        report_error(error)
        sys.exit(error.exit_status)
    except MemoryError:
        report_error(DragomanError("out of memory; use smaller settings or a larger machine"))
        sys.exit(1)
