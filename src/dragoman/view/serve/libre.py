"""LibreTranslate's routes, so that its clients work: /translate, /languages, /detect."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from dragoman.errors import InputError
from dragoman.text import split_tokens
from dragoman.view.serve.explorer import Explorer
from dragoman.view.serve.fields import read_fields
from dragoman.view.serve.opened import OpenedSystem

__all__ = ["add_libre_routes", "detect", "system_for"]

UNKNOWN = "und"
"""The code of a language that a system does not know (ISO 639: undetermined)."""
_FIELDS: dict[str, dict[str, Any]] = {
    "q": {
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
        "description": "Text, or a list of texts.",
    },
    "source": {"type": "string", "description": "Code of its language, or auto."},
    "target": {"type": "string", "description": "Code of the language wanted."},
    "format": {"type": "string", "default": "text", "description": "Only text is supported."},
}
_KINDS = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
Run = Callable[[Callable[[], Any]], Awaitable[Any]]


def add_libre_routes(app: FastAPI, explorer: Explorer, run: Run) -> None:
    """Fields stand in the address, in JSON or in a form; errors are `{"error": "…"}`; there are no keys."""

    @app.post("/translate", tags=["LibreTranslate"], openapi_extra=_body("q", "source", "target", "format"))
    async def translate(request: Request) -> JSONResponse:
        """`q` (text or a list of texts), `source` (a code or `auto`), `target`, `format` (`text`)."""
        fields = await _fields(request)
        return JSONResponse(await run(lambda: _translate(explorer, fields)))

    @app.post("/detect", tags=["LibreTranslate"], openapi_extra=_body("q"))
    async def detect_language(request: Request) -> JSONResponse:
        """The source languages of the systems by the share of the words of `q` that their tables know."""
        fields = await _fields(request)
        return JSONResponse(await run(lambda: detect(explorer, _texts(fields)[0])))

    @app.get("/languages", tags=["LibreTranslate"])
    async def languages() -> list[dict[str, Any]]:
        """Source languages, each with the languages it is translated into."""
        targets: dict[str, list[str]] = {}
        for opened in explorer.systems.values():
            source, target = _codes(opened)
            targets.setdefault(source, []).append(target)
        return [{"code": code, "name": code, "targets": sorted(set(found))} for code, found in targets.items()]


def _body(*names: str) -> dict[str, Any]:
    """What OpenAPI says of a body that has some fields, all of them needed that have no default."""
    required = [name for name in names if "default" not in _FIELDS[name]]
    schema = {"type": "object", "required": required, "properties": {name: _FIELDS[name] for name in names}}
    return {"requestBody": {"content": {kind: {"schema": schema} for kind in _KINDS}}}


def system_for(explorer: Explorer, source: str, target: str) -> OpenedSystem:
    """The first system of a language pair; one that does not know its languages fits any pair.

    Raises InputError if none fits.
    """
    found = [
        opened
        for opened in explorer.systems.values()
        if all(own in (UNKNOWN, code) for own, code in zip(_codes(opened), (source, target), strict=True))
    ]
    if not found:
        pairs = sorted({"-".join(_codes(opened)) for opened in explorer.systems.values()})
        raise InputError(
            f"{source[:20]}-{target[:20]} is not supported; choose {' or '.join(pairs)}, as /languages says"
        )
    return found[0]


def detect(explorer: Explorer, text: str) -> list[dict[str, Any]]:
    """Source languages of the systems, the most probable first; confidence in percent."""
    explorer.limits.check_text(text)
    shares: dict[str, float] = {}
    for opened in explorer.systems.values():
        vocab = opened.system.grammar.source_vocab
        words = [word for _, tokens in opened.sentences(text) for word in split_tokens(tokens)]
        unknown = vocab.encode("<unk>")[0]
        known = sum(int(vocab.encode(word)[0] != unknown) for word in words)
        code = _codes(opened)[0]
        shares[code] = max(shares.get(code, 0.0), 100 * known / max(1, len(words)))
    ordered = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
    return [{"language": code, "confidence": round(share, 1)} for code, share in ordered]


def _translate(explorer: Explorer, fields: Mapping[str, Any]) -> dict[str, Any]:
    texts = _texts(fields)
    source, target = (_code(fields, name) for name in ("source", "target"))
    if fields.get("format", "text") != "text":
        raise InputError("format: only 'text' is supported; take the text out of the markup first")
    found = detect(explorer, "\n".join(texts))[0] if source == "auto" else None
    opened = system_for(explorer, found["language"] if found else source, target)
    lines = [line for text in texts for line in text.split("\n")]
    explorer.limits.check_text("\n".join(texts))
    done = iter(opened.translate(lines))
    out = ["\n".join(next(done) for _ in text.split("\n")) for text in texts]
    single = isinstance(fields["q"], str)
    answer: dict[str, Any] = {"translatedText": out[0] if single else out}
    if found:
        answer["detectedLanguage"] = found if single else [found] * len(texts)
    return answer


def _texts(fields: Mapping[str, Any]) -> Sequence[str]:
    asked = fields.get("q")
    texts = [text for text in (asked if isinstance(asked, list) else [asked]) if isinstance(text, str)]
    if not texts or (isinstance(asked, list) and len(texts) < len(asked)):
        raise InputError("q: expected a text or a list of texts; send what to translate in q")
    return texts


def _code(fields: Mapping[str, Any], name: str) -> str:
    code = fields.get(name)
    if not isinstance(code, str) or not code:
        known = "de (or auto)" if name == "source" else "en"
        raise InputError(f"{name}: expected the code of a language, such as {known}; /languages lists them")
    return code


def _codes(opened: OpenedSystem) -> tuple[str, str]:
    text = opened.system.settings.text
    return text.source_language or UNKNOWN, text.target_language or UNKNOWN


async def _fields(request: Request) -> dict[str, Any]:
    """Fields of the address and of the body."""
    kind = request.headers.get("content-type", "")
    return read_fields(request.url.query, kind, await request.body())
