"""The aligners of the sil-thot library. Each direction is trained in its own process; only these load the library."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import signal
import tempfile
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dragoman._core import links_of
from dragoman.align.config import AlignMethod, AlignStep, Direction, StepProgress
from dragoman.align.links import Alignment
from dragoman.corpus import Side
from dragoman.errors import FailedError, InputError
from dragoman.settings import takes_text
from dragoman.types import Int32Array, Int64Array

if TYPE_CHECKING:
    from thot.alignment import AlignmentModel

__all__ = ["is_installed", "train_library"]

_IBM1_ITERATIONS = _HMM_ITERATIONS = _FASTALIGN_ITERATIONS = 5


def is_installed() -> bool:
    """Whether the sil-thot library is installed."""
    return importlib.util.find_spec("thot") is not None


@takes_text
def train_library(
    source: Side,
    target: Side,
    usable: Int64Array,
    method: AlignMethod,
    *,
    seed: int,
    n_threads: int,
    progress: StepProgress | None = None,
) -> tuple[Alignment, Alignment]:
    """Train both directions in parallel on the `usable` pairs; the others get no links."""
    if not is_installed():
        raise InputError(
            f"the method {method} needs the sil-thot library; install it with pip install 'dragoman[align]', "
            f"or choose the method {AlignMethod.FAST}"
        )
    if not len(usable):
        nothing = Alignment.of([] for _ in range(len(source)))
        return nothing, nothing
    with tempfile.TemporaryDirectory(prefix="dragoman-align-") as scratch:
        folder = Path(scratch)
        for name, side in (("source", source), ("target", target)):
            _write_ids(folder / name, side, usable)
        _run_both(folder, method, seed, max(1, n_threads // 2), progress)
        chosen = {Direction.FORWARD: target, Direction.REVERSE: source}
        forward, reverse = (
            _spread(np.load(folder / f"{direction}.npy", allow_pickle=False), side, usable, direction)
            for direction, side in chosen.items()
        )
    return forward, reverse


def _write_ids(path: Path, side: Side, usable: Int64Array) -> None:
    # Ids instead of words, so that no word is mistaken for one of the library's special symbols.
    with path.open("w", encoding="ascii") as stream:
        for i in usable:
            stream.write(" ".join(map(str, side[int(i)])) + "\n")


def _spread(assignment: Int32Array, side: Side, usable: Int64Array, direction: Direction) -> Alignment:
    lengths = side.lengths()
    is_usable = np.zeros(len(side), dtype=bool)
    is_usable[usable] = True
    whole = np.full(len(side.ids), -1, dtype=np.int32)
    whole[np.repeat(is_usable, lengths)] = assignment
    return Alignment(*links_of(side.offsets, whole, direction is Direction.REVERSE))


def _run_both(folder: Path, method: AlignMethod, seed: int, n_threads: int, progress: StepProgress | None) -> None:
    context = multiprocessing.get_context("spawn")
    workers = {}
    try:
        for direction in Direction:
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(
                target=_train_one,
                args=(str(folder), direction.value, method.value, seed, n_threads, sender),
                daemon=True,
            )
            process.start()
            sender.close()
            workers[receiver] = (direction, process)
        waiting = set(workers)
        while waiting:
            for receiver in waiting & set(wait(list(waiting))):
                direction, process = workers[receiver]
                try:
                    iteration, n_iterations = receiver.recv()
                except EOFError:
                    waiting.discard(receiver)
                    process.join()
                    if process.exitcode != 0:
                        raise FailedError(
                            f"training {method} in the {direction} direction failed with status {process.exitcode}; "
                            f"see its messages above. The method {AlignMethod.FAST} needs less memory"
                        ) from None
                    continue
                if progress:
                    progress(AlignStep(direction=direction, iteration=iteration, n_iterations=n_iterations))
    finally:
        for receiver, (_, process) in workers.items():
            process.terminate()
            process.join()
            receiver.close()


def _train_one(folder: str, direction: str, method: str, seed: int, n_threads: int, sender: Connection) -> None:
    """Main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and terminates this process
    os.environ["OMP_NUM_THREADS"] = str(n_threads)
    source, target = str(Path(folder, "source")), str(Path(folder, "target"))
    if direction == Direction.REVERSE:
        source, target = target, source
    model = _train(AlignMethod(method), source, target, seed, sender)
    assignment = [
        position - 1
        for i in range(model.num_sentence_pairs)
        for position in model.get_training_alignment(i)[1].to_list()
    ]
    np.save(Path(folder, f"{direction}.npy"), np.array(assignment, dtype=np.int32), allow_pickle=False)


def _train(method: AlignMethod, source: str, target: str, seed: int, sender: Connection) -> AlignmentModel:
    from thot.alignment import EflomalAlignmentModel, FastAlignModel, HmmAlignmentModel, Ibm1AlignmentModel

    def run(model: AlignmentModel, n_own: int, n_before: int, n_after: int) -> None:
        for i in range(n_own):
            model.train()
            sender.send((n_before + i + 1, n_before + n_own + n_after))
        model.end_training()

    model: AlignmentModel
    n_before = 0
    if method is AlignMethod.HMM:
        start = Ibm1AlignmentModel()
        start.read_sentence_pairs(source, target)
        start.start_training()
        run(start, _IBM1_ITERATIONS, 0, _HMM_ITERATIONS)
        model, n_before, n_own = HmmAlignmentModel(start), _IBM1_ITERATIONS, _HMM_ITERATIONS
    elif method is AlignMethod.EFLOMAL:
        model = eflomal = EflomalAlignmentModel()
        eflomal.seed = seed
        eflomal.deterministic = True
        eflomal.read_sentence_pairs(source, target)
    else:
        model, n_own = FastAlignModel(), _FASTALIGN_ITERATIONS
        model.read_sentence_pairs(source, target)
    model.emit_training_alignments = True
    model.start_training()
    if method is AlignMethod.EFLOMAL:
        n_own = eflomal.scheduled_iterations  # depends on the size of the text
    run(model, n_own, n_before, 0)
    return model
