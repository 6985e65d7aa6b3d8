"""What the explorer's API refuses, and what it says then."""

from __future__ import annotations

import asyncio
import math
import re

import httpx
import pytest
from tests.kit.asking import asking
from tests.kit.small_systems import sentences_of

from dragoman.system import System
from dragoman.system.explain import explain
from dragoman.system.force import force
from dragoman.view.serve import Explorer, Limits
from dragoman.view.serve.api import make_app

NAMES = ("phrase", "hiero")
EVIL = "</script><img src=x onerror=alert(1)>\u202egnp.exe\u0007"


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


def test_pages_of_other_sites_may_link_but_not_load(ask):
    for site, mode, status in (
        ("cross-site", "no-cors", 403),
        ("cross-site", "cors", 403),
        ("same-site", "no-cors", 403),
        ("cross-site", "navigate", 200),
        ("same-origin", "cors", 200),
        ("none", "navigate", 200),
    ):
        answer = ask("GET", "/api/examples", headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode})
        assert answer.status_code == status, (site, mode)
    assert "another site" in ask("GET", "/", headers={"Sec-Fetch-Site": "cross-site"}).json()["error"]


@pytest.mark.parametrize("system", NAMES)
def test_weights_without_a_finite_score_are_refused(ask, sentence, system):
    body = {"system": system, "text": sentence}
    for weights in ({"lm": 1e308, "words": -1e308}, {"lm": 1e308}, {"words": -1e101}):
        for path, more in (("explain", {}), ("efforts", {}), ("forest", {}), ("force", {"target": "the house"})):
            answer = ask("POST", f"/api/{path}", json={**body, **more, "weights": weights})
            assert answer.status_code == 400, (path, weights)
            assert "no finite score" in answer.json()["error"]
    found = ask("POST", "/api/explain", json={**body, "weights": {"lm": 1e100, "words": -1e100}}).json()
    assert found["candidates"]
    assert math.isfinite(found["candidates"][0]["score"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "too many arrays or objects in each other"),
        (b'{"system": "\xff"}', "not UTF-8 (byte 12)"),
    ],
)
def test_bodies_that_are_no_json_say_why(ask, body, message):
    answer = ask("POST", "/api/explain", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_what_is_too_large_is_refused(ask, sentence):
    body = {"system": "phrase", "text": sentence}
    assert ask("POST", "/api/explain", json={**body, "text": "a" * (1 << 20)}).status_code == 413
    assert ask("POST", "/api/explain", content=iter_bytes(b"x" * 100_000, 5)).status_code == 413
    for text, what in (("x " * 9_999, "tokens"), ("a" * 20_001, "characters"), ("a\n" * 2_000, "lines")):
        for path in ("/api/explain", "/api/forest", "/api/efforts"):
            answer = ask("POST", path, json={**body, "text": text})
            assert answer.status_code == 413, (path, what)
            assert what in answer.json()["error"]
        lines = ask("POST", "/api/translate", json={"text": text})
        assert (lines.status_code, what in lines.json()["error"]) == (413, True)
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


WAYS = {
    "/api/explain": {"system": "hiero"},
    "/api/forest": {"system": "hiero"},
    "/api/force": {"system": "hiero", "target": "the book"},
    "/api/translate": {"systems": ["hiero"]},
}


@pytest.mark.parametrize("path", WAYS)
def test_a_search_ends_in_time(made, path):
    hurried = Explorer.load([made / "hiero"], limits=Limits(timeout_s=0.02, tokens=150))
    words = " ".join(sentences_of(made)).split()[:140]
    answer = asking(hurried)("POST", path, json={**WAYS[path], "text": " ".join(words), "effort": "accurate"})
    assert answer.status_code == 504
    assert re.search("longer than 0.0[24] s; .*choose the effort fast", answer.json()["error"])


@pytest.mark.parametrize("ask_system", ["explain", "force", "translate", "translate_linked"])
def test_every_search_can_be_stopped(made, ask_system):
    class StoppedError(Exception):
        pass

    def stop(_):
        raise StoppedError

    system = System.load(made / "hiero")
    sentence = " ".join(sentences_of(made)[:3])
    asked = {
        "explain": lambda: explain(system.translator, sentence, system.weights, progress=stop),
        "force": lambda: force(system.translator, sentence, "the book", system.weights, progress=stop),
        "translate": lambda: list(system.translate([sentence], progress=stop)),
        "translate_linked": lambda: system.translate_linked(sentence, progress=stop),
    }
    with pytest.raises(StoppedError):
        asked[ask_system]()


DER = {"system": "phrase", "text": "der"}
LIBRE = {"q": "der", "source": "de", "target": "en"}
REFUSALS = [
    ("GET", "/nothing", {}, 404, "/docs lists the routes"),
    ("GET", "/static/nothing.js", {}, 404, "/docs lists the routes"),
    ("GET", "/translate", {}, 405, "ask with POST"),
    ("GET", "/api/about", {"headers": {"Host": "evil.example"}}, 403, "forward its port"),
    ("GET", "/api/about", {"headers": {"Origin": "http://evil.example"}}, 403, "open http://127.0.0.1:8765/ instead"),
    ("GET", "/api/about", {"headers": [("Origin", "a"), ("Origin", "b")]}, 400, "send it once"),
    ("POST", "/api/explain", {"content": b"x" * (1 << 19)}, 413, "Send the text in parts"),
    ("POST", "/api/explain", {"json": {**DER, "text": "a" * 20_001}}, 413, "Send it in parts"),
    ("POST", "/api/explain", {"json": {**DER, "text": "a\n" * 1_001}}, 413, "Send it in parts"),
    ("POST", "/api/explain", {"json": {**DER, "text": "a " * 151}}, 413, "End sentences, or break lines"),
    ("POST", "/api/explain", {"json": {**DER, "k": 201}}, 413, "k must be from 1 to 200"),
    ("POST", "/api/explain", {"json": {"text": "der"}}, 422, "system is missing; give it"),
    ("POST", "/api/explain", {"json": {**DER, "n": 1}}, 422, "/docs lists its fields"),
    ("POST", "/api/explain", {"json": {**DER, "k": "many"}}, 422, "/docs says what is expected"),
    ("POST", "/api/explain", {"json": [1]}, 422, "send an object"),
    ("POST", "/api/explain", {"content": b"{", "headers": {"Content-Type": "application/json"}}, 422, "not JSON"),
    ("POST", "/api/explain", {"json": {**DER, "system": "a"}}, 400, "there are phrase, hiero"),
    ("POST", "/api/explain", {"json": {**DER, "candidate": 199}}, 400, "choose one from 0"),
    ("POST", "/api/explain", {"json": {**DER, "sentence": 9}}, 400, "choose one from 0 to 0"),
    ("POST", "/api/efforts", {"json": {**DER, "text": " "}}, 400, "give one with words"),
    ("POST", "/api/explain", {"json": {**DER, "weights": {"x": 1}}}, 400, "choose one of its candidates' features"),
    ("POST", "/api/explain", {"json": {**DER, "round": {"tuning": "a", "number": 1}}}, 400, "start it with --run"),
    ("POST", "/api/force", {"json": {**DER, "target": " "}}, 400, "give one in target"),
    ("POST", "/api/lookup", {"json": {"system": "phrase", "phrase": " "}}, 400, "give words"),
    ("POST", "/translate", {"json": {**LIBRE, "q": 3}}, 400, "send what to translate in q"),
    ("POST", "/translate", {"json": {**LIBRE, "source": ""}}, 400, "/languages lists them"),
    ("POST", "/translate", {"json": {**LIBRE, "format": "html"}}, 400, "take the text out of the markup"),
    ("POST", "/translate", {"content": b"x"}, 400, "send q, source and target"),
]


@pytest.mark.parametrize(
    ("method", "path", "sent", "status", "advice"),
    REFUSALS,
    ids=[f"{path} {advice}" for _, path, *_, advice in REFUSALS],
)
def test_every_refusal_says_what_to_do(ask, method, path, sent, status, advice):
    answer = ask(method, path, **sent)
    assert (answer.status_code, set(answer.json())) == (status, {"error"})
    assert advice in answer.json()["error"]
