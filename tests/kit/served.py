"""The explorer as a browser sees it: systems that are served by the command, and an open page."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys

from tests.kit.small_systems import make_systems

from dragoman.optim import Mert
from dragoman.system import System
from dragoman.text import read_lines
from dragoman.tuning import TEST, TUNE_RECORD, BeforeAfter, LoopSettings, TuneConfig, tune_system

DESKTOP, PHONE = (1280, 900), (390, 800)


def make_served(folder):
    """Systems of both kinds, and the phrase-based one tuned, with a test set before and after."""
    make_systems(folder, n_folds=2)
    tuned = tune_system(
        folder / "phrase",
        folder / "dev.de",
        [folder / "dev.en"],
        folder / "tuned",
        optimiser=Mert(n_starts=1),
        config=TuneConfig(k=10, loop=LoopSettings(max_rounds=2)),
    )
    source, reference = (list(read_lines(folder / f"train.{side}"))[:40] for side in ("de", "en"))
    before, after = (list(system.translate(source)) for system in (System.load(folder / "phrase"), tuned))
    pair = BeforeAfter(source=source, references=[reference], before=before, after=after)
    pair.save(folder / "tuned" / TUNE_RECORD / TEST)
    return folder


@contextlib.contextmanager
def serving(folder, words=("phrase", "hiero", "--run", "tuned")):
    """The address of `dragoman serve`, on a free port; it must end well."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dragoman", "serve", *words, "--port", "0", "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, b"", b"")


class OpenPage:
    """An open page that remembers requests and complaints, and checks them when it is closed."""

    def __init__(self, browser, address, size=DESKTOP, **settings):
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **settings)
        self.address = address

    def __enter__(self):
        page = self.context.new_page()
        page.set_default_timeout(60_000)
        self.asked, self.wrong = [], []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda message: self.wrong.append(message.text) if message.type == "error" else None)
        page.goto(self.address)
        page.wait_for_selector("#views button")
        page.asked = self.asked
        return page

    def __exit__(self, kind, *_):
        self.context.close()
        if kind is None:
            assert self.wrong == []
            assert [url for url in self.asked if not url.startswith(self.address)] == []


def translation(page, name):
    return page.locator(f'[data-translation="{name}"]')


def settle(page):
    """Wait until nothing is asked any more."""
    page.wait_for_selector("main[aria-busy=false]")  # not wait_for_function, which the page's policy forbids


def write(page, text, reference=""):
    """Type as a person does, and wait for what the systems say."""
    page.fill("#reference", reference)
    page.click("#text")
    page.keyboard.type(text)
    page.wait_for_selector("[data-translation]")
    settle(page)


def view(page, name):
    page.click(f"#tab-{name}")


def reach(page, there, most=60):
    """Press Tab until the focus is there."""
    for _ in range(most):
        if page.evaluate(there):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{there} is not reached by Tab")
