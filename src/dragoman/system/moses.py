"""Systems from and to Moses' files: phrase table, reordering table, ARPA model, moses.ini."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from dragoman.errors import InputError
from dragoman.features import WeightFormat, read_weights
from dragoman.grammar import Grammar, PhraseExtraction, Reordering, ReorderingKind
from dragoman.grammar.phrase_tables import read_tables, write_tables
from dragoman.search import PhraseFeatures
from dragoman.system.folder import GRAMMAR, LM, close_system, find_one, identity, make_folder, making, store_lm
from dragoman.system.manifest import MANIFEST
from dragoman.system.phrase import start_weights
from dragoman.system.settings import SystemSettings
from dragoman.system.stages import Monitor, Silent
from dragoman.system.system import System
from dragoman.text import open_output, read_lines
from dragoman.types import PathLike

__all__ = ["MOSES_SCORES", "MOSES_UNKNOWN", "MosesFiles", "export_moses", "import_moses"]

MOSES_UNKNOWN = -100.0
"""What Moses adds for each word passed through, times its weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MosesFiles:
    """What a folder holds, by the names that Moses' scripts and `export_moses` give."""

    phrases: Path
    reordering: Path | None = None
    lm: Path | None = None
    ini: Path | None = None

    @classmethod
    def find(cls, folder: PathLike) -> MosesFiles:
        """Look for phrase-table*, reordering-table*, *.arpa* (or lm*) and moses.ini (or *.ini)."""
        base = Path(folder)
        if not base.is_dir():
            raise InputError("a folder with Moses' tables was expected", path=base)
        phrases = find_one(base, "phrase-table*")
        if phrases is None:
            raise InputError("there is no phrase-table* in this folder", path=base)
        return cls(
            phrases=phrases,
            reordering=find_one(base, "reordering-table*"),
            lm=find_one(base, "*.arpa*", "lm*"),
            ini=find_one(base, "moses.ini", "*.ini"),
        )


def import_moses(
    folder: PathLike,
    out: PathLike,
    *,
    lm: PathLike | None = None,
    settings: SystemSettings | None = None,
    reordering_kind: ReorderingKind | None = None,
    resume: bool = False,
    n_threads: int = 1,
    monitor: Monitor | None = None,
) -> System:
    """A system with the scores of Moses' tables; its weights are those of moses.ini where there is one.

    What kind of model the reordering table holds is said by `reordering_kind`, else by moses.ini; else it is taken for
    word-based.
    """
    files = MosesFiles.find(folder)
    lm = lm or files.lm
    if lm is None:
        raise InputError("there is no language model (*.arpa*) in this folder; name one with --lm", path=folder)
    given = {"phrases": files.phrases, "reordering": files.reordering, "lm": lm, "ini": files.ini}
    record = {name: identity(path) for name, path in given.items() if path is not None}
    monitor = monitor or Silent()
    kind = reordering_kind or (read_kind(files.ini) if files.ini else ReorderingKind.WORD)
    with making(out, record, monitor, resume=resume) as (base, stages):
        if not (base / MANIFEST).exists():
            tables = partial(_read_grammar, base, files, kind, n_threads, monitor)
            stages.do("grammar", tables, makes=base / GRAMMAR)
            stages.do("language model", partial(store_lm, base, lm, monitor), makes=base / LM)
            reordering = Grammar.load(base / GRAMMAR).given_reordering or ()
            settings = replace(settings or SystemSettings(), reordering=reordering, n_folds=1)
            weights = start_weights(reordering)
            if files.ini is not None:
                weights = read_ini(files.ini, reordering)
                limit = read_distortion_limit(files.ini, settings.distortion_limit)
                settings = replace(settings, distortion_limit=limit)
            close_system(base, settings, stages, weights)
    return System.load(base)


def export_moses(system: System, out: PathLike, *, fold: int | None = None, monitor: Monitor | None = None) -> Path:
    """Write phrase table, reordering tables, ARPA model and moses.ini into a folder; returns the path of moses.ini.

    Sparse weights have no counterpart there and are left out.
    """
    models = system.settings.reordering
    if any(model.n_orientations == 5 for model in models):
        raise InputError("Moses has no reordering model of five orientations; train with hrm or hrm4 to export")
    base = Path(out)
    make_folder(base)
    monitor = monitor or Silent()
    config = system.settings.view_config(fold)
    for number, model in enumerate(models or [None]):
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
        for line in _ini_lines(system, lm.order):
            output.write(line)
    return base / "moses.ini"


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
    """What the section [distortion-limit] of a moses.ini says; there, -1 means none."""
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
    """What kind of reordering model a moses.ini names; word-based unless it names one."""
    for line in read_lines(path):
        if match := re.match(r"LexicalReordering\b.*\btype=(\w+)-", line):
            return next((kind for kind, name in _KINDS.items() if name == match[1]), ReorderingKind.WORD)
    return ReorderingKind.WORD


MOSES_SCORES = ("p_f_e", "lex_f_e", "p_e_f", "lex_e_f")
_KINDS = {ReorderingKind.WORD: "wbe", ReorderingKind.PHRASE: "phrase", ReorderingKind.HIERARCHICAL: "hier"}


def _ini_lines(system: System, lm_order: int) -> Iterator[str]:
    settings, weights = system.settings, system.weights
    yield from ("[input-factors]", "0", "", "[mapping]", "0 T 0", "", "[distortion-limit]")
    yield from (str(-1 if settings.distortion_limit is None else settings.distortion_limit), "", "[feature]")
    yield from ("UnknownWordPenalty", "WordPenalty", "PhrasePenalty", "Distortion")
    limit = settings.max_targets
    yield (
        "PhraseDictionaryMemory name=TranslationModel0 num-features=4 path=phrase-table.gz input-factor=0 "
        f"output-factor=0 table-limit={limit}"
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


def _read_grammar(base: Path, files: MosesFiles, kind: ReorderingKind, n_threads: int, monitor: Monitor) -> None:
    with monitor.progress("reading tables") as progress:
        grammar = read_tables(
            files.phrases,
            base / GRAMMAR,
            reordering=files.reordering,
            reordering_kind=kind,
            config=PhraseExtraction(n_threads=n_threads),
            progress=progress,
        )
    if len(grammar) == 0:
        raise InputError("has no phrase pairs; is the file whole?", path=files.phrases)
    monitor.say(f"{len(grammar):,} phrase pairs")
