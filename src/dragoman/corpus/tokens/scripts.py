"""Scripts and languages: which letters are written without spaces, and what language a text or a file name tells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from dragoman.text.letters import UNSPACED, UNSPACED_SIGNS
from dragoman.types import PathLike

__all__ = [
    "CLUSTER",
    "UNSPACED",
    "UNSPACED_LANGUAGES",
    "UNSPACED_SIGNS",
    "check_language",
    "guess_language",
    "is_unspaced",
    "language_of_file",
]

_JOINED = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u0f90-\u0fbc"
CLUSTER = re.compile(rf".[{_JOINED}\u102b-\u103e\u17b4-\u17d3\u3099\u309a\ufe00-\ufe0f]*", re.DOTALL)
"""A letter of such a script with the signs that belong to it."""

_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff\uff66-\uff9f]"),
    "zh": re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"),
    "ko": re.compile("[\u1100-\u11ff\uac00-\ud7af]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "lo": re.compile("[\u0e80-\u0eff]"),
    "my": re.compile("[\u1000-\u109f]"),
    "km": re.compile("[\u1780-\u17ff]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "ru": re.compile("[\u0400-\u052f]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "bn": re.compile("[\u0980-\u09ff]"),
    "ta": re.compile("[\u0b80-\u0bff]"),
    "am": re.compile("[\u1200-\u137f]"),
    "ka": re.compile("[\u10a0-\u10ff]"),
    "hy": re.compile("[\u0530-\u058f]"),
}
_LETTER = re.compile(r"[^\W\d_]")
_THREE = {
    "deu": "de", "ger": "de", "eng": "en", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it", "por": "pt",
    "nld": "nl", "dut": "nl", "rus": "ru", "zho": "zh", "chi": "zh", "cmn": "zh", "jpn": "ja", "kor": "ko",
    "swa": "sw", "swh": "sw", "swc": "sw", "hau": "ha", "heb": "he", "ara": "ar", "hin": "hi", "tha": "th", "ces": "cs",
    "cze": "cs", "pol": "pl", "tur": "tr", "ukr": "uk", "ell": "el", "gre": "el", "fin": "fi", "swe": "sv", "dan": "da",
}  # fmt: skip
_KNOWN = (
    "af am ar as az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr ht "
    "hu hy id ig is it ja jv ka kk km kn ko ku ky lb lo lt lv mg mi mk ml mn mr ms mt my nb ne nl nn no "
    "ny om or pa pl ps pt qu ro ru rw sd si sk sl sm sn so sq sr st su sv sw ta te tg th ti tk tl tn tr "
    "ts tt ug uk ur uz vi wo xh yi yo zh zu"
)
_CODES = frozenset(_KNOWN.split())
UNSPACED_LANGUAGES = frozenset({"zh", "ja", "th", "lo", "my", "km", "bo"})
_RUN = re.compile(f"[{UNSPACED}]+")
_ENDINGS = {".gz", ".xz", ".zst", ".bz2"}


def is_unspaced(word: str) -> bool:
    """Whether all letters of a word are of scripts without spaces."""
    return _RUN.fullmatch(word) is not None


def check_language(code: str) -> bool:
    """Whether this may be the code of a language: two or three letters."""
    return code.isascii() and code.isalpha() and 2 <= len(code) <= 3


def language_of_file(path: PathLike) -> str | None:
    """The language that a file name ends with, as in `train.de`, `dev.deu.xz` or `test.en.0`; None if none."""
    parts = [part for part in Path(path).name.split(".")[1:] if f".{part}" not in _ENDINGS and not part.isdigit()]
    code = parts[-1].lower() if parts else ""
    code = _THREE.get(code, code)
    return code if code in _CODES else None


def guess_language(lines: Iterable[str], files: Sequence[PathLike] = ()) -> str | None:
    """The language of a text by its script; one of several that share a script by the name of a file. None: unknown."""
    text = " ".join(lines)
    found = Counter({code: len(script.findall(text)) for code, script in _SCRIPTS.items()})
    if found["ja"] > 0.05 * (found["ja"] + found["zh"]):
        found["ja"] += found.pop("zh")
    (code, n_letters), *_ = found.most_common(1)
    named = next((name for name in map(language_of_file, files) if name is not None), None)
    if n_letters * 2 < len(_LETTER.findall(text)):
        return named  # Latin, or a script that tells no language
    return code if named is None or code in UNSPACED_LANGUAGES else named
