"""The explorer's API: what it answers, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import math
import re
import socket
from importlib.resources import files

import httpx
import numpy as np
import pytest

from dragoman.errors import FailedError, InputError
from dragoman.features import Weights
from dragoman.forest import ForestArrays
from dragoman.metric import Bleu as BleuMetric
from dragoman.metric import Chrf, SentenceBleu, Ter
from dragoman.serve import Explorer, Limits
from dragoman.serve.api import make_app
from dragoman.serve.drawing import draw_space
from dragoman.serve.explorer import Search
from dragoman.serve.server import open_socket
from dragoman.system import Preset, System
from dragoman.system.lookup import look_up
from small_systems import make_systems, sentences_of

NAMES = ("phrase", "hiero")
EVIL = "</script><img src=x onerror=alert(1)>\u202egnp.exe\u0007"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_systems(tmp_path_factory.mktemp("serve"), n_folds=2)


@pytest.fixture(scope="module")
def explorer(made):
    return Explorer.load([made / name for name in NAMES], limits=Limits(tokens=60, timeout_s=20))


@pytest.fixture(scope="module")
def sentence(made):
    return max(sentences_of(made), key=len)


@pytest.fixture(scope="module")
def ask(explorer):
    """One request to the application, without a network."""
    app = make_app(explorer)

    def run(method, path, **more):
        async def request():
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
                return await client.request(method, path, **more)

        return asyncio.run(request())

    return run


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
    with pytest.raises(InputError, match="there is no candidate 5; the list has 5"):
        explorer.explain(Search(system=name, text=sentence), k=5, candidate=5)


def test_metrics_are_those_of_the_sentence(explorer, sentence):
    found = explorer.explain(Search(system="phrase", text=sentence), k=4, reference="the house is old .")
    for item in found["candidates"]:
        pair = [item["tokens"]], [["the house is old ."]]
        bleu = SentenceBleu().score(BleuMetric().text_statistics(*pair))[0]
        assert item["metrics"]["bleu"] == pytest.approx(100 * bleu)
        assert item["metrics"]["chrf"] == pytest.approx(100 * Chrf().score(Chrf().text_statistics(*pair))[0])
        assert item["metrics"]["ter"] == pytest.approx(100 * Ter().score(Ter().text_statistics(*pair))[0])
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
    rows = explorer.efforts(Search(system="phrase", text=sentence))
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
    shares = np.exp(every.totals - forest.log_total(system.weights))
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
    for page in ("/", "/docs"):
        answer = ask("GET", page)
        assert answer.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        named = re.findall(r'(?:src|href)="([^"#]+)"', answer.text)
        assert named
        assert all(ask("GET", address).status_code == 200 for address in named)


def test_the_files_of_the_page_ask_nobody_else():
    for entry in (files("dragoman.serve") / "static").iterdir():
        text = entry.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|//[a-z]+\.[a-z]+|innerHTML|insertAdjacent|eval\(|document\.write", text), entry
        assert len(text.splitlines()) < 400
        for imported in re.findall(r'from "\./([^"]+)"', text):
            assert (files("dragoman.serve") / "static" / imported).is_file()


def test_libretranslate_clients_are_answered(ask, explorer, sentence):
    one = explorer.translate("phrase", sentence)
    fields = {"q": sentence, "source": "de", "target": "en", "format": "text", "api_key": ""}
    assert ask("POST", "/translate", json=fields).json() == {"translatedText": one}
    assert ask("POST", "/translate", data=fields).json() == {"translatedText": one}
    many = ask("POST", "/translate", json={**fields, "q": [sentence, "", f"{sentence}\n{sentence}"]}).json()
    assert many == {"translatedText": [one, "", f"{one}\n{one}"]}
    found = ask("POST", "/translate", json={**fields, "source": "auto"}).json()
    assert found["translatedText"] == one
    assert found["detectedLanguage"]["confidence"] > 50
    assert ask("GET", "/languages").json()[0]["targets"]
    assert ask("POST", "/detect", json={"q": "qwertz asdf"}).json()[0]["confidence"] == 0
    for wrong in ({"q": 3}, {"q": []}, {"q": [1]}, {"source": None}, {"format": "html"}, {"target": ""}):
        answer = ask("POST", "/translate", json={**fields, **wrong})
        assert answer.status_code == 400
        assert answer.json()["error"]
    for body in (b"", b"[1]", b"\xff", b"{" * 10_000, b"[" * 100_000):
        assert ask("POST", "/translate", content=body).status_code == 400


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "a@127.0.0.1", "127.0.0.1:x", "[::1", "127.0.0.1/x"]
)
def test_other_hosts_are_refused(ask, host):
    answer = ask("GET", "/api/about", headers={"Host": host})
    assert answer.status_code == 403
    assert "host" in answer.json()["error"]


def test_our_hosts_are_not(ask):
    for host in ("127.0.0.1:8765", "localhost", "localhost:1", "[::1]:8765", "LOCALHOST:80"):
        assert ask("GET", "/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "https://127.0.0.1:8765", "http://127.0.0.1:1", "x"])
def test_other_origins_are_refused(ask, origin):
    answer = ask("POST", "/api/translate", json={"text": "a"}, headers={"Origin": origin})
    assert answer.status_code == 403
    own = ask("POST", "/api/translate", json={"text": "der"}, headers={"Origin": "http://127.0.0.1:8765"})
    assert own.status_code == 200


def test_what_is_too_large_is_refused(ask, sentence):
    body = {"system": "phrase", "text": sentence}
    assert ask("POST", "/api/explain", json={**body, "text": "a" * (1 << 20)}).status_code == 413
    assert ask("POST", "/api/explain", content=iter_bytes(b"x" * 100_000, 5)).status_code == 413
    for text, what in (("x " * 9_999, "tokens"), ("a" * 20_001, "characters"), ("a\n" * 2_000, "lines")):
        for path in ("/api/explain", "/api/forest", "/api/efforts"):
            answer = ask("POST", path, json={**body, "text": text})
            assert answer.status_code == 413, (path, what)
            assert what in answer.json()["error"]
        translated = ask("POST", "/translate", json={"q": text, "source": "de", "target": "en"})
        assert (translated.status_code, what in translated.json()["error"]) == (413, True)
    assert ask("POST", "/api/explain", json={**body, "k": 10**6}).status_code == 413
    assert ask("POST", "/api/explain", json={**body, "reference": "a" * 20_001}).status_code == 413
    assert ask("POST", "/api/lookup", json={"system": "phrase", "phrase": "a " * 500}).status_code == 413


async def iter_bytes(block, n):
    for _ in range(n):
        yield block


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": 3},
        {"text": None},
        {"system": ["phrase"]},
        {"sentence": -1},
        {"sentence": "a"},
        {"effort": "much"},
        {"k": 0},
        {"k": 1.5},
        {"weights": {"lm": "x"}},
        {"weights": {"lm": None}},
        {"weights": [1]},
        {"unknown_field": 1},
        {"round": {"tuning": "a"}},
    ],
    ids=str,
)
def test_wrong_types_are_named(ask, wrong):
    answer = ask("POST", "/api/explain", json={"system": "phrase", "text": "der", **wrong})
    assert answer.status_code == 422
    assert next(iter(wrong)) in answer.json()["error"]


def test_what_is_not_there_is_named(ask):
    for wrong, what in (
        ({"system": "../../etc/passwd"}, "there is no system"),
        ({"sentence": 7}, "there is no sentence 7"),
        ({"round": {"tuning": "a", "number": 1}}, "start it with --run"),
        ({"weights": {"\u202e": 1}}, "no feature"),
    ):
        answer = ask("POST", "/api/explain", json={"system": "phrase", "text": "der", **wrong})
        assert answer.status_code == 400
        assert what in answer.json()["error"]
    infinite = ask("POST", "/api/explain", content=b'{"system": "phrase", "text": "der", "weights": {"lm": 1e999}}')
    assert infinite.status_code == 422
    not_json = ask("POST", "/api/explain", content=b"{", headers={"Content-Type": "application/json"})
    assert not_json.status_code == 422


def test_half_a_character_is_refused(ask):
    """JSON may name half of a surrogate pair; no UTF-8 holds it."""
    half = b'"der \\ud800 ."'
    for path, body in (
        ("/api/explain", b'{"system": "phrase", "text": %s}'),
        ("/api/explain", b'{"system": "phrase", "text": "der", "weights": {%s: 1}}'),
        ("/api/lookup", b'{"system": "hiero", "phrase": %s}'),
        ("/api/score", b'{"system": "hiero", "hypotheses": [%s], "reference": "a"}'),
        ("/translate", b'{"q": %s, "source": "de", "target": "en"}'),
        ("/detect", b'{"q": %s}'),
    ):
        answer = ask("POST", path, content=body % half, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 422)
        assert "surrogate" in answer.json()["error"]


@pytest.mark.parametrize(
    "path",
    [
        "/static/../api.py",
        "/static/..%2fapi.py",
        "/static/%2e%2e/__init__.py",
        "/static//etc/passwd",
        "/etc/passwd",
        "/static/",
        "/static/nothing.js",
    ],
)
def test_paths_do_not_leave_the_page(ask, path):
    assert ask("GET", path).status_code == 404


def test_corpus_text_is_never_markup(ask):
    """Words that look like markup or turn text around come back as they are, in JSON, and nowhere as HTML."""
    answer = ask("POST", "/api/explain", json={"system": "phrase", "text": f"der {EVIL} .", "reference": EVIL})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    found = answer.json()
    assert "</script><img" in found["explanation"]["source"]
    assert math.isfinite(found["candidates"][0]["score"])
    missing = ask("GET", "/static/%3C%2Fscript%3E%3Cimg%20src=x%3E")
    assert missing.headers["content-type"] == "application/json"
    assert EVIL not in ask("POST", "/api/explain", json={"system": EVIL * 100, "text": "a"}).text


def test_waiting_requests_are_limited(made):
    busy = Explorer.load([made / "phrase"], limits=Limits(workers=1, waiting=2))
    app = make_app(busy)

    async def many():
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            body = {"system": "phrase", "text": "der"}
            return await asyncio.gather(*(client.post("/api/explain", json=body) for _ in range(12)))

    statuses = [answer.status_code for answer in asyncio.run(many())]
    assert {200, 503} == {*statuses}


def test_a_search_ends_in_time(made):
    hurried = Explorer.load([made / "hiero"], limits=Limits(timeout_s=0.02, tokens=150))
    words = " ".join(sentences_of(made)).split()[:140]
    app = make_app(hurried)

    async def ask():
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post(
                "/api/explain", json={"system": "hiero", "text": " ".join(words), "effort": "accurate"}
            )

    answer = asyncio.run(ask())
    assert answer.status_code == 504
    assert "longer than" in answer.json()["error"]


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
