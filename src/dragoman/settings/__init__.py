"""Settings: frozen dataclasses read from typed values, from TOML and from `NAME=VALUE` items of a command line.

A field can be set if its type is a number, a flag, text, an enumeration, a list (`tuple[T, ...]`), a fixed tuple, a
table (`Mapping[str, T]`), another such dataclass, or a union of these with None. Metadata of a field (`about`) may
say its resolved default, its greatest value, and that a nested record"s fields stand beside those of the outer one.
"""

from dragoman.settings.convert import convert, from_values
from dragoman.settings.describe import Setting, describe, plain
from dragoman.settings.fields import about, settable
from dragoman.settings.items import key_path, parse_bytes, parse_settings, parse_value
from dragoman.settings.kinds import listed, shown
from dragoman.settings.record import Record, takes_text

__all__ = [
    "Record",
    "Setting",
    "about",
    "convert",
    "describe",
    "from_values",
    "key_path",
    "listed",
    "parse_bytes",
    "parse_settings",
    "parse_value",
    "plain",
    "settable",
    "shown",
    "takes_text",
]
