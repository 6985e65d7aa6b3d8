"""A foreign decoder at work in the outer loop: weights to a file, a command, its candidate list back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dragoman.candidates import NbestFormat, Pool, read_nbest
from dragoman.errors import FailedError, InputError
from dragoman.features import WeightFormat, Weights, write_weights
from dragoman.settings import Record
from dragoman.text import read_lines, split_tokens
from dragoman.tuning.command import CommandTemplate, tail
from dragoman.tuning.decoder import Decoder, DecodingRound
from dragoman.types import PathLike

__all__ = ["CommandDecoder", "CommandSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSettings(Record):
    """How to talk to the decoder: list length, formats (see read_nbest), and for Moses a moses.ini."""

    k: int = 100
    weights_format: WeightFormat = WeightFormat.TSV
    weights_template: Path | None = None
    nbest_format: NbestFormat | None = None
    dense: tuple[str, ...] | None = None
    fields: tuple[str, ...] | None = None
    allow_missing: bool = False

    def _check(self) -> None:
        if self.k < 1:
            raise InputError(f"the lists must have at least one candidate a sentence, not {self.k}")
        if self.weights_template is not None and self.weights_format is not WeightFormat.MOSES_INI:
            raise InputError("a template belongs to the format of moses.ini; say `weights_format=moses`")


class CommandDecoder(Decoder):
    """Runs a command template on a source file. A sentence is a line of it; each needs at least one candidate."""

    foreign = True

    def __init__(self, template: CommandTemplate, source: PathLike, settings: CommandSettings | None = None) -> None:
        self._template = template
        self._source = Path(source).absolute()
        self._settings = settings or CommandSettings()
        self._lengths = _source_lengths(self._source)
        self._current: DecodingRound | None = None

    @property
    def n_sentences(self) -> int:
        return len(self._lengths)

    def begin_round(self, current: DecodingRound) -> None:
        """Where to put the files, and what {round} and {seed} are."""
        self._current = current

    def decode(self, weights: Weights) -> Pool:
        """Run the command. Raises FailedError with the tail of its output for whatever goes wrong with it."""
        if self._current is None:
            raise ValueError("begin_round comes before decode")
        try:
            return self._decode(weights, self._current)
        except OSError as error:
            raise FailedError(f"{self._current.folder}: the decoder's files: {error.strerror or error}") from error

    def _decode(self, weights: Weights, current: DecodingRound) -> Pool:
        folder = current.folder
        files = {name: (folder / name).absolute() for name in ("weights", "nbest")}
        self._write_weights(weights, files["weights"], current.dense)
        log = folder / "decoder.log"
        self._template.run(
            log,
            source=self._source,
            k=self._settings.k,
            round=current.number,
            seed=current.seed,
            **files,
        )
        pool = self._read(files["nbest"], log)
        # The record of a run holds both in other forms already.
        for file in folder.glob("weights*"):
            file.unlink()
        files["nbest"].unlink()
        return pool

    def _write_weights(self, weights: Weights, path: Path, known: tuple[str, ...] | None) -> None:
        settings = self._settings
        moses = settings.weights_format in {WeightFormat.MOSES_INI, WeightFormat.MOSES_DENSE}
        write_weights(
            weights,
            path,
            format_=settings.weights_format,
            dense=(settings.dense or known) if moses else None,
            template=settings.weights_template,
        )

    def _read(self, nbest: Path, log: Path) -> Pool:
        if not nbest.exists() or nbest.stat().st_size == 0:
            raise FailedError(f"the decoder ended well but wrote no list to {{nbest}} ({nbest}); {tail(log)}")
        try:
            pool = read_nbest(
                nbest,
                format_=self._settings.nbest_format,
                fields=self._settings.fields,
                dense=self._settings.dense,
                allow_missing=self._settings.allow_missing,
            )
        except InputError as error:
            raise FailedError(f"the decoder's list cannot be used: {error}; {tail(log)}") from error
        shard = pool.shards[0]
        self._check_sentences(shard.sentence_ids.tolist(), log)
        return replace(pool, shards=(replace(shard, source_lengths=self._lengths.copy()),))

    def _check_sentences(self, ids: Sequence[int], log: Path) -> None:
        n = len(self._lengths)
        if ids[-1] >= n:
            raise FailedError(
                f"the decoder's list has sentence {ids[-1]} (counted from 0) but {self._source} has "
                f"only {n} lines; {tail(log)}"
            )
        if len(ids) < n:
            first = next((i for i, id_ in enumerate(ids) if id_ != i), len(ids))
            raise FailedError(
                f"the decoder left out {n - len(ids)} of {n} sentences, the first is line {first + 1} of "
                f"{self._source}; {tail(log)}"
            )


def _source_lengths(source: Path) -> np.ndarray:
    lengths = np.array([len(split_tokens(line)) for line in read_lines(source)], dtype=np.int32)
    if len(lengths) == 0:
        raise InputError("is empty; expected the source sentences of the development set", path=source)
    return lengths
