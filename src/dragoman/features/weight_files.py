"""Weight files: ours, Moses' (moses.ini, weight-file, run*.dense, init.opt), cdec's and Joshua's.

A repeated name in a Moses dense file means the next value of that feature: `TM0= 0.1` twice is `TM0_1`,
`TM0_2`, the names that the readers of candidate lists give. Elsewhere a repeated name is an error.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np

from dragoman.errors import InputError, MismatchError, naming
from dragoman.features.binary_weights import read_binary_weights, write_binary_weights
from dragoman.features.index import FeatureIndex
from dragoman.features.table import is_feature_table
from dragoman.features.weights import Weights
from dragoman.settings import takes_text
from dragoman.text import open_output, read_lines
from dragoman.types import PathLike, Paths, one_or_many

__all__ = [
    "MANY_WEIGHTS",
    "InitOpt",
    "WeightFormat",
    "find_weights",
    "is_init_opt",
    "read_init_opt",
    "read_weights",
    "store_weights",
    "unite_weights",
    "write_weights",
]

MANY_WEIGHTS = 1 << 16
"""With more, systems and records have a binary weight file instead of text."""

# What Moses called the features of a section until 2013, in moses.ini and in its candidate lists.
_OLD_SECTIONS = {
    "[weight-d]": "d",
    "[weight-l]": "lm",
    "[weight-t]": "tm",
    "[weight-w]": "w",
    "[weight-generation]": "g",
    "[weight-i]": "I",
}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")


class WeightFormat(Enum):
    """How a weight file is written."""

    TSV = "tsv"  # ours: name TAB value, full precision, '# key: value' headers
    MOSES_INI = "moses"  # sections; [weight] and [weight-file]
    MOSES_DENSE = "moses-dense"  # Name= value, one value a line
    CDEC = "cdec"  # name value; Joshua and Moses' sparse weight files look the same
    BINARY = "binary"  # a FeatureTable; loads in no time however many there are

    @classmethod
    def _missing_(cls, value: object) -> WeightFormat | None:
        return cls.TSV if value == "dragoman" else None  # its first name


@dataclass(frozen=True, slots=True, kw_only=True)
class InitOpt:
    """What Moses' init.opt says: start, lower and upper bound of each feature, in the order of `names`."""

    names: tuple[str, ...]
    start: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]


@takes_text
def read_weights(path: PathLike, *, index: FeatureIndex | None = None, format_: WeightFormat | None = None) -> Weights:
    """Read weights; the format is recognised unless given. Raises InputError, also when there are none.

    The configuration of Joshua and the moses.ini of before 2013 are read too; the latter's features are called as in
    candidate lists of the time, `d`, `lm`, `tm`, `w`. A binary file has them in the column `weight`.
    """
    if format_ is WeightFormat.BINARY or (format_ is None and is_feature_table(path)):
        return read_binary_weights(path, index=index)
    lines = list(enumerate(read_lines(path), start=1))
    if format_ is None and _is_init_opt([line for _, line in lines]):
        raise InputError(
            "three lines of numbers, as Moses' init.opt: they have no names and go with statistics files alone "
            "(tune --stats); expected names and weights, such as run1.dense",
            path=path,
        )
    parse = _recognise([line for _, line in lines]) if format_ is None else _PARSERS[format_]
    pairs = parse(path, lines)
    values: dict[str, float] = {}
    for line, name, value in pairs:
        if name in values:
            raise InputError(f"duplicate feature '{name}'", path=path, line=line)
        values[name] = value
    if not values:
        raise InputError(
            "no weights here; expected lines such as 'name value', or a moses.ini with a [weight] section",
            path=path,
        )
    with naming(path):
        return Weights.from_dict(values, index)


def unite_weights(paths: Paths, *, index: FeatureIndex | None = None) -> Weights:
    """The weights of several files together, such as Moses' dense and sparse ones.

    Raises InputError where a file gives a feature another weight than a file before it.
    """
    paths = one_or_many(paths)
    if len(paths) == 1:
        return read_weights(paths[0], index=index)
    values: dict[str, float] = {}
    for path in paths:
        found = read_weights(path)
        for name in found.index.names(np.arange(len(found.index), dtype=np.int32)):
            if values.setdefault(name, found[name]) != found[name]:
                raise InputError(f"the weight of '{name}' is {found[name]} here and {values[name]} before", path=path)
    return Weights.from_dict(values, index)


