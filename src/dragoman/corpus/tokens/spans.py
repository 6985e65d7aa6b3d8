"""Spans of a line that are no words of a language: addresses, paths, placeholders, tags, numbers. They stay whole."""

from __future__ import annotations

import re

from dragoman.corpus.tokens.scripts import UNSPACED, UNSPACED_SIGNS

__all__ = ["MASKS", "NUMBER", "SPAN", "hide_blanks", "is_span", "number_of", "show_blanks"]

_BLANK = "\u2420"
"""Stands for a space inside a tag, so that the tag is one token."""
_WORD = rf"[^\W{UNSPACED}]"
"""Letters, digits, underscores; what is in a script without spaces is text that stands beside a span."""
_TEXT = rf"\s<>\"“”„«»{UNSPACED}{UNSPACED_SIGNS}"
_IN_BRACKETS = rf"\([^(){_TEXT}]*\)"
# Bounded: a long run of such characters would be scanned to its end from each of them.
_ADDRESS = (
    rf"(?:[A-Za-z][A-Za-z0-9+.-]{{0,30}}://|www\.)(?:[^({_TEXT}]|{_IN_BRACKETS}|\((?![^(){_TEXT}]*\)))*"
    rf"(?:[^\W{UNSPACED}]|[/#=&~-]|{_IN_BRACKETS})"
)
_MAIL = rf"(?:{_WORD}|[.+-]){{0,63}}{_WORD}@{_WORD}(?:{_WORD}|-)*(?:\.{_WORD}(?:{_WORD}|-)*)+"
_PATH = rf"(?<!{_WORD})(?<![/.<])(?:~|\.{{1,2}}|[A-Z]:)?(?:(?:/|\\\\?)(?:{_WORD}|[.+@%~#*-])*(?:{_WORD}|[*~]))+/?"
_PRINTF = (
    r"(?<![\d%])%(?:%|\(\w+\)[a-zA-Z]"
    r"|(?:\d+\$)?[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|ll|[hlLzjtq])?[diouxXeEfFgGaAcsSpnm@]|L?\d+)(?:%%)?"
)
_BRACES = r"\$?\{\{?[^\s{}]*\}\}?"
_DOLLAR = rf"\$(?:[A-Za-z_]{_WORD}*|\d(?![\d.,]*\d))"
_ESCAPE = r"\\[nrtvfab0-9\"']|&(?:[A-Za-z]\w*|#\d+|#x[0-9A-Fa-f]+);|@[A-Za-z_][\w-]*@"
_OPTION = rf"(?<![^\s(\[{{\"'“‘„«{UNSPACED}])--[A-Za-z](?:[A-Za-z0-9_-]*[A-Za-z0-9_])"
_CALL = (
    rf"(?<!{_WORD})(?<![.:>$])[A-Za-z_][A-Za-z0-9_]{{0,63}}(?:(?:::|->|\.)[A-Za-z_][A-Za-z0-9_]{{0,63}}){{0,8}}"
    rf"\((?:[1-8][a-z]{{0,2}})?\)(?!{_WORD})"
)
"""A function, or a manual page, as `strtok()`, `std::sort()`, `printf(3)`."""
_TAG = rf"</?[A-Za-z][\w:.-]*(?:[{_BLANK}]+[\w:.-]+(?:=(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s<>\"'{_BLANK}]+))?)*[{_BLANK}]*/?>"
_LINK = f"<(?:{_ADDRESS}|{_MAIL})>"
SPAN = "|".join((_TAG, _LINK, _ADDRESS, _MAIL, _PATH, _PRINTF, _BRACES, _DOLLAR, _ESCAPE, _OPTION, _CALL))
"""What no translation may change, as a pattern without groups that capture."""
MASKS = "\U000f0000-\U000ffffd"
"""Letters that stand for a part of a line whose translation is fixed, as the content of a character class."""
NUMBER = r"\d+(?:[.,:/’]\d+)*"

_WITH_BLANKS = re.compile(_TAG.replace(f"[{_BLANK}]", r"\s").replace(_BLANK, ""))
_IS_SPAN = re.compile(SPAN)
_IS_NUMBER = re.compile(NUMBER)
_NO_DIGIT = re.compile(r"\D")


def is_span(token: str) -> bool:
    """Whether a token without glue is such a span; numbers are none."""
    return _IS_SPAN.fullmatch(token) is not None


def number_of(token: str) -> str | None:
    """The digits of a number of two digits or more, however they are grouped; None for anything else."""
    digits = _NO_DIGIT.sub("", token) if token[:1].isdigit() and _IS_NUMBER.fullmatch(token) else ""
    return digits if len(digits) > 1 else None


def hide_blanks(line: str) -> str:
    """The line with the spaces inside its tags replaced, so that a tag has none."""
    if "<" not in line:
        return line
    return _WITH_BLANKS.sub(lambda found: re.sub(r"\s", _BLANK, found.group()), line)


def show_blanks(token: str) -> str:
    """A token as it stood in the line."""
    return token.replace(_BLANK, " ") if token.startswith("<") and token.endswith(">") else token
