"""Fields of a request as LibreTranslate's clients send them: in the address, as JSON, as a form or in its parts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl

from dragoman.errors import InputError
from dragoman.view.serve.limits import check_unicode

__all__ = ["read_fields"]

_MOST = 1000
"""Fields of a form."""
_HOW = "send q, source and target as JSON, as form fields or in the address; /docs says more"


def read_fields(query: str, kind: str, body: bytes) -> dict[str, Any]:
    """The fields of the address and of the body, by its Content-Type `kind`; those of the body come first.

    A field that comes several times is a list. Raises InputError for a body that cannot be read.
    """
    found = _body(kind, body) if body.strip() else {}
    fields = {**_grouped(_pairs(query)), **found}
    check_unicode(fields)
    return fields


def _body(kind: str, body: bytes) -> dict[str, Any]:
    name = kind.split(";")[0].strip().lower()
    if name == "multipart/form-data":
        return _grouped(_parts(kind, body))
    if name == "application/x-www-form-urlencoded" and not body.lstrip().startswith(b"{"):
        return _grouped(_pairs(_text(body)))
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the body is neither JSON nor a form ({error}); {_HOW}") from error
    if not isinstance(data, dict):
        raise InputError(f"the body is JSON, but no object; {_HOW}")
    return data


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST, errors="strict")
    except UnicodeDecodeError as error:
        raise InputError(f"a field is not UTF-8; {_HOW}") from error
    except ValueError as error:
        raise InputError(f"there are more than {_MOST} fields; send the texts in parts") from error


def _parts(kind: str, body: bytes) -> Iterable[tuple[str, str]]:
    """Names and texts of the parts of a form."""
    message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind.encode("latin-1") + b"\r\n\r\n" + body)
    if not message.is_multipart() or message.defects:
        raise InputError(f"the parts of the form cannot be told apart by the boundary of its Content-Type; {_HOW}")
    parts = list(message.iter_parts())
    if len(parts) > _MOST:
        raise InputError(f"there are more than {_MOST} fields; send the texts in parts")
    for part in parts:
        name = part.get_param("name", header="content-disposition")
        if not isinstance(name, str) or not name:
            raise InputError(f"a part of the form has no name; {_HOW}")
        if part.get_filename() is not None:
            raise InputError(f"{name[:100]}: files are not translated; send their text in q")
        content = part.get_payload(decode=True)
        yield name, _text(content if isinstance(content, bytes) else b"")


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"a field is not UTF-8; {_HOW}") from error


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}
