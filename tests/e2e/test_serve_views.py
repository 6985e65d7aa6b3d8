"""Views of the explorer page: scripts from right to left, pieces of raw systems, sets before and after, phones."""

from __future__ import annotations

import pytest
from tests.kit.browser import open_browser
from tests.kit.served import PHONE, OpenPage, make_served, reach, serving, settle, translation, view, write
from tests.kit.small_raw import write_raw_splits
from tests.kit.small_systems import sentences_of

from dragoman.system import System, SystemSettings, TrainConfig, train
from dragoman.view.serve import read_recorded

HEBREW = "והארץ היתה תהו ובהו"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = make_served(tmp_path_factory.mktemp("views"))
    (folder / "text").mkdir()
    write_raw_splits(folder / "text", 200, 5, 0, seed=3)
    config = TrainConfig(settings=SystemSettings(n_folds=2))
    train(folder / "text" / "train.de", folder / "text" / "train.en", folder / "raw", config=config)
    return folder


@pytest.fixture(scope="module")
def browser():
    with open_browser() as found:
        yield found


@pytest.fixture(scope="module")
def address(made, browser):
    with serving(made, ("phrase", "hiero", "raw", "--run", "tuned")) as address:
        yield address


@pytest.fixture
def page(browser, address):
    with OpenPage(browser, address) as found:
        yield found


def places(page, selector, words):
    """The middle of each word of a picture, from the left."""
    drawn = page.locator(selector)
    found = {drawn.nth(i).text_content(): drawn.nth(i).bounding_box() for i in range(drawn.count())}
    return [found[word]["x"] + found[word]["width"] / 2 for word in words]


def test_hebrew_is_drawn_from_right_to_left(page, sentence):
    """Words that the tables lack are copied, so that both sides are Hebrew."""
    write(page, HEBREW)
    words = HEBREW.split()
    for name in ("phrase", "hiero"):
        for side in (0, 1):
            row = f"[data-system={name}] svg.picture text.word >> nth={side * 0}"
            assert page.locator(row).get_attribute("direction") == "rtl"
        found = places(page, f"[data-system={name}] svg.picture text.word", words)
        assert found == sorted(found, reverse=True)
    view(page, "space")
    page.locator("[data-system=hiero] svg.space").wait_for()
    found = places(page, "[data-system=hiero] svg.space > text", words)
    assert found == sorted(found, reverse=True)
    labels = places(page, "[data-system=phrase] svg.space > text", ["0", "end"])
    assert labels[0] > labels[1]
    view(page, "derivation")
    page.fill("#text", sentence)
    settle(page)
    found = places(page, "[data-system=hiero] svg.picture text.word", dict.fromkeys(sentence.split()))
    assert found[0] < found[-1]


@pytest.fixture(scope="module")
def sentence(made):
    return max(sentences_of(made), key=len)


def test_pieces_of_a_raw_system_are_readable_and_looked_up(page, made):
    raw = (made / "text" / "dev.de").read_text(encoding="utf-8").split("\n")[0]
    for name in ("phrase", "hiero"):
        page.uncheck(f"input[value={name}]", force=True)
    page.check("input[value=raw]", force=True)
    write(page, raw)
    assert translation(page, "raw").inner_text() == next(System.load(made / "raw").translate([raw]))
    drawn = page.locator("[data-system=raw] svg.picture text.word").all_text_contents()
    assert any(word.startswith("·") for word in drawn)
    assert "\uffed" not in page.locator("body").inner_text()
    view(page, "tables")
    glued = page.locator("[aria-label='Phrases of the sentence'] button", has_text="·").first
    label = glued.inner_text()
    glued.click()
    page.wait_for_selector("#view tbody tr")
    assert page.input_value("#phrase") == label
    page.locator("#view summary").first.click()
    assert page.locator("#view mark").count() > 0
    assert "\uffed" not in page.locator("#view").inner_text()
    page.locator("#phrase").press("Enter")  # what the form shows is found again
    settle(page)
    assert page.locator("#view tbody tr").count() > 0