@takes_text
def write_weights(
    weights: Weights,
    path: PathLike,
    *,
    format_: WeightFormat | None = None,
    headers: Mapping[str, str] | None = None,
    dense: Collection[str] | None = None,
    template: PathLike | None = None,
) -> None:
    """Write the weights that are not 0; values survive a round trip bit by bit.

    Without a format, a name that ends in `.bin` gets a binary file and others text. `headers` belong to our own
    formats. Moses' formats write all `dense` features (default: all), `Name_1`,
    `Name_2`, ... as the values of `Name`; other features go to `<path>.sparse`, which moses.ini names under
    [weight-file]. `template` is a moses.ini whose other sections are kept.
    """
    if format_ is None:
        format_ = WeightFormat.BINARY if Path(path).suffix == ".bin" else WeightFormat.TSV
    moses = format_ in {WeightFormat.MOSES_INI, WeightFormat.MOSES_DENSE}
    if headers and format_ not in {WeightFormat.TSV, WeightFormat.BINARY}:
        raise ValueError("only our own formats have headers")
    if dense is not None and not moses:
        raise ValueError("only Moses' formats tell dense features apart")
    if template is not None and format_ is not WeightFormat.MOSES_INI:
        raise ValueError("only moses.ini is written from a template")
    if format_ is WeightFormat.BINARY:
        write_binary_weights(weights, path, headers=headers)
        return
    pairs = list(weights.items())
    if format_ is WeightFormat.TSV:
        lines = [*_header_lines(headers or {}), *(f"{name}\t{value!r}" for name, value in pairs)]
        _write(path, lines)
        return
    if spaced := [name for name, _ in pairs if " " in name]:
        raise InputError(f"the feature name '{spaced[0]}' has a space, which {format_.value} files cannot hold")
    if format_ is WeightFormat.CDEC:
        _write(path, (f"{name} {value!r}" for name, value in pairs))
        return
    names = weights.index.names(np.arange(len(weights.index), dtype=np.int32))
    chosen = [(name, weights[name]) for name in names if dense is None or name in dense]
    sparse = [] if dense is None else [(name, value) for name, value in pairs if name not in dense]
    sparse_path = Path(f"{os.fspath(path)}.sparse") if sparse else None
    if sparse_path is not None:
        _write(sparse_path, (f"{name} {value!r}" for name, value in sparse))
    if format_ is WeightFormat.MOSES_INI:
        _write(path, list(_ini_lines(chosen, sparse_path, template)))
    else:
        _write(path, (f"{name}= {value!r}" for name, values in _grouped(chosen) for value in values))


def store_weights(weights: Weights, folder: Path, name: str) -> Path:
    """Write `<name>.tsv`, or `<name>.bin` for more than MANY_WEIGHTS weights, and see that there is one of them."""
    kinds = (".bin", ".tsv") if np.count_nonzero(weights.values) > MANY_WEIGHTS else (".tsv", ".bin")
    path, other = (folder / f"{name}{kind}" for kind in kinds)
    write_weights(weights, path)
    other.unlink(missing_ok=True)
    return path


def find_weights(folder: Path, name: str) -> Path:
    """The file that `store_weights` wrote."""
    binary = folder / f"{name}.bin"
    return binary if binary.exists() else folder / f"{name}.tsv"


def _write(path: PathLike, lines: Iterable[str]) -> None:
    with open_output(path) as output:
        for line in lines:
            output.write(line)


def is_init_opt(path: PathLike) -> bool:
    """Whether a file is Moses' init.opt: three lines of as many numbers."""
    return _is_init_opt(list(read_lines(path)))


def _is_init_opt(lines: Sequence[str]) -> bool:
    rows = [line.split() for line in lines[:100] if line.strip()]
    numbers = all(_NUMBER.match(text) for row in rows for text in row)
    return len(rows) == 3 and numbers and len({len(row) for row in rows}) == 1


