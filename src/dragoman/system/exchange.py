"""Import and export of other toolkits' files."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path

from dragoman.errors import InputError
from dragoman.files.store import make_folder
from dragoman.grammar import Grammar
from dragoman.system.folder import GRAMMAR, LM, TEXT, close_system, identity, making, store_lm
from dragoman.system.foreign import ForeignTables
from dragoman.system.kinds import Kind, kind_named
from dragoman.system.manifest import MANIFEST
from dragoman.system.settings import SystemSettings
from dragoman.system.stages import Monitor, Silent
from dragoman.system.system import System
from dragoman.system.text_file import export_text, read_text_file
from dragoman.types import PathLike

__all__ = ["export_system", "import_system"]


def import_system(
    folder: PathLike,
    out: PathLike,
    *,
    lm: PathLike | None = None,
    settings: SystemSettings | None = None,
    stated: Collection[str] = (),
    raw: bool | None = None,
    resume: bool = False,
    n_threads: int = 1,
    monitor: Monitor | None = None,
) -> System:
    """A system with the grammar and the scores of another toolkit; its weights are those found beside them, else ours.

    Where the files say what the settings of the model say too, as moses.ini its distortion limit, the files are right,
    unless the setting's name is in `stated`. The text pipeline that `export_system` wrote beside them is taken, too,
    unless `raw` is false; languages that the settings name stay.
    """
    settings = replace(settings or SystemSettings(), n_folds=1)
    if settings.classes:
        raise InputError("word classes are learned from text, which an imported system lacks; leave out the classes")
    kind = kind_named(settings.kind)
    if kind.find_tables is None:
        raise InputError(f"systems of model '{settings.kind}' cannot be imported")
    base = Path(folder)
    if not base.is_dir():
        raise InputError("a folder with tables was expected", path=base)
    tables = kind.find_tables(base, settings.model, frozenset(stated))
    lm = lm or tables.lm
    if lm is None:
        raise InputError("there is no language model (*.arpa*) in this folder; name one with `lm`", path=folder)
    text_file = base / TEXT if raw is not False and (base / TEXT).exists() else None
    if raw and text_file is None:
        raise InputError(f"there is no {TEXT}, so that nothing tells how raw text becomes tokens", path=base)
    text = None if text_file is None else read_text_file(text_file)
    if text is not None:
        own, found = settings.text, text.settings
        source = own.source_language or found.source_language
        target = own.target_language or found.target_language
        settings = replace(settings, text=replace(found, source_language=source, target_language=target))
    given = {"grammar": tables.grammar, "lm": lm, "text": text_file, **tables.others}
    record = {name: identity(path) for name, path in given.items() if path is not None}
    monitor = monitor or Silent()
    with making(out, record | {"settings": settings.to_json()}, monitor, resume=resume) as (base, stages):
        if not (base / MANIFEST).exists():
            stages.do("grammar", partial(_read, tables, base / GRAMMAR, kind, n_threads, monitor), makes=base / GRAMMAR)
            stages.do("language model", partial(store_lm, base, lm, monitor), makes=base / LM)
            grammar = Grammar.load(base / GRAMMAR)
            if text is not None:
                text.store(base, grammar)
            model, weights = tables.settle(grammar)
            close_system(base, replace(settings, model=model), stages, weights)
    return System.load(base)


def _read(tables: ForeignTables, goal: Path, kind: Kind, n_threads: int, monitor: Monitor) -> None:
    with monitor.progress("reading tables") as progress:
        grammar = tables.read(goal, n_threads, progress)
    if len(grammar) == 0:
        raise InputError(f"has no {kind.unit}; is the file whole?", path=tables.grammar)
    monitor.say(f"{len(grammar):,} {kind.unit}")


def export_system(
    system: System, out: PathLike, *, fold: int | None = None, monitor: Monitor | None = None
) -> dict[str, Path]:
    """Write grammar, language model and weights as other toolkits read them, and beside them the text pipeline, which
    only `import_system` reads; returns the main files by what they are.
    """
    kind = kind_named(system.settings.kind)
    if kind.export is None:
        raise InputError(f"systems of model '{system.settings.kind}' cannot be exported", path=system.folder)
    make_folder(out)
    written = kind.export(system, Path(out), fold, monitor or Silent())
    text = export_text(system, Path(out))
    return written if text is None else {**written, "text": text}