def test_the_sets_before_and_after_tuning(page, made):
    run = read_recorded(made / "tuned")
    view(page, "run")
    for one in run.sets:
        rows = page.locator(f"[aria-label='Scores of the {one.name}'] tbody tr")
        for i, score in enumerate(one.scores):
            cells = rows.nth(i).locator("td").all_inner_texts()
            assert cells[0].startswith(score.label)
            assert cells[1:3] == [f"{score.before:.2f}", f"{score.after:.2f}"]
    changed = run.sets[0].sentences[0]
    page.locator("#view .sets summary").first.click()
    page.get_by_role("button", name="Look at it").first.press("Enter")
    settle(page)
    assert (page.input_value("#text"), page.input_value("#reference")) == (changed.source, changed.reference)
    assert translation(page, "phrase").inner_text() == changed.before
    assert page.evaluate("document.activeElement.id") == "text"


def test_systems_come_and_go_at_once(page, sentence):
    write(page, sentence)
    for name in ("phrase", "hiero", "raw"):
        page.uncheck(f"input[value={name}]", force=True)
    assert page.locator(".card").count() == 0
    assert "No system is chosen" in page.locator("#view").inner_text()
    page.check("input[value=hiero]", force=True)
    page.wait_for_selector("[data-translation=hiero]")
    assert page.locator(".notice").count() == 0
    page.fill("#text", "")
    settle(page)
    assert page.locator("[data-translation]").count() == 0


def test_a_way_through_the_views_is_offered_before_anything_is_typed(page, made):
    names = page.locator(".guide button").all_inner_texts()
    assert ("Model error" in names, "Search error" in names, "What tuning did" in names) == (True, True, True)
    reach(page, "document.activeElement.textContent === 'Search error'")
    page.keyboard.press("Enter")
    settle(page)
    source, reference = read_recorded(made / "tuned").examples[0]
    assert (page.input_value("#text"), page.input_value("#reference")) == (source, reference)
    assert page.locator("#tab-efforts").get_attribute("aria-selected") == "true"
    assert page.evaluate("document.activeElement.id") == "tab-efforts"
    assert page.locator(".guide").count() == 0
    page.locator("[data-system=phrase] .notice").wait_for()


def test_a_held_slider_stays_under_the_pointer(page, made, sentence):
    """An answer that comes while another slider is held is drawn once that is let go."""
    page.uncheck("input[value=hiero]", force=True)
    page.uncheck("input[value=raw]", force=True)
    write(page, sentence)
    view(page, "weights")
    start = System.load(made / "phrase").weights["lm"]
    waiting = []
    page.route("**/api/explain", lambda route: route.continue_() if waiting else waiting.append(route))
    page.locator("[data-feature=words]").press("ArrowRight")
    page.wait_for_timeout(100)
    slider = page.locator("[data-feature=lm]").element_handle()
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2, steps=3)
    assert len(waiting) == 1
    waiting[0].continue_()
    settle(page)
    assert slider.evaluate("slider => slider.isConnected")
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2, steps=3)
    page.mouse.up()
    page.wait_for_selector("[data-system=phrase] > header :text('decoded in')")
    settle(page)
    assert page.locator("li.changed").count() == 2
    assert float(page.locator("[data-feature=lm]").input_value()) > start


def test_text_as_people_write_it_is_offered_as_a_system_of_tokens_takes_it(page, sentence):
    people = f"{sentence.removesuffix(' .').upper()}."
    write(page, people)
    told = page.locator("[data-system=phrase] [data-copied]")
    assert people.split()[-1] in told.inner_text()
    assert page.locator("[data-system=phrase] g.piece.copied").count() == sum(word != "," for word in people.split())
    assert page.locator("[data-system=raw] [data-key=suggestion]").count() == 0  # it takes text as people write it
    page.locator("[data-system=hiero] [data-key=suggestion]").click()
    settle(page)
    assert page.input_value("#text") == sentence
    assert page.locator("[data-system=phrase] g.piece.copied").count() < 5
    assert page.locator("[data-key=suggestion]").count() == 0
    page.fill("#reference", "The old teacher reads the book.")
    page.locator("[data-system=phrase] [data-key='suggested reference']").click()
    settle(page)
    assert page.input_value("#reference") == "the old teacher reads the book ."
    assert page.locator("[data-key='suggested reference']").count() == 0