def read_init_opt(path: PathLike, names: Sequence[str]) -> InitOpt:
    """Read Moses' init.opt: three lines of numbers in the order of `names` (of the statistics file)."""
    rows = [
        tuple(_number(text, path, number) for text in line.split())
        for number, line in enumerate(read_lines(path), start=1)
        if line.strip()
    ]
    if len(rows) != 3:
        raise InputError(f"{len(rows)} lines, but init.opt has three: start, minimum, maximum", path=path)
    for line, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise MismatchError(f"{len(row)} numbers for {len(names)} features", path=path, line=line)
    start, lower, upper = rows
    for name, low, high in zip(names, lower, upper, strict=True):
        if low > high:
            raise InputError(f"the minimum of '{name}' is above its maximum", path=path, line=2)
    return InitOpt(names=tuple(names), start=start, lower=lower, upper=upper)


def _recognise(lines: list[str]) -> _Parser:
    content = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if any(line in {"[weight]", "[weight-file]"} for line in content):
        return _parse_ini
    if any(line in _OLD_SECTIONS for line in content):
        return _parse_old_ini
    if any("\t" in line for line in lines):
        return _parse_dragoman
    if content and all(re.match(r"\S+=\s*\S+( |\Z)", line) for line in content):
        return _parse_dense
    if any(_is_joshua_setting(line) and not _DENSE.match(line) for line in content):
        return _parse_joshua
    return _parse_dense_and_sparse if any(_DENSE.match(line) for line in content) else _parse_cdec


_JOSHUA_SETTING = re.compile(r"[\w-]+\s*=\s*\S")
_DENSE = re.compile(r"[A-Za-z]\w*=(\s*[-+.\d]\S*)+\Z")
"""A line of Moses' dense weights; names of sparse ones may have or end with =, but have other marks."""
_WEIGHT = re.compile(r"[^\s=]+=[^\s=]+\s+[-+.\d]\S*\Z")
"""A sparse weight whose name has an =."""
_Parsed = Iterable[tuple[int, str, float]]
_Parser = Callable[[PathLike, list[tuple[int, str]]], _Parsed]


