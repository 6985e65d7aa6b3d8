"""The explorer's API: what it answers, and what it refuses."""

from __future__ import annotations

import json
import re
import socket
from importlib.resources import files

import numpy as np
import pytest
from tests.kit.small_systems import sentences_of

from dragoman.errors import FailedError, InputError
from dragoman.features import Weights
from dragoman.forest import ForestArrays
from dragoman.metric import Bleu as BleuMetric
from dragoman.metric import Chrf, SentenceBleu, Ter
from dragoman.system import Preset, System
from dragoman.system.lookup import look_up
from dragoman.view.serve import Explorer, Limits
from dragoman.view.serve.drawing import draw_space
from dragoman.view.serve.explorer import Search
from dragoman.view.serve.server import open_socket

NAMES = ("phrase", "hiero")


@pytest.mark.parametrize("name", NAMES)
def test_candidates_are_those_of_the_decoder(explorer, made, sentence, name):
    found = explorer.explain(Search(system=name, text=sentence), k=10)
    system = System.load(made / name)
    pool = system.kbest([sentence], 10, distinct=True)
    shard = pool.shards[0]
    assert [item["tokens"] for item in found["candidates"]] == [pool.text(shard, c) for c in range(len(shard.totals))]
    assert [item["score"] for item in found["candidates"]] == pytest.approx(shard.totals.tolist(), abs=1e-5)
    assert found["candidates"][0]["text"] == next(system.translate([sentence]))
    for item in found["candidates"]:
        total = sum(found["weights"].get(key, 0.0) * value for key, value in item["features"].items())
        assert total == pytest.approx(item["score"], abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_every_candidate_is_explained(explorer, sentence, name):
    for number in (0, 3):
        found = explorer.explain(Search(system=name, text=sentence), k=5, candidate=number)
        told = found["explanation"]
        assert told["text"] == found["candidates"][number]["tokens"]
        assert told["score"] == pytest.approx(found["candidates"][number]["score"], abs=1e-4)
        assert ("nodes" in told) == (name == "hiero")
    with pytest.raises(InputError, match="there is no candidate 5; choose one from 0 to 4"):
        explorer.explain(Search(system=name, text=sentence), k=5, candidate=5)


def test_metrics_are_those_of_the_sentence(explorer, sentence):
    found = explorer.explain(Search(system="phrase", text=sentence), k=4, reference="the house is old .")
    for item in found["candidates"]:
        pair = [item["tokens"]], [["the house is old ."]]
        bleu = SentenceBleu().score(BleuMetric().text_statistics(*pair))[0]
        assert item["metrics"]["bleu"] == pytest.approx(100 * bleu)
        assert item["metrics"]["chrf"] == pytest.approx(100 * Chrf().score_of(Chrf().text_statistics(*pair))[0])
        assert item["metrics"]["ter"] == pytest.approx(100 * Ter().score_of(Ter().text_statistics(*pair))[0])
    assert explorer.score("phrase", [found["candidates"][0]["tokens"]], "the house is old .") == [
        found["candidates"][0]["metrics"]
    ]


def test_changed_weights_are_decoded_with(explorer, made, sentence):
    system = System.load(made / "phrase")
    weights = system.weights.copy()
    weights["lm"], weights["words"] = 0.0, 3.0
    found = explorer.explain(Search(system="phrase", text=sentence, weights={"lm": 0.0, "words": 3.0}), k=1)
    assert found["candidates"][0]["tokens"] == next(system.translate([sentence], weights=weights))
    assert explorer.explain(Search(system="phrase", text=sentence), k=1)["weights"]["words"] == 1.0
    with pytest.raises(InputError, match="phrase has no feature 'nothing'"):
        explorer.explain(Search(system="phrase", text=sentence, weights={"nothing": 1.0}))
    zeros = {entry["name"]: 0.0 for entry in explorer.about()["systems"][0]["features"]}
    with pytest.raises(InputError, match="all weights are 0"):
        explorer.explain(Search(system="phrase", text=sentence, weights=zeros))


def test_more_search_is_not_worse_here(explorer, sentence):
    search = Search(system="phrase", text=sentence)
    opened = explorer.opened("phrase")
    shown = opened.search(sentence, Preset.DEFAULT)
    rows = explorer.efforts(search)
    anew = opened.search(sentence, Preset.DEFAULT)  # its time compares with those of the other efforts
    assert anew is not shown
    assert [row["decode_ms"] for row in rows if row["effort"] == "default"] == [1000 * anew.decode_s]
    assert [row["effort"] for row in rows] == [preset.value for preset in Preset]
    assert rows[0]["score"] <= rows[2]["score"] + 1e-6
    assert rows[0]["n_edges"] < rows[2]["n_edges"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("threshold", "n_edges"), [(0.0, 10**6), (0.01, 150), (1.0, 150), (0.0, 1)])
def test_drawn_edges_form_derivations(explorer, made, sentence, name, threshold, n_edges):
    system = System.load(made / name)
    forest = system.decode(sentence)
    drawn = draw_space(forest, system.weights, threshold=threshold, n_edges=n_edges)
    heads = {edge["head"] for edge in drawn["edges"]}
    tails = {tail for edge in drawn["edges"] for tail in edge["tails"]}
    assert tails <= heads
    assert len(drawn["nodes"]) == len(heads)
    best = forest.best(system.weights)
    on_path = [edge for edge in drawn["edges"] if edge["best"]]
    assert 0 < len(on_path) <= len(best.applications)
    assert sum(len(edge["tails"]) for edge in on_path) >= len(on_path) - 1
    assert all(0 <= edge["posterior"] <= 1 for edge in drawn["edges"])
    if threshold == 1.0:
        assert all(edge["best"] for edge in drawn["edges"] if edge["posterior"] < 1)
    if n_edges == 10**6:  # everything: the goal's edges share all of the probability
        goal = {edge["head"] for edge in drawn["edges"]} - tails
        assert sum(edge["posterior"] for edge in drawn["edges"] if edge["head"] in goal) == pytest.approx(1, abs=1e-6)
        assert len(drawn["edges"]) <= forest.n_edges


def test_posteriors_are_those_of_all_derivations(explorer, made):
    """Of a short sentence whose derivations can be listed."""
    system = System.load(made / "phrase")
    sentence = sentences_of(made)[0].split()[0]
    forest = system.decode(sentence)
    every = forest.kbest(system.weights, 100_000)
    shares = np.exp(every.totals - forest.expected_features(system.weights).log_total)
    assert shares.sum() == pytest.approx(1, abs=1e-6)
    expected = np.zeros(forest.n_edges)
    for c, share in enumerate(shares):
        expected[np.unique(every.edges_of(c))] += share
    drawn = draw_space(forest, system.weights, threshold=0.0, n_edges=10**6)
    assert sum(edge["posterior"] for edge in drawn["edges"]) == pytest.approx(expected.sum(), abs=1e-5)
    assert len(ForestArrays.of(forest.core).rules) > 1


@pytest.mark.parametrize("name", NAMES)
def test_a_wanted_translation_is_judged(explorer, ask, made, sentence, name):
    system = System.load(made / name)
    found = explorer.explain(Search(system=name, text=sentence), k=3)["candidates"]
    for target, verdict in ((found[0]["text"], "same"), (found[2]["text"], "model"), ("unheard of", "unreachable")):
        body = {"system": name, "text": sentence, "target": target}
        told = ask("POST", "/api/force", json=body).json()
        expected = system.force(sentence, target)
        assert (told["verdict"], told["reason"]) == (verdict, expected.reason())
        assert told["texts"] == {"given": target, "own": found[0]["text"]}
        assert sum(item["contribution"] for item in told["differences"]) == pytest.approx(told["score_difference"])
    for wrong, status in (({"target": " "}, 400), ({"target": "a " * 500}, 413), ({"target": 3}, 422)):
        assert ask("POST", "/api/force", json={"system": name, "text": sentence, **wrong}).status_code == status


def test_lookup_is_that_of_the_command(explorer, made):
    found = explorer.look_up("phrase", "der", n_targets=3, n_sentences=1)
    expected = look_up(System.load(made / "phrase"), "der", n_targets=3, n_sentences=1)
    assert [row["target"] for row in found["rows"]] == [row.target for row in expected.rows]
    assert found["rows"][0]["sentences"]
    with pytest.raises(InputError, match="empty"):
        explorer.look_up("phrase", "  ")


def test_memory_is_bounded(made, sentence):
    """The index of a system that answers for long starts anew; search spaces are forgotten."""
    small = Explorer.load([made / "hiero"], limits=Limits(grown_features=50, kept_spaces=3))
    opened = small.systems["hiero"]
    sizes, first = [], opened.view
    for source in sentences_of(made):
        small.explain(Search(system="hiero", text=source), k=3)
        sizes.append(len(opened.view.index))
        assert len(opened._kept) <= 3
    assert opened.view is not first
    assert max(sizes) <= opened._n_start + 50
    before = len(opened.view.index)
    small.translate("hiero", sentence)
    assert len(opened.view.index) == before
    again = small.explain(Search(system="hiero", text=sentence), k=3)
    whole = Explorer.load([made / "hiero"]).explain(Search(system="hiero", text=sentence), k=3)
    assert [item["tokens"] for item in again["candidates"]] == [item["tokens"] for item in whole["candidates"]]


def test_two_systems_of_one_name(made):
    assert list(Explorer.load([made / "phrase", made / "phrase"]).systems) == ["phrase", "phrase-2"]


def test_the_api_answers(ask, explorer, sentence):
    about = ask("GET", "/api/about").json()
    assert [system["name"] for system in about["systems"]] == list(NAMES)
    assert all(entry["meaning"] for system in about["systems"] for entry in system["features"])
    assert ask("GET", "/api/run").json() is None
    text = f"{sentence}\n\n{sentence}"
    found = ask("POST", "/api/translate", json={"text": text}).json()["translations"]
    assert found == {name: explorer.translate(name, text) for name in NAMES}
    assert found["phrase"].split("\n")[1] == ""
    body = {"system": "hiero", "text": sentence}
    told = ask("POST", "/api/explain", json={**body, "k": 3}).json()
    assert len(told["candidates"]) == 3
    assert ask("POST", "/api/forest", json=body).json()["edges"]
    assert len(ask("POST", "/api/efforts", json=body).json()["efforts"]) == 3
    assert ask("POST", "/api/lookup", json={"system": "hiero", "phrase": "der"}).json()["rows"]
    scored = ask("POST", "/api/score", json={"system": "hiero", "hypotheses": ["a b", "a"], "reference": "a b"}).json()
    assert scored["scores"][0]["chrf"] == pytest.approx(100)
    empty = ask("POST", "/api/explain", json={"system": "hiero", "text": " \n"}).json()
    assert empty["candidates"] == []
    assert empty["explanation"] is None
    second = ask("POST", "/api/explain", json={**body, "text": f"der\n{sentence}", "sentence": 1, "k": 3}).json()
    assert second["candidates"] == told["candidates"]


def test_the_description_names_every_route_and_stays_at_home(ask):
    api = ask("GET", "/openapi.json").json()
    assert {"/api/translate", "/api/explain", "/api/force", "/api/forest", "/api/score", "/translate"} <= {
        *api["paths"]
    }
    for path, methods in api["paths"].items():
        for route in methods.values():
            refused = [content for status, content in route["responses"].items() if status != "200"]
            schemas = {content["content"]["application/json"]["schema"]["$ref"] for content in refused}
            assert schemas == {"#/components/schemas/Refusal"}, path
    fields = api["paths"]["/translate"]["post"]["requestBody"]["content"]
    assert {*fields["multipart/form-data"]["schema"]["properties"]} == {"q", "source", "target", "format"}
    for page in ("/", "/docs"):
        answer = ask("GET", page)
        assert answer.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        named = re.findall(r'(?:src|href)="([^"#]+)"', answer.text)
        assert named
        assert all(ask("GET", address).status_code == 200 for address in named)


def test_the_files_of_the_page_ask_nobody_else():
    for entry in (files("dragoman.view.serve") / "static").iterdir():
        text = entry.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|//[a-z]+\.[a-z]+|innerHTML|insertAdjacent|eval\(|document\.write", text), entry
        assert len(text.splitlines()) < 400
        for imported in re.findall(r'from "\./([^"]+)"', text):
            assert (files("dragoman.view.serve") / "static" / imported).is_file()


def test_weights_of_another_index_are_taken(explorer):
    opened = explorer.systems["phrase"]
    other = Weights.from_dict({"lm": 1.0, "rule_id:unheard of": 2.0})
    found = opened.search("der", Preset.DEFAULT, base=other, base_name="other")
    assert found.weights["lm"] == 1.0
    assert found.weights["words"] == 0.0
    assert json.dumps(opened.name)


def test_the_socket_is_for_this_machine_and_sends_at_once():
    listening = open_socket(0)
    with listening:
        host, port = listening.getsockname()
        assert host == "127.0.0.1"
        assert listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert listening.proto == socket.IPPROTO_TCP
        with pytest.raises(FailedError, match=f"port {port} of 127.0.0.1 cannot be used: .*; choose another"):
            open_socket(port)
