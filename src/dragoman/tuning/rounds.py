"""The rounds of tuning in a run folder, from which a loop that was killed finds back to where it was.

    rounds/0003/weights.tsv    the weights that were decoded with; weights.bin when they are many
    rounds/0003/candidates/    what the decoder gave, as a stored pool
    rounds/0003/output.txt     the best candidate of each sentence
    rounds/0003/round.json     its record
    rounds/0003/learned.json   what the optimiser did
    rounds/0003/learned.tsv    the weights for the next round; learned.bin when they are many
    rounds/0003/state/         of an optimiser that goes on from round to round
    rounds/0003/files.json     checksums of all these; written last, again when the weights for the next round are there

Candidates and the translations of an online learner's state are dropped when the tuned system is complete
(`drop_candidates`); a tuning that goes on after that decodes them again, with the weights of their rounds.

The folder of a round appears when decoding is complete; what is learned from it joins file by file, and counts once
`files.json` lists it. What is read again is compared with its checksum first.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dragoman.candidates import Choice, Pool, load_pool, save_pool
from dragoman.errors import naming
from dragoman.features import FeatureIndex, Weights, read_weights, store_weights
from dragoman.files.store import Format, Manifest, from_plain, read_json, seal, write_json
from dragoman.run import RunFolder
from dragoman.run.tunings import RESULT, Learned, RoundRecord, TuneRecord
from dragoman.types import PathLike

__all__ = [
    "OUTPUT",
    "ROUND",
    "RoundStore",
    "StoredRound",
    "drop_candidates",
    "recorded_file",
    "recorded_weights",
    "settings_to_come",
]

_FORMAT = Format("dragoman-round", 1, "run", "files.json")
_WEIGHTS, OUTPUT, ROUND, _POOL = "weights", "output.txt", "round.json", "candidates/pool.json"
_TRACE, _LEARNED, _STATE = "learned.json", "learned", "state"
_TRANSLATED = f"{_STATE}/translations"
_KINDS = ("tsv", "bin")
_DECODED = {*(f"{_WEIGHTS}.{kind}" for kind in _KINDS), OUTPUT, ROUND, _POOL}
_Record = TypeVar("_Record", RoundRecord, Learned)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRound:
    """A round that was decoded before: raw candidates and record."""

    candidates: Pool | None
    """None: they were dropped, and must be decoded again."""
    record: RoundRecord


def settings_to_come(run: PathLike) -> tuple[str, ...]:
    """Settings that a run has not used yet: when it ends, and before it learns for the first time those of learning."""
    ends = ("max_rounds", "patience", "options.rounds", "options.patience")
    return ends if any(Path(run).glob(f"rounds/*/{_TRACE}")) else (*ends, "frozen")


def drop_candidates(run: PathLike) -> None:
    """Remove the candidates of all rounds of a run, which a tuned system that is complete does not need."""
    rounds = Path(run) / "rounds"
    for candidates in (*rounds.glob(f"*/{Path(_POOL).parent}"), *rounds.glob(f"*/{_TRANSLATED}")):
        shutil.rmtree(candidates)


def recorded_file(folder: Path, name: str) -> Path:
    """A file of a round by its name. Raises InputError if it has changed since it was written."""
    return _FORMAT.read(folder).check(name)


def recorded_weights(folder: Path) -> Path:
    """The weights that a round was decoded with. Raises InputError if they have changed since."""
    manifest = _FORMAT.read(folder)
    return manifest.check(_stored(manifest, _WEIGHTS) or f"{_WEIGHTS}.tsv")


class RoundStore:
    """Rounds of a run, or of none: then nothing is kept and nothing is found."""

    def __init__(self, run: RunFolder | None) -> None:
        self._run = run
        self._logged = {(entry["event"], entry.get("round")) for entry in run.trace()} if run else set()

    def find(self, number: int) -> StoredRound | None:
        """A round that was decoded before a kill."""
        folder = self.folder(number)
        if folder is None:
            return None
        manifest = _FORMAT.read(folder)
        pool = folder / _POOL
        for name in (_stored(manifest, _WEIGHTS) or f"{_WEIGHTS}.tsv", OUTPUT, *([_POOL] if pool.exists() else [])):
            manifest.check(name)
        candidates = load_pool(pool.parent) if pool.exists() else None
        return StoredRound(candidates=candidates, record=_read(RoundRecord, manifest, ROUND))

    @contextlib.contextmanager
    def new_round(self, *, keep_failed: bool = False) -> Iterator[Path]:
        """A folder for the decoder's files and for `save`. `keep_failed`: see RunFolder.new_round."""
        if self._run is not None:
            with self._run.new_round(keep_failed=keep_failed) as folder:
                yield folder
        else:
            with tempfile.TemporaryDirectory(prefix="dragoman-", ignore_cleanup_errors=True) as name:
                yield Path(name)

    def save(self, folder: Path, weights: Weights, candidates: Pool | None, best: Choice, record: RoundRecord) -> None:
        """Fill the folder of a new round."""
        if self._run is None:
            return
        stored = store_weights(weights, folder, _WEIGHTS)
        if candidates is not None:
            save_pool(candidates, folder / "candidates")
        best.write(folder / OUTPUT)
        write_json(folder / ROUND, dataclasses.replace(record, learned=None).as_dict())
        _FORMAT.write(folder, [stored.name, OUTPUT, ROUND, *([] if candidates is None else [_POOL])], {})

    def record(self, number: int) -> RoundRecord | None:
        """That of a round, if there is one."""
        folder = self.folder(number)
        return None if folder is None else _read(RoundRecord, _FORMAT.read(folder), ROUND)

    def add(self, weights: Weights, output: Path, record: RoundRecord) -> None:
        """A round that was decoded elsewhere; `output` has its best translations."""
        with self.new_round() as folder:
            stored = store_weights(weights, folder, _WEIGHTS)
            shutil.copyfile(output, folder / OUTPUT)
            write_json(folder / ROUND, dataclasses.replace(record, learned=None).as_dict())
            _FORMAT.write(folder, [stored.name, OUTPUT, ROUND], {})

    def find_learned(self, number: int, index: FeatureIndex) -> tuple[Weights, Learned] | None:
        """What was learned in a round before a kill, over the index."""
        folder = self.folder(number)
        if folder is None:
            return None
        manifest = _FORMAT.read(folder)
        stored = _stored(manifest, _LEARNED)
        if stored is None:
            return None
        for name in manifest.files:
            dropped = name.startswith(f"{_TRANSLATED}/") and not (folder / _TRANSLATED).exists()
            if name.startswith(f"{_STATE}/") and not dropped:
                manifest.check(name)
        return read_weights(manifest.check(stored), index=index), _read(Learned, manifest, _TRACE)

    def save_learned(self, folder: Path | None, weights: Weights, learned: Learned) -> None:
        """Add what was learned to the folder of a round, a new one or that of `folder`."""
        if self._run is not None and folder is not None:
            write_json(folder / _TRACE, dataclasses.asdict(learned))
            stored = store_weights(weights, folder, _LEARNED)
            state = [
                path.relative_to(folder).as_posix()
                for path in sorted((folder / _STATE).rglob("[!.]*"))
                if path.is_file()
            ]
            files = _FORMAT.read(folder).files
            decoded = [name for name in files if name in _DECODED and (folder / name).exists()]
            _FORMAT.write(folder, [*decoded, _TRACE, stored.name, *state], {})

    def log_decoded(self, record: RoundRecord) -> None:
        fields = record.as_dict()
        self._log("decoded", record.round, {key: fields[key] for key in fields if key not in {"round", "learned"}})

    def log_learned(self, number: int, learned: Learned) -> None:
        self._log("learned", number, dataclasses.asdict(learned))

    def finish(self, result: TuneRecord) -> None:
        end = {"stopped": result.stopped, "best_round": result.best_round, "score": result.score_after}
        if self._run is not None:
            ends = [entry for entry in self._run.trace() if entry["event"] == "end"]
            if not ends or not end.items() <= ends[-1].items():  # it may go on after an end
                self._run.log("end", **end)
            store_weights(result.weights, self._run.path, "weights")
            self._run.save(RESULT, seal(result.summary()))

    def _log(self, event: str, number: int, fields: dict[str, Any]) -> None:
        """Add to the trace, unless it was there before a kill."""
        if self._run is not None and (event, number) not in self._logged:
            self._logged.add((event, number))
            self._run.log(event, round=number, **fields)

    def state_folder(self, number: int) -> Path | None:
        """Where an optimiser that goes on from round to round keeps its state."""
        folder = self.folder(number)
        return None if folder is None else folder / _STATE

    def folder(self, number: int) -> Path | None:
        if self._run is None:
            return None
        rounds = self._run.rounds()
        return rounds[number - 1] if number <= len(rounds) else None


def _stored(manifest: Manifest, name: str) -> str | None:
    """The file of weights of this name that the manifest lists."""
    return next((f"{name}.{kind}" for kind in _KINDS if f"{name}.{kind}" in manifest.files), None)


def _read(cls: type[_Record], manifest: Manifest, name: str) -> _Record:
    path = manifest.check(name)
    with naming(path):
        return from_plain(cls, read_json(path, "run"))
