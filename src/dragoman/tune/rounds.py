"""The rounds of tuning in a run folder, from which a loop that was killed finds back to where it was.

    rounds/0003/weights.tsv    the weights that were decoded with
    rounds/0003/candidates/    what the decoder gave, as a stored pool
    rounds/0003/output.txt     the best candidate of each sentence
    rounds/0003/round.json     its record
    rounds/0003/learned.json   what the optimiser did
    rounds/0003/learned.tsv    the weights for the next round; written last, so its presence says that they were learned

The folder of a round appears when decoding is complete; what is learned from it joins file by file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.errors import InputError
from dragoman.features import FeatureIndex, Weights, read_weights, write_weights
from dragoman.pool import Choice, Pool, load_pool, save_pool
from dragoman.run import RunFolder
from dragoman.text import replace_bytes
from dragoman.tune.record import Learned, RoundRecord, TuneRecord

__all__ = ["RoundStore", "StoredRound"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRound:
    """A round that was decoded before: raw candidates and record."""

    candidates: Pool
    record: RoundRecord


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
        fields = _read_json(folder / "round.json")
        try:
            record = RoundRecord(**(fields | {"notes": tuple(fields["notes"])}))
        except (TypeError, KeyError) as error:
            raise InputError("is not the record of a round; the run is damaged", path=folder / "round.json") from error
        return StoredRound(candidates=load_pool(folder / "candidates"), record=record)

    @contextlib.contextmanager
    def new_round(self) -> Iterator[Path]:
        """A folder for the decoder's files and for `save`."""
        if self._run is not None:
            with self._run.new_round() as folder:
                yield folder
        else:
            with tempfile.TemporaryDirectory(prefix="dragoman-", ignore_cleanup_errors=True) as name:
                yield Path(name)

    def save(self, folder: Path, weights: Weights, candidates: Pool | None, best: Choice, record: RoundRecord) -> None:
        """Fill the folder of a new round."""
        if self._run is None:
            return
        write_weights(weights, folder / "weights.tsv")
        if candidates is not None:
            save_pool(candidates, folder / "candidates")
        best.write(folder / "output.txt")
        fields = record.as_dict()
        del fields["learned"]
        _write_json(folder / "round.json", fields)

    def find_learned(self, number: int, index: FeatureIndex) -> tuple[Weights, Learned] | None:
        """What was learned in a round before a kill, over the index."""
        folder = self.folder(number)
        if folder is None or not (folder / "learned.tsv").exists():
            return None
        fields = _read_json(folder / "learned.json")
        try:
            learned = Learned(**(fields | {"trace": tuple(fields["trace"]), "notes": tuple(fields["notes"])}))
        except (TypeError, KeyError) as error:
            raise InputError("is not what a round learned; the run is damaged", path=folder / "learned.json") from error
        return read_weights(folder / "learned.tsv", index=index), learned

    def save_learned(self, folder: Path | None, weights: Weights, learned: Learned) -> None:
        """Add what was learned to the folder of a round, a new one or that of `folder`."""
        if self._run is not None and folder is not None:
            _write_json(folder / "learned.json", dataclasses.asdict(learned))
            write_weights(weights, folder / "learned.tsv")

    def log_decoded(self, record: RoundRecord) -> None:
        """Add a decoding to the run's trace."""
        fields = record.as_dict()
        self._log("decoded", record.round, {key: fields[key] for key in fields if key not in {"round", "learned"}})

    def log_learned(self, number: int, learned: Learned) -> None:
        """Add an optimisation to the run's trace."""
        self._log("learned", number, dataclasses.asdict(learned))

    def finish(self, result: TuneRecord) -> None:
        """Write what the run ended with."""
        end = {"stopped": result.stopped, "best_round": result.best_round, "score": result.score_after}
        self._log("end", None, end)
        if self._run is not None:
            write_weights(result.weights, self._run.path / "weights.tsv")
            self._run.save("result.json", result.summary())

    def _log(self, event: str, number: int | None, fields: dict[str, Any]) -> None:
        """Add to the trace, unless it was there before a kill."""
        if self._run is not None and (event, number) not in self._logged:
            self._logged.add((event, number))
            self._run.log(event, **({} if number is None else {"round": number}), **fields)

    def folder(self, number: int) -> Path | None:
        """Of a round that was decoded."""
        if self._run is None:
            return None
        rounds = self._run.rounds()
        return rounds[number - 1] if number <= len(rounds) else None


def _write_json(path: Path, value: object) -> None:
    replace_bytes(path, json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({error}); the run is damaged", path=path) from error
    if not isinstance(value, dict):
        raise InputError("is not a JSON object; the run is damaged", path=path)
    return value