def test_small_scores_have_digits(page, sentence):
    """A tuning may leave small weights; what candidates differ in is not 0.00 then."""
    page.uncheck("input[value=hiero]", force=True)
    page.uncheck("input[value=raw]", force=True)
    for number in ("0.0000123", "0"):
        text = f"import('/static/dom.js').then((dom) => [dom.digitsFor({number}), dom.number(-{number})])"
        assert page.evaluate(text) == [6 if float(number) else 2, "0.00"]
    page.route("**/api/explain", scaled)
    write(page, sentence)
    view(page, "candidates")
    lower = page.locator("[data-system=phrase] tbody tr td:nth-child(2)").all_inner_texts()[1:]
    assert len(lower) > 5
    assert "0.00" not in lower
    assert not any(set(text) <= set("−0.") for text in lower[3:])


def scaled(route):
    """The answer with scores and weights a hundredth as large."""
    answer = route.fetch()
    found = answer.json()
    found["weights"] = {name: weight / 100 for name, weight in found["weights"].items()}
    for candidate in found["candidates"]:
        candidate["score"] /= 100
    route.fulfill(response=answer, json=found)


def test_the_translation_stays_in_sight_while_weights_move(browser, address, sentence):
    with OpenPage(browser, address, PHONE) as page:
        write(page, sentence)
        view(page, "weights")
        page.locator("[data-system=phrase] [data-feature=reorder_fwd_d]").scroll_into_view_if_needed()
        page.mouse.wheel(0, 300)
        page.wait_for_timeout(300)
        slider = page.locator("[data-system=phrase] [data-feature=reorder_bwd_d]").bounding_box()
        said = translation(page, "phrase").bounding_box()
        assert 0 <= said["y"] < slider["y"] < PHONE[1]


def test_why_not_asks_about_the_reference_of_now(page, sentence):
    write(page, sentence, "the book .")
    view(page, "force")
    wanted = page.locator("[data-system=phrase] form input")
    assert wanted.input_value() == "the book ."
    wanted.press("Enter")
    page.wait_for_selector("[data-system=phrase] [data-verdict]")
    page.fill("#reference", "another book .")
    settle(page)
    assert wanted.input_value() == "another book ."
    wanted.fill("my own words")
    page.fill("#reference", "a third book .")
    settle(page)
    assert wanted.input_value() == "my own words"


def test_long_lists_open_by_the_keyboard(page, sentence):
    write(page, sentence)
    view(page, "candidates")
    rows = page.locator("[data-system=hiero] tbody tr")
    assert rows.count() == 12
    reach(page, "document.activeElement.dataset.key === 'all hiero'", 120)
    page.keyboard.press("Enter")
    assert rows.count() == 50
    assert page.evaluate("document.activeElement.dataset.key") == "pick hiero 12"


def test_tables_of_features_have_room_on_a_phone(browser, address, sentence):
    with OpenPage(browser, address, PHONE) as page:
        write(page, sentence, "the old teacher reads .")
        for name in ("features", "candidates", "compare", "run"):
            view(page, name)
            settle(page)
            tables = page.locator("#view .scroll:has(.contributions, .candidates)")
            assert tables.count() > 0
            for i in range(tables.count()):
                assert tables.nth(i).evaluate("box => box.scrollWidth <= box.clientWidth"), (name, i)
            tab = page.locator(f"#tab-{name}").bounding_box()
            assert 0 <= tab["x"] <= tab["x"] + tab["width"] <= PHONE[0]
