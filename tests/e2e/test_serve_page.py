"""The explorer page in a real browser: typing, pointing, sliders, trees, sizes, colours, keys, hostile text."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from tests.kit.browser import open_browser
from tests.kit.served import DESKTOP, PHONE, OpenPage, make_served, reach, serving, settle, translation, view, write
from tests.kit.small_systems import sentences_of

from dragoman.system import System
from dragoman.view.serve import read_recorded

EVIL = "</script><img src=x onerror=document.title='owned'> <b>x</b> \u202egnp.exe"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_served(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def sentence(made):
    return max(sentences_of(made), key=len)


@pytest.fixture(scope="module")
def browser():
    with open_browser() as found:
        yield found


@pytest.fixture(scope="module")
def address(made, browser):
    """The command itself answers, on a free port."""
    with serving(made) as address:
        yield address


@pytest.fixture
def page(browser, address):
    """A page on a desktop; nothing may go wrong in it, and nobody else may be asked."""
    with OpenPage(browser, address) as found:
        yield found


def test_every_system_translates_while_one_types(page, made, sentence):
    write(page, sentence)
    for name in ("phrase", "hiero"):
        assert translation(page, name).inner_text() == next(System.load(made / name).translate([sentence]))
    first = sentence.split()[0]
    page.fill("#text", first)
    settle(page)
    assert translation(page, "phrase").inner_text() == next(System.load(made / "phrase").translate([first]))
    page.click("#example")
    settle(page)
    training = System.load(made / "phrase").training
    assert page.input_value("#text") == training.source(0)
    assert page.input_value("#reference") == training.target(0)
    assert "BLEU+1" in page.locator("[data-system=phrase] > header").inner_text()
    page.fill("#text", first)
    settle(page)
    page.uncheck("input[value=hiero]", force=True)
    expect(page.locator(".card")).to_have_count(1)
    page.goto(page.url)
    page.reload()
    page.wait_for_selector("[data-translation]")
    assert (page.input_value("#text"), page.locator(".card").count()) == (first, 1)


def test_pointing_at_a_phrase_or_rule_lights_both_sides(page, sentence):
    write(page, sentence)
    words = sentence.split()
    pieces = page.locator("[data-system=phrase] g.piece")
    assert pieces.count() > 1
    pieces.nth(1).locator("rect").first.hover()
    lit = page.locator("[data-system=phrase] g.piece.on")
    assert lit.count() == 1
    shown = page.locator("[data-system=phrase] .panel .rule b").all_inner_texts()
    assert lit.locator("text").all_text_contents() == [*shown[0].split(), *shown[1].split()]
    assert page.locator("[data-system=phrase] .panel .bars li").count() > 0
    tree = page.locator("[data-system=hiero] svg.picture")
    for side in ("target", "source"):
        page.get_by_role("button", name=f"Tree over the {side}").click()
        drawn = tree.locator("text.word").all_text_contents()
        assert sorted(drawn) == sorted(words + translation(page, "hiero").inner_text().split())
    node = tree.locator("g.piece").nth(2)
    node.locator("text.label").hover()
    assert "on" in node.get_attribute("class")
    assert page.locator("[data-system=hiero] .panel .rule b").first.inner_text().startswith(("S: ", "X: "))
    pieces.nth(1).locator("rect").first.hover()
    page.locator("[data-system=phrase] .panel button").click()
    page.wait_for_selector("#view table")
    assert page.locator("#phrase").input_value() == shown[0]
    assert shown[1] in page.locator("#view td b").all_inner_texts()
    page.locator("summary").first.click()
    assert page.locator("#view mark").count() > 0


def test_a_slider_ranks_at_once_and_decodes_when_let_go(page, made, sentence):
    write(page, sentence)
    view(page, "weights")
    slider = page.locator("[data-system=phrase] [data-feature=words]")
    slider.scroll_into_view_if_needed()
    before = len(page.asked)
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2, steps=4)
    said = page.locator("[data-system=phrase] > header").inner_text()
    assert "re-ranked" in said
    ranked = page.locator("[data-system=phrase] tbody tr .pick").all_inner_texts()
    assert translation(page, "phrase").inner_text() == ranked[0]
    assert len(page.asked) == before  # in the browser alone
    page.mouse.up()
    page.wait_for_selector("[data-system=phrase] > header :text('decoded in')")
    settle(page)
    assert page.asked[before:] != []
    value = float(page.locator("[data-system=phrase] [data-feature=words]").input_value())
    system = System.load(made / "phrase")
    weights = system.weights.copy()
    assert value < weights["words"]
    weights["words"] = value
    assert translation(page, "phrase").inner_text() == next(system.translate([sentence], weights=weights))
    page.get_by_role("button", name="Back to the system's weights").first.click()
    settle(page)
    assert translation(page, "phrase").inner_text() == next(system.translate([sentence]))


def test_candidates_features_and_differences(page, sentence):
    write(page, sentence, "the old teacher does not read the book .")
    view(page, "candidates")
    rows = page.locator("[data-system=phrase] tbody tr")
    assert rows.count() > 5
    assert page.locator("[data-system=phrase] tbody ins").count() > 0
    assert page.locator("[data-system=phrase] .best").count() >= 3
    rows.nth(2).locator(".pick").click()
    settle(page)
    assert "candidate 3" in page.locator("[data-system=phrase] > header").inner_text()
    view(page, "features")
    signed = [number_of(text) for text in page.locator("[data-system=hiero] tbody td:last-child").all_inner_texts()]
    score = number_of(page.locator("[data-system=hiero] .figures b").first.inner_text())
    assert sum(signed) == pytest.approx(score, abs=0.01 * len(signed))
    view(page, "compare")
    page.select_option("#side-b", label=page.locator("#side-a option").nth(1).inner_text())
    cells = page.locator("tfoot td").all_inner_texts()
    a, b, difference = (number_of(cells[i]) for i in (1, 2, 4))
    assert difference == pytest.approx(a - b, abs=0.011)
    assert "The model prefers A" in page.locator("#view").inner_text()


def test_why_not_another_translation(page, sentence):
    write(page, sentence)
    view(page, "candidates")
    third = page.locator("[data-system=phrase] .pick").nth(2).inner_text()
    view(page, "force")
    own = translation(page, "phrase").inner_text()
    for wanted, verdict in ((own, "same"), (third, "model"), ("der die das", "unreachable")):
        page.locator("[data-system=phrase] form input").fill(wanted)
        page.keyboard.press("Enter")
        page.wait_for_selector(f"[data-system=phrase] [data-verdict={verdict}]")
        drawn = page.locator("[data-system=phrase] svg.picture text.word").all_text_contents()
        assert {*wanted.split()} <= {*drawn}


def number_of(text):
    return float(text.replace("−", "-").replace("+", ""))


def test_the_search_space_is_drawn_and_pruned(page, sentence):
    write(page, sentence)
    view(page, "efforts")
    page.locator("[data-system=phrase] tbody tr").nth(2).wait_for()
    view(page, "space")
    for name in ("phrase", "hiero"):
        nodes = page.locator(f"[data-system={name}] svg.space g[tabindex]")
        nodes.first.wait_for()
        sizes = []
        for place in ("Home", "End"):  # prune nothing, prune everything
            page.locator(f"[data-system={name}] input[aria-label='prune below']").focus()
            page.keyboard.press(place)
            settle(page)
            sizes.append(nodes.count())
        assert sizes[0] > sizes[1] > 1
        assert page.locator(f"[data-system={name}] svg.space g.path").count() == sizes[1]
        nodes.nth(sizes[1] // 2).focus()
        assert page.locator(f"[data-system={name}] .panel li").count() > 0


def test_a_recorded_run_is_shown_and_decoded_with(page, made, sentence):
    write(page, sentence)
    view(page, "run")
    n_rounds = len(read_recorded(made / "tuned").tunings[0].rounds)
    assert page.locator("svg.chart g[role=button]").count() == n_rounds > 1
    page.get_by_role("button", name="Decode with every round").click()
    rows = page.locator("#view [aria-label='Translations by round'] tbody tr")
    rows.nth(n_rounds - 1).wait_for()
    settle(page)
    assert rows.count() == n_rounds
    page.get_by_role("button", name=re.compile("^Round 2")).press("Enter")
    page.get_by_role("button", name="Decode with these weights").click()
    settle(page)
    view(page, "derivation")
    assert "round 2 of tuned" in page.locator("[data-system=phrase] > header").inner_text()
    assert "its own" in page.locator("[data-system=hiero] > header").inner_text()  # it has other features
    assert translation(page, "hiero").inner_text() == next(System.load(made / "hiero").translate([sentence]))


def test_hostile_text_is_shown_and_harmless(page):
    write(page, f"der {EVIL} .", EVIL)
    assert "\\u202egnp.exe" in translation(page, "phrase").inner_text()
    for name in ("derivation", "features", "candidates", "weights", "efforts", "space", "compare", "tables"):
        view(page, name)
        settle(page)
    page.fill("#phrase", EVIL)
    page.keyboard.press("Enter")
    settle(page)
    assert page.title() == "Dragoman explorer"
    assert page.locator("img, main b:text-is('x')").count() == 0


def test_sentences_of_a_text_are_looked_at_one_by_one(page, made):
    lines = sentences_of(made)[:2]
    page.fill("#text", "\n".join(lines))
    page.wait_for_selector("#sentences button")
    settle(page)
    expected = {name: list(System.load(made / name).translate(lines)) for name in ("phrase", "hiero")}
    assert translation(page, "hiero").inner_text() == expected["hiero"][0]
    page.locator("#sentences button").nth(1).click()
    settle(page)
    assert translation(page, "hiero").inner_text() == expected["hiero"][1]
    page.locator("#sentences summary").click()
    page.wait_for_selector("#sentences .card")
    shown = page.locator("#sentences .card p").all_inner_texts()
    assert shown == [*expected["phrase"], *expected["hiero"]]


def test_too_long_a_text_is_explained(browser, address):
    held = OpenPage(browser, address)
    with held as page:
        page.fill("#text", "wort " * 5000)
        page.wait_for_selector(".card .error")
        assert "the maximum is" in page.locator(".card .error").first.inner_text()
        held.wrong.clear()  # Chromium reports status 413 itself


def test_the_keyboard_is_enough(page, sentence):
    page.keyboard.type(sentence)  # the text has the focus
    page.wait_for_selector("[data-translation=hiero]")
    settle(page)
    reach(page, "document.activeElement.role === 'tab'")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-candidates"
    reach(page, "document.activeElement.dataset.key === 'pick phrase 1'")
    page.keyboard.press("Enter")
    settle(page)
    assert page.evaluate("document.activeElement.dataset.key") == "pick phrase 1"
    assert "candidate 2" in page.locator("[data-system=phrase] > header").inner_text()
    page.locator("#tab-derivation").press("Home")
    reach(page, "document.activeElement.matches('g.piece')")
    first = page.locator(".panel .rule").first.inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator(".panel .rule").first.inner_text() != first
    page.keyboard.press("Escape")
    assert page.locator("[data-system=phrase] .panel .rule").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_page_fits_screens_and_schemes(browser, address, sentence, size, scheme):
    with OpenPage(browser, address, size, color_scheme=scheme) as page:
        write(page, sentence, "the old teacher reads .")
        for name in (
            "derivation",
            "features",
            "candidates",
            "weights",
            "efforts",
            "force",
            "space",
            "compare",
            "tables",
            "run",
        ):
            view(page, name)
            settle(page)
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= size[0], (name, width)
        ink, paper = page.evaluate(
            "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        )
        assert contrast(ink, paper) > 7
        assert (luminance(paper) < 0.1) == (scheme == "dark")


def luminance(colour):
    channels = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(share * value for share, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_api_is_described_offline(page, address):
    page.goto(f"{address}docs")
    page.wait_for_selector("section.route")
    assert "POST /api/explain" in page.locator("main").inner_text()
