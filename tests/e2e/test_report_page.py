"""The page in a browser: sentences are sorted and searched by keyboard, tables say that they scroll, nothing fails."""

from __future__ import annotations

import pytest
from tests.kit.browser import open_browser
from tests.kit.fake_runs import explanation, noisy, sentences, start_run, write_cell, write_test_set

from dragoman.view.report import write_report

WIDE = """() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(
    [...document.querySelectorAll(".scroll")].filter((s) => s.checkVisibility()).map(
        (s) => [s.scrollWidth > s.clientWidth + 1, s.classList.contains("cut"), s.tabIndex === 0])), 100)))"""
"""Of every place for a table that is not folded: is it cut, does it say so, does it take the focus."""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Three systems on nine sentences; what one says of the third sentence is hostile."""
    folder = tmp_path_factory.mktemp("page")
    run = start_run(folder / "run")
    refs = sentences(9)
    write_test_set(run, "toy", [line.upper() for line in refs], refs)
    for optimiser, rate in (("mert", 0.1), ("pro", 0.5), ("mira", 0.9)):
        lines = noisy(refs, rate, 1)
        lines[2] = "</script><script>document.title='[/b]'</script> \u202e unicorn"
        found = [(i, explanation(lines[i].upper(), lines[i])) for i in range(3)]
        write_cell(run, optimiser=optimiser, lines=lines, derivations=found)
    return write_report([run], folder / "report.html", n_trials=20)


@pytest.fixture(scope="module")
def browser():
    with open_browser() as found:
        yield found


def opened(browser, report, width, **more):
    page = browser.new_page(viewport={"width": width, "height": 900}, reduced_motion="reduce", **more)
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type in {"error", "warning"} else None)
    page.goto(report.as_uri())
    return page, problems


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_page_fits_and_wide_tables_say_that_they_scroll(browser, report, width, scheme):
    page, problems = opened(browser, report, width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    wide = page.evaluate(WIDE)
    assert all(cut == said == focused for cut, said, focused in wide)
    assert len(wide) > 3
    assert width == 1280 or any(cut for cut, _, _ in wide)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    assert page.title() != "[/b]"
    assert problems == []
    page.close()


def test_sentences_are_sorted_and_searched_by_keyboard(browser, report):
    page, problems = opened(browser, report, 1280)

    def shown(name):
        return [float(node.get_attribute(f"data-{name}")) for node in page.locator(".sample:visible").all()]

    assert shown("number") == [*range(1, 10)]
    page.locator("select[name=order]").focus()
    for name, key, is_falling in (("difference", "g", True), ("worst", "w", False), ("length", "l", True)):
        page.keyboard.press(key)  # the first letter of an option chooses it
        assert shown(name) == sorted(shown(name), reverse=is_falling), name
        page.wait_for_timeout(1100)  # else letters add up to a word
    assert sorted(shown("number")) == [*range(1, 10)]
    page.keyboard.press("Tab")
    page.keyboard.type("UNICORN script")
    assert shown("number") == [3]
    assert page.locator(".tools output").inner_text() == "1 of 9 sentences"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator(".sample details[open] dl:visible").count() >= 1
    assert page.locator(".sample:visible script").count() == 0
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    assert len(shown("number")) == 9
    page.keyboard.type("contribution")  # a word of the tables of derivations, of no sentence
    assert shown("number") == []
    assert problems == []
    page.close()


def test_without_scripts_the_sentences_stand_and_fold(browser, report):
    page, _ = opened(browser, report, 390, java_script_enabled=False)
    assert page.locator(".sample").count() == 9
    assert not page.locator(".tools").is_visible()
    last = page.locator(".sample").last
    assert not last.locator("dl").first.is_visible()
    last.locator("summary").first.click()
    assert last.locator("dl").first.is_visible()
    assert page.locator(".derivation svg").count() > 0
    page.close()
