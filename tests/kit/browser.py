"""A headless Chromium for tests of pages: Debian's, or the one that Playwright installed; none is a reason to skip."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Playwright, sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def _program(playwright: Playwright) -> str | None:
    own = playwright.chromium.executable_path
    return own if Path(own).is_file() else next(filter(None, map(shutil.which, NAMES)), None)


@contextlib.contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser; skips the test where there is none that starts."""
    with sync_playwright() as playwright:
        program = _program(playwright)
        if program is None:
            pytest.skip("no Chromium on this machine; `make browser` installs one")
        try:
            browser = playwright.chromium.launch(executable_path=program, headless=True, args=FLAGS)
        except Error as error:
            pytest.skip(f"{program} does not start here: {error.message.splitlines()[0]}")
        try:
            yield browser
        finally:
            browser.close()
