"""Pictures of derivations and search spaces, and what notebooks show: whole, escaped, and the same as stored."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from tests.kit.fake_runs import explanation, fake_run
from tests.kit.forests import forests
from tests.kit.html_pages import Fragment
from tests.kit.pools import random_pool
from tests.kit.small_systems import make_systems, opened, sentences_of

from dragoman.analysis import compare_runs
from dragoman.features import Weights
from dragoman.forest.drawn import MAX_EDGES, MAX_NODES
from dragoman.optim import Mert
from dragoman.run import RunFolder
from dragoman.tuning import tune_pool
from dragoman.view.drawing import contribution_bar, draw_derivation, explanation_html, text_width

HOSTILE = [
    "</script><script>alert(1)</script>",
    "a\u202eb",
    "[/b]",
    "<img src=x onerror=alert(1)>",
    "\"'><b>",
    "{{7*7}}",
]


def harmless(html):
    fragment = Fragment(html)
    assert {tag for tag, _ in fragment.tags}.isdisjoint({"script", "img", "a", "link", "iframe", "object"})
    for _, attrs in fragment.tags:
        assert not [name for name in attrs if name.startswith("on") or name in {"src", "href"}]
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b]", html)
    return fragment


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_systems(tmp_path_factory.mktemp("drawing"))


def words_of(picture):
    root = ET.fromstring(picture)
    return [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("kind", ["phrase", "hiero"])
def test_a_derivation_shows_all_words_and_links(made, kind):
    system = opened(made, kind)
    for sentence in sentences_of(made)[:5]:
        explained = system.explain(sentence)
        drawn = draw_derivation(json.loads(json.dumps(explained.to_json())))
        words = words_of(drawn)
        source, target = explained.source.split(), explained.text.split()
        assert words[-len(source) - len(target) :] == source + target
        labels = words[: -len(source) - len(target)]
        assert labels == [node.label for node in explained.nodes]
        links = re.findall(r'stroke-width="1.2" d="([^"]+)"', drawn)
        assert sum(path.count("M") for path in links) == len(explained.alignment)
        fragment = harmless(explained._repr_html_())
        assert explained.text in fragment.text
        assert "lm" in fragment.text.split()
    assert system.explain("") is None


def test_unknown_and_dropped_words_are_told_apart():
    shown = explanation("das haus", "the haus")
    shown["pieces"][0]["span"], shown["pieces"][0]["positions"] = [0, 1], [0]
    unknown = {**shown["pieces"][0], "span": [1, 2], "positions": [1], "source": "haus", "target": "haus"}
    unknown["features"] = [{"name": "unknown", "value": 1.0, "weight": -5.0, "contribution": -5.0}]
    shown["pieces"].append(unknown)
    drawn = draw_derivation(shown)
    assert drawn.count("stroke-dasharray") == 1
    assert "copied, because the tables do not know it" in drawn
    # Only the first word of each side has a link.
    assert drawn.count('fill-opacity="0.65"') == 2


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_words(text):
    shown = explanation(text, text)
    shown["features"] = [{"name": text, "value": 1.0, "weight": 2.0, "contribution": 2.0}]
    shown["alignment"] = []
    node = {"label": text, "source": [text], "target": [text], "children": [], "score": 1.0, "piece": 0}
    n_words = len(text.split())
    node |= {"span": [0, n_words], "positions": list(range(n_words))}
    for one in (shown, {**shown, "nodes": [node]}):
        fragment = harmless(explanation_html(one))
        assert text.replace("\u202e", "\ufffd") in fragment.text


@pytest.mark.parametrize(
    "damage",
    [
        {"alignment": [[0, 7]]},
        {"alignment": [[-1, 0]]},
        {"nodes": [{"label": "X", "span": [0, 9], "children": [], "source": [], "target": [], "positions": []}]},
        {"nodes": [{"label": "X", "span": [0, 1], "children": [0], "source": [], "target": [], "positions": []}]},
    ],
)
def test_a_damaged_derivation_is_an_error(damage):
    for node in damage.get("nodes", ()):
        node["score"] = 0.0
    with pytest.raises(ValueError, match=r"outside|before its parent"):
        draw_derivation({**explanation("das haus", "the house"), **damage})


def test_what_is_too_long_is_not_drawn():
    assert draw_derivation(explanation("a " * 151, "b")) is None
    assert draw_derivation(explanation("a " * 150, "b")) is not None
    assert draw_derivation(explanation("", "")) is None
    deep = [
        {"label": "S", "span": [0, 1], "children": [i + 1], "source": [0], "target": [0], "positions": [], "score": 0.0}
        for i in range(40)
    ]
    deep.append({**deep[0], "children": [], "source": ["a"], "target": ["b"], "positions": [0]})
    assert draw_derivation({**explanation("a", "b"), "nodes": deep}) is None
    assert (
        draw_derivation(
            {**explanation("a", "b"), "nodes": [{**n, "children": [i + 1] * (i < 39)} for i, n in enumerate(deep[1:])]}
        )
        is not None
    )


def test_bars_stand_for_contributions():
    wide = {
        value: float(re.search(r"2\.5h([\d.]+)v7", contribution_bar(value, 4.0))[1]) for value in (-4.0, -1.0, 0.0, 2.0)
    }
    assert wide == {-4.0: 50.0, -1.0: 12.5, 0.0: 0.0, 2.0: 25.0}
    assert 'fill-opacity="0"' in contribution_bar(-1.0, 4.0)
    assert 'fill-opacity="0"' not in contribution_bar(1.0, 4.0)


def test_wide_letters_are_wider_and_marks_have_no_width():
    assert text_width("abc") == 3 * text_width("a")
    assert text_width("语言") > 1.5 * text_width("ab")
    assert text_width("e\u0301") == text_width("e")


@given(forests())
def test_a_forest_is_drawn_with_all_nodes_and_edges(forest):
    html = forest._repr_html_()
    harmless(html)
    if forest.n_nodes:
        assert f"{forest.n_nodes:,} nodes, {forest.n_edges:,} edges" in html
        assert html.count('<g class="piece">') == forest.n_nodes + forest.n_edges
        assert html.count("<circle") == forest.n_nodes


def test_a_large_forest_says_its_size_and_can_be_pruned(made):
    system = opened(made, "hiero")
    (forest,) = system.forests(sentences_of(made)[:1])
    assert forest.n_nodes > MAX_NODES
    fragment = harmless(forest._repr_html_())
    assert "<circle" not in forest._repr_html_()
    assert "pruned" in fragment.text
    cells = [int(cell.replace(",", "")) for cell in re.findall(r'<td class="n">([\d,]+)</td>', forest._repr_html_())]
    assert sum(cells[1::3]) == forest.n_nodes
    assert sum(cells[2::3]) == forest.n_edges
    near = forest.pruned(system.weights, -0.1)
    assert near.n_edges <= MAX_EDGES
    assert near._repr_html_().count("<circle") == near.n_nodes


def test_a_comparison_and_a_run_are_shown(tmp_path):
    run = fake_run(tmp_path / "run", rates={"mert": 0.3, "<b>pro": 0.1}, title=HOSTILE[0])
    fragment = harmless(compare_runs([run], n_trials=20)._repr_html_())
    assert "<b>pro" in fragment.text
    with RunFolder.open(tmp_path / "new", {"title": HOSTILE[0], "seed": 1}) as opened_run:
        opened_run.log("decoded", round=1, score=0.25)
        opened_run.log("decoded", round=2, score=0.5)
        shown = harmless(opened_run._repr_html_())
    assert HOSTILE[0] in shown.text
    assert "2: 50.00" in shown.text


def test_what_tuning_did_is_shown():
    pool = random_pool(1)
    record = tune_pool(pool, Mert(n_starts=2), Weights.from_dict({"f0": 1.0}), seed=1)
    fragment = harmless(record._repr_html_())
    assert f"{100 * record.score_after:.2f}" in fragment.text
    assert "(kept)" in fragment.text


def places_of(picture):
    """The place of every word from the left, and how it is read."""
    root = ET.fromstring(picture)
    found = root.iter("{http://www.w3.org/2000/svg}text")
    return {element.text: (float(element.get("x")), element.get("direction")) for element in found}


@pytest.mark.parametrize("kind", ["phrase", "hiero"])
@pytest.mark.parametrize("words", ["והארץ היתה תהו ,", "في البدء خلق الله"])
def test_words_are_drawn_in_their_direction(made, kind, words):
    """Words that the tables lack are copied; those of the embedded corpus are read from left to right."""
    system = opened(made, kind)
    explained = system.explain(words)
    drawn = draw_derivation(explained.to_json())
    found = [places_of(drawn)[word] for word in words.split()]
    assert [place for place, _ in found] == sorted((place for place, _ in found), reverse=True)
    assert {direction for _, direction in found} == {"rtl"}
    left_to_right = places_of(draw_derivation(system.explain("der hund schläft .").to_json()))
    assert left_to_right["der"][0] < left_to_right["hund"][0]
    assert {direction for _, direction in left_to_right.values()} == {None}


def test_a_phrase_from_right_to_left_stands_in_its_box():
    shown = explanation("שלום עולם טוב", "hello world good")
    shown["pieces"][0].update(span=[0, 2], positions=[0, 1], source="שלום עולם", target="hello world")
    drawn = draw_derivation(shown)
    shape = next(re.finditer(r'<path d="M(\d+) \d+H(\d+)V\d+L(\d+) \d+V\d+H(\d+)', drawn))
    left, right, last, first = map(int, shape.groups())
    places = places_of(drawn)
    assert left < places["עולם"][0] < places["שלום"][0] < right
    assert first < places["hello"][0] < places["world"][0] < last
    assert not left < places["טוב"][0] < right


def test_pieces_of_raw_text_are_readable():
    shown = explanation("Haus ￭.", "house ￭.")
    assert words_of(draw_derivation(shown)) == ["Haus", "·.", "house", "·."]
    assert "\uffed" not in explanation_html(shown)
    assert text_width("￭.") == text_width("·.")
