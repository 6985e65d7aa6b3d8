"""LibreTranslate's routes of the explorer."""

from __future__ import annotations


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


def in_parts(fields):
    """A multipart body, as `curl -F` and FormData send it."""
    return {"files": [(name, (None, value)) for name, value in fields.items()]}


def test_fields_come_in_the_address_as_a_form_or_in_parts(ask, explorer):
    text = "der hund & die katze + ä"
    one = {"translatedText": explorer.translate("phrase", text)}
    fields = {"q": text, "source": "de", "target": "en"}
    for sent in ({"params": fields}, {"json": fields}, {"data": fields}, in_parts(fields)):
        assert ask("POST", "/translate", **sent).json() == one, sent
        assert ask("POST", "/detect", **sent).json()[0]["confidence"] > 0
    split = {"source": "de", "target": "fr"}
    rest = {"q": text, "target": "en"}
    for sent in ({"json": rest}, {"data": rest}, in_parts(rest)):
        assert ask("POST", "/translate", params=split, **sent).json() == one
    both = ask("POST", "/translate", data={"q": [text, text], "source": "de", "target": "en"}).json()
    assert both == {"translatedText": [one["translatedText"]] * 2}
    lines = ask("POST", "/translate", **in_parts({**fields, "q": "der hund\ndie katze"})).json()["translatedText"]
    assert lines == explorer.translate("phrase", "der hund\ndie katze")


def test_fields_that_cannot_be_read_are_refused(ask):
    boundary = {"Content-Type": "multipart/form-data; boundary=x"}
    for sent, what in (
        ({"content": b"--y\r\n\r\na\r\n--y--", "headers": boundary}, "boundary"),
        ({"content": b"q=a", "headers": {"Content-Type": "multipart/form-data"}}, "boundary"),
        ({"content": b"--x\r\n\r\na\r\n--x--\r\n", "headers": boundary}, "no name"),
        ({"files": {"q": ("a.txt", b"der")}}, "files are not translated"),
        ({"files": {"q": (None, b"\xff")}}, "UTF-8"),
        ({"content": b"q=%ff", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}, "UTF-8"),
        ({"params": {"q": "der", "source": "de"}}, "target: expected the code of a language"),
        ({"content": b"q=der", "headers": {"Content-Type": "text/plain"}}, "neither JSON nor a form"),
        ({"data": {str(i): "a" for i in range(1001)}}, "1000 fields"),
    ):
        answer = ask("POST", "/translate", **sent)
        assert answer.status_code == 400, sent
        assert what in answer.json()["error"]