def _content(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for number, line in lines:
        if (text := line.strip()) and not text.startswith("#"):
            yield number, text


def _parse_dragoman(path: PathLike, lines: list[tuple[int, str]]) -> _Parsed:
    for number, line in lines:
        name, tab, value = line.rpartition("\t")
        if tab:
            yield number, name, _number(value, path, number)
        elif line.strip() and not line.startswith("#"):
            raise InputError("expected 'name<TAB>value'", path=path, line=number)


def _parse_cdec(path: PathLike, lines: list[tuple[int, str]]) -> _Parsed:
    for number, line in _content(lines):
        parts = line.split()
        if len(parts) != 2:
            raise InputError("expected 'name value'", path=path, line=number)
        yield number, parts[0], _number(parts[1], path, number)


def _parse_joshua(path: PathLike, lines: list[tuple[int, str]]) -> _Parsed:
    """Joshua's configuration: weights are `name value`, settings `name = value`."""
    return _parse_cdec(path, [(number, line) for number, line in lines if not _is_joshua_setting(line.strip())])


def _is_joshua_setting(line: str) -> bool:
    return _JOSHUA_SETTING.match(line) is not None and _WEIGHT.match(line) is None


def _parse_dense(path: PathLike, lines: list[tuple[int, str]]) -> _Parsed:
    found: dict[str, list[tuple[int, float]]] = {}
    for number, line in _content(lines):
        name, values = _assignment(line, path, number)
        found.setdefault(name, []).extend((number, value) for value in values)
    return _numbered(found)


def _parse_dense_and_sparse(path: PathLike, lines: list[tuple[int, str]]) -> _Parsed:
    """Both of Moses' files in one: lines `Name= value ...` and lines `name value`."""
    is_dense = [_DENSE.match(line.strip()) is not None for _, line in lines]
    dense, sparse = (
        [line for line, mine in zip(lines, is_dense, strict=True) if mine is kind] for kind in (True, False)
    )
    return [*_parse_dense(path, dense), *_parse_cdec(path, sparse)]


def _parse_ini(path: PathLike, lines: list[tuple[int, str]]) -> _Parsed:
    section = ""
    dense: dict[str, list[tuple[int, float]]] = {}
    sparse: list[tuple[int, str, float]] = []
    for number, line in _content(lines):
        if line.startswith("[") and line.endswith("]"):
            section = line
        elif section == "[weight]":
            name, values = _assignment(line, path, number)
            if name in dense:
                raise InputError(f"duplicate feature '{name}'", path=path, line=number)
            dense[name] = [(number, value) for value in values]
        elif section == "[weight-file]":
            file = _weight_file(Path(path), line)
            sparse.extend(_parse_cdec(file, list(enumerate(read_lines(file), start=1))))
    return [*_numbered(dense), *sparse]


def _parse_old_ini(path: PathLike, lines: list[tuple[int, str]]) -> _Parsed:
    found: dict[str, list[tuple[int, float]]] = {}
    section = ""
    for number, line in _content(lines):
        if line.startswith("["):
            section = line
        elif name := _OLD_SECTIONS.get(section):
            found.setdefault(name, []).extend((number, _number(text, path, number)) for text in line.split())
    return _numbered(found)


def _weight_file(ini: Path, name: str) -> Path:
    """As Moses does, from where we are; or beside the moses.ini, which may have been moved together with it."""
    beside = ini.parent / Path(name).name
    return beside if not Path(name).exists() and beside.exists() else Path(name)


_PARSERS: Mapping[WeightFormat, _Parser] = {
    WeightFormat.TSV: _parse_dragoman,
    WeightFormat.CDEC: _parse_cdec,
    WeightFormat.MOSES_DENSE: _parse_dense,
    WeightFormat.MOSES_INI: _parse_ini,
}


def _numbered(found: Mapping[str, list[tuple[int, float]]]) -> Iterator[tuple[int, str, float]]:
    for name, values in found.items():
        for place, (line, value) in enumerate(values, start=1):
            yield line, name if len(values) == 1 else f"{name}_{place}", value


def _assignment(line: str, path: PathLike, number: int) -> tuple[str, list[float]]:
    match = re.match(r"(\S+?)=\s+(.*)\Z", line) or re.match(r"(\S+)=(\S+)\Z", line)
    if match is None:
        raise InputError("expected 'Name= value ...'", path=path, line=number)
    return match[1], [_number(text, path, number) for text in match[2].split()]


def _number(text: str, path: PathLike, line: int) -> float:
    text = text.strip()
    if not _NUMBER.match(text) or not math.isfinite(value := float(text)):
        raise InputError(f"'{text}' is not a finite number", path=path, line=line)
    return value


def _header_lines(headers: Mapping[str, str]) -> Iterator[str]:
    for key, value in headers.items():
        if any(char in key + value for char in "\t\n\r"):
            raise ValueError(f"the header {key!r} has a tab or a line end")
        yield f"# {key}: {value}"


def _grouped(pairs: Sequence[tuple[str, float]]) -> list[tuple[str, list[float]]]:
    """`Name_1` ... `Name_N` (two or more, none missing) as the values of `Name`; other names stand alone."""
    stems: dict[str, dict[int, float]] = {}
    for name, value in pairs:
        stem, _, place = name.rpartition("_")
        if stem and place.isascii() and place.isdecimal() and not place.startswith("0"):
            stems.setdefault(stem, {})[int(place)] = value
    groups = {stem: v for stem, v in stems.items() if len(v) > 1 and sorted(v) == list(range(1, len(v) + 1))}
    result: dict[str, list[float]] = {}
    for name, value in pairs:
        stem, _, place = name.rpartition("_")
        if stem in groups and place.isdecimal() and int(place) in groups[stem]:
            result[stem] = [groups[stem][i] for i in range(1, len(groups[stem]) + 1)]
        else:
            result[name] = [value]
    return list(result.items())


def _ini_lines(
    dense: Sequence[tuple[str, float]], sparse_path: Path | None, template: PathLike | None
) -> Iterator[str]:
    section = ""
    for line in read_lines(template) if template is not None else ():
        if line.strip().startswith("["):
            section = line.strip()
        if section not in {"[weight]", "[weight-file]"}:
            yield line
    yield "[weight]"
    for name, values in _grouped(dense):
        yield f"{name}= " + " ".join(repr(value) for value in values)
    if sparse_path is not None:
        yield ""
        yield "[weight-file]"
        # Moses looks for it from where it was started, not from the folder of the moses.ini.
        yield str(sparse_path)
