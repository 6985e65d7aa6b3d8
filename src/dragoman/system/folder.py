"""The files of a system during training, and its completion."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dragoman.errors import InputError
from dragoman.features import Weights, store_weights
from dragoman.files.store import make_folder
from dragoman.grammar import Grammar
from dragoman.lm import LanguageModel
from dragoman.run import RunFolder
from dragoman.system.manifest import MANIFEST, TRAIN_RECORD, Manifest, record_of, write_manifest
from dragoman.system.settings import SystemSettings
from dragoman.system.stages import Monitor, Stages
from dragoman.system.training import TRAINING, TrainingLines
from dragoman.types import PathLike

__all__ = [
    "CLASSES",
    "COUNTS",
    "GRAMMAR",
    "LM",
    "TEXT",
    "WEIGHTS",
    "WORK",
    "close_system",
    "fold_lm",
    "identity",
    "making",
    "store_lm",
]

GRAMMAR, LM, WEIGHTS = "grammar", "lm.bin", "weights"
COUNTS = {"source_counts": "source.counts", "target_counts": "target.counts"}
"""Word counts in the training text: int64 by id. An imported system has none."""
CLASSES = {"source_classes": "source.classes", "target_classes": "target.classes"}
"""Word classes (`train --classes`): int32, for each level a class for each word by id, or -1."""
TEXT = "text.json"
"""How raw text becomes tokens; only a system of raw text has it."""
WORK = "work"
"""A folder for temporary files."""


def fold_lm(fold: int) -> str:
    """The file of a fold's language model."""
    return f"lm.fold-{fold}.bin"


def close_system(base: Path, settings: SystemSettings, stages: Stages, weights: Mapping[str, float]) -> None:
    """Write weights and manifest next to the tables, which completes the system."""
    grammar = Grammar.load(base / GRAMMAR)
    lm = LanguageModel.load(base / LM, verify=False)
    stored = store_weights(Weights.from_dict(weights), base, WEIGHTS)
    names = {"grammar": f"{GRAMMAR}/manifest.json", "lm": LM, "weights": stored.name}
    names |= {name: path for name, path in COUNTS.items() if (base / path).exists()}
    names |= {"text": TEXT} if (base / TEXT).exists() else {}
    names |= CLASSES if settings.classes else {}
    training: Mapping[str, Any] = {}
    if settings.n_folds > 1:
        names |= {f"lm.fold-{fold}": fold_lm(fold) for fold in range(settings.n_folds)}
    if (base / TRAINING).exists():  # not of imported tables
        names |= {f"{TRAINING}/{path.name}": f"{TRAINING}/{path.name}" for path in sorted((base / TRAINING).iterdir())}
        training = TrainingLines(base / TRAINING, (grammar.source_vocab, grammar.target_vocab)).about()
    about: dict[str, Any] = {
        "dragoman": version("dragoman"),
        **training,
        "n_pairs": len(grammar),
        **grammar.beyond_limits(),
        "n_source_words": len(grammar.source_vocab),
        "n_target_words": len(grammar.target_vocab),
        "lm_order": lm.order,
        "n_ngrams": list(lm.n_ngrams),
        **stages.found,
        "stages": [asdict(stage) for stage in stages.finished.values()],
    }
    files = {name: record_of(base, base / path) for name, path in names.items()}
    write_manifest(base, Manifest(settings=settings, files=files, parent=None, about=about))


@contextlib.contextmanager
def making(out: PathLike, record: dict[str, Any], monitor: Monitor, *, resume: bool) -> Iterator[tuple[Path, Stages]]:
    """The folder of a system in the making and its stages; `record` is what must be the same to go on.

    Raises InputError where something else is in the way. When the block ends well, what was needed on the way is
    dropped; when it fails before any stage is done, there is nothing to go on with and nothing is left.
    """
    base = Path(out)
    try:
        present = [entry.name for entry in base.iterdir()] if base.exists() else []
    except OSError as error:
        raise InputError(f"a folder was expected: {error.strerror or error}", path=base) from error
    if MANIFEST in present and not resume:
        raise InputError("holds a system already; remove it or choose another folder", path=base)
    if present and TRAIN_RECORD not in present:
        raise InputError("is not empty and holds no training; choose another folder", path=base)
    with RunFolder.open(base / TRAIN_RECORD, record, resume=resume) as run:
        _drop_scratch(base)
        make_folder(base / WORK)
        stages = Stages(run, monitor)
        try:
            yield base, stages
        except BaseException:
            if not stages.finished:
                for folder in (WORK, TRAIN_RECORD, TRAINING):
                    shutil.rmtree(base / folder, ignore_errors=True)
                if not any(base.iterdir()):
                    base.rmdir()
            raise
        shutil.rmtree(base / WORK)


def _drop_scratch(base: Path) -> None:
    """Remove the scratch files and folders of a killed process."""
    names = (GRAMMAR, MANIFEST, WEIGHTS, TRAINING, *COUNTS.values(), *CLASSES.values(), "lm*.bin", TEXT)
    for pattern in [*(f".{name}.*" for name in names), f"{WORK}/.*", f"{TRAINING}/.*"]:
        for scratch in base.glob(pattern):
            shutil.rmtree(scratch) if scratch.is_dir() else scratch.unlink()


def identity(path: PathLike) -> list[object]:
    """The identity of a file for resuming: its name, size and modification time."""
    name = os.fspath(path)
    if name == "-":
        raise InputError("training reads its files more than once; standard input cannot be one of them")
    try:
        status = Path(name).stat()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=name) from error
    return [name, status.st_size, status.st_mtime_ns]


def store_lm(base: Path, lm: PathLike, monitor: Monitor) -> None:
    """Store a given language model (binary or ARPA) in the system's folder."""
    with monitor.progress("reading the language model") as progress:
        LanguageModel.load(lm, progress=progress).save(base / LM)
