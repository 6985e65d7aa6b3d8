"""Import and export of Moses' files: phrase table, reordering table, ARPA model, moses.ini."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.errors import InputError
from dragoman.features import WeightFormat, read_weights
from dragoman.grammar import Grammar, PhraseExtraction, Reordering, ReorderingKind
from dragoman.grammar.phrase_tables import read_tables, write_tables
from dragoman.search import PhraseFeatures
from dragoman.system.foreign import MOSES_SCORES, MOSES_UNKNOWN, ForeignTables, find_one
from dragoman.system.phrase import start_weights
from dragoman.system.settings import PhraseSettings
from dragoman.system.stages import Monitor
from dragoman.text import open_output, read_lines
from dragoman.types import PathLike, Progress

if TYPE_CHECKING:
    from dragoman.system.system import System

__all__ = ["export", "find_tables", "read_distortion_limit", "read_ini", "read_kind"]


def find_tables(folder: Path, settings: PhraseSettings, stated: frozenset[str]) -> ForeignTables:
    """Look for phrase-table*, reordering-table*, *.arpa* (or lm*) and moses.ini (or *.ini).

    What kind of model the reordering table holds is said by the settings where they state it, else by moses.ini; else
    it is taken for word-based.
    """
    phrases = find_one(folder, "phrase-table*")
    if phrases is None:
        raise InputError("there is no phrase-table* in this folder", path=folder)
    reordering, ini = find_one(folder, "reordering-table*"), find_one(folder, "moses.ini", "*.ini")
    if "reordering" not in stated:
        kind = read_kind(ini) if ini else ReorderingKind.WORD
    elif len(settings.reordering) == 1:
        kind = settings.reordering[0].kind
    else:
        raise InputError("Moses' tables hold one reordering model; say `reordering=msd`, phrase-msd or hrm")

    def read(goal: PathLike, n_threads: int, progress: Progress) -> Grammar:
        config = PhraseExtraction(n_threads=n_threads)
        return read_tables(phrases, goal, reordering=reordering, reordering_kind=kind, config=config, progress=progress)

    def settle(grammar: Grammar) -> tuple[PhraseSettings, dict[str, float]]:
        found = replace(settings, reordering=grammar.given_reordering or ())
        if ini is None:
            return found, start_weights(found)
        if "distortion_limit" not in stated:
            found = replace(found, distortion_limit=read_distortion_limit(ini, found.distortion_limit))
        return found, read_ini(ini, found.reordering)

    return ForeignTables(
        grammar=phrases,
        lm=find_one(folder, "*.arpa*", "lm*"),
        others={"reordering": reordering, "ini": ini},
        read=read,
        settle=settle,
    )


def export(system: System, base: Path, fold: int | None, monitor: Monitor) -> dict[str, Path]:
    """Write phrase table, reordering tables, ARPA model and moses.ini into a folder.

    Sparse weights have no counterpart there and are left out.
    """
    settings = system.settings.of(PhraseSettings)
    if any(model.n_orientations == 5 for model in settings.reordering):
        raise InputError("Moses has no reordering model of five orientations; train with hrm or hrm4 to export")
    config = settings.view_config(system.settings.max_targets, fold)
    for number, model in enumerate(settings.reordering or [None]):
        view = system.grammar.view(replace(config, reordering=() if model is None else (model,)))
        # The phrase table is the same for every model; a file of its own keeps the writer simple.
        phrases = base / ("phrase-table.gz" if number == 0 else ".phrase-table.gz")
        reordering = None if model is None else base / _reordering_file(number)
        with monitor.progress("writing tables", view.tables.n_sources()) as progress:
            write_tables(view, phrases, reordering=reordering, progress=progress)
    (base / ".phrase-table.gz").unlink(missing_ok=True)
    monitor.say("writing the language model")
    lm = system.lm(fold)
    lm.export_arpa(base / "lm.arpa.gz")
    with open_output(base / "moses.ini") as output:
        for line in _ini_lines(system, settings, lm.order):
            output.write(line)
    return {"moses_ini": base / "moses.ini"}


def read_ini(path: PathLike, reordering: Sequence[Reordering]) -> dict[str, float]:
    """Our weights from the [weight] section of a moses.ini. Raises InputError when one is missing."""
    theirs = dict(read_weights(path, format_=WeightFormat.MOSES_INI).items())

    def values(name: str, n: int) -> list[float]:
        names = [f"{name}0"] if n == 1 else [f"{name}0_{place}" for place in range(1, n + 1)]
        if not any(item in theirs for item in names):
            raise InputError(f"the weights lack {name}0 with {n} value{'s' if n > 1 else ''}", path=path)
        return [theirs.get(item, 0.0) for item in names]

    ours = dict(zip(MOSES_SCORES, values("TranslationModel", 4), strict=True))
    ours["lm"] = values("LM", 1)[0]
    ours["words"] = -values("WordPenalty", 1)[0]
    ours["phrases"] = theirs.get("PhrasePenalty0", 0.0)
    ours["distortion"] = values("Distortion", 1)[0]
    # Moses counts a word passed through as a phrase too.
    ours["unknown"] = ours["phrases"] + MOSES_UNKNOWN * theirs.get("UnknownWordPenalty0", 1.0)
    for names in PhraseFeatures(reordering=tuple(reordering)).reordering_names():
        ours |= dict(zip(names, values("LexicalReordering", len(names)), strict=True))
    return ours


def read_distortion_limit(path: PathLike, default: int | None) -> int | None:
    """The distortion limit of a moses.ini, where -1 means no limit."""
    lines = [line.strip() for line in read_lines(path)]
    if "[distortion-limit]" not in lines:
        return default
    place = lines.index("[distortion-limit]") + 1
    try:
        limit = int(lines[place])
    except (IndexError, ValueError) as error:
        raise InputError("a whole number was expected after [distortion-limit]", path=path, line=place + 1) from error
    return None if limit < 0 else limit


def read_kind(path: PathLike) -> ReorderingKind:
    """The kind of reordering model of a moses.ini; word-based by default."""
    for line in read_lines(path):
        if match := re.match(r"LexicalReordering\b.*\btype=(\w+)-", line):
            return next((kind for kind, name in _KINDS.items() if name == match[1]), ReorderingKind.WORD)
    return ReorderingKind.WORD


_KINDS = {ReorderingKind.WORD: "wbe", ReorderingKind.PHRASE: "phrase", ReorderingKind.HIERARCHICAL: "hier"}


def _ini_lines(system: System, settings: PhraseSettings, lm_order: int) -> Iterator[str]:
    weights = system.weights
    yield from ("[input-factors]", "0", "", "[mapping]", "0 T 0", "", "[distortion-limit]")
    yield from (str(-1 if settings.distortion_limit is None else settings.distortion_limit), "", "[feature]")
    yield from ("UnknownWordPenalty", "WordPenalty", "PhrasePenalty", "Distortion")
    yield (
        "PhraseDictionaryMemory name=TranslationModel0 num-features=4 path=phrase-table.gz input-factor=0 "
        f"output-factor=0 table-limit={system.settings.max_targets}"
    )
    for number, model in enumerate(settings.reordering):
        kind = f"{_KINDS[model.kind]}-{'msd' if model.n_orientations == 3 else 'mslr'}-bidirectional-fe-allff"
        yield (
            f"LexicalReordering name=LexicalReordering{number} num-features={2 * model.n_orientations} type={kind} "
            f"input-factor=0 output-factor=0 path={_reordering_file(number)}"
        )
    yield f"KENLM name=LM0 factor=0 path=lm.arpa.gz order={lm_order}"
    yield from ("", "[weight]")
    unknown = (weights["phrases"] - weights["unknown"]) / -MOSES_UNKNOWN
    yield f"UnknownWordPenalty0= {unknown!r}"
    yield f"WordPenalty0= {-weights['words']!r}"
    yield f"PhrasePenalty0= {weights['phrases']!r}"
    yield f"Distortion0= {weights['distortion']!r}"
    yield "TranslationModel0= " + " ".join(repr(weights[name]) for name in MOSES_SCORES)
    for number, names in enumerate(PhraseFeatures(reordering=settings.reordering).reordering_names()):
        yield f"LexicalReordering{number}= " + " ".join(repr(weights[name]) for name in names)
    yield f"LM0= {weights['lm']!r}"


def _reordering_file(number: int) -> str:
    return "reordering-table.gz" if number == 0 else f"reordering-table.{number}.gz"
