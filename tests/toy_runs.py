"""Tuning of the toy decoder inside this process, in a run folder."""

from __future__ import annotations

import os

import toy_decoder
from dragoman.features import read_weights
from dragoman.metric import by_name
from dragoman.optim import Mert
from dragoman.pool import read_nbest, read_references, with_metric
from dragoman.run import RunFolder
from dragoman.tune import Decoder, LoopSettings, tune_decoder


class InProcess(Decoder):
    """The toy decoder without a process of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.sentences = (folder / "dev.src").read_text().splitlines()

    def decode(self, weights):
        by_name = dict(weights.items())
        lines = [
            toy_decoder.line_of("moses", sentence, text, features, total)
            for sentence, words in enumerate(self.sentences)
            for total, text, features in toy_decoder.ranked(words.split(), by_name)[:3]
        ]
        nbest = self.folder / f"nbest.{os.getpid()}"
        nbest.write_text("".join(line + "\n" for line in lines))
        return read_nbest(nbest)


def tune_inside(folder, run, max_rounds=2):
    """Begin or resume a run on the task in `folder`."""
    references = read_references([folder / "dev.ref"])
    with RunFolder.open(folder / run, {"seed": 1}, resume=True) as record:
        return tune_decoder(
            InProcess(folder),
            Mert(n_starts=2),
            read_weights(folder / "start"),
            seed=1,
            measure=lambda pool: with_metric(pool, by_name("chrf"), references),
            settings=LoopSettings(max_rounds=max_rounds),
            run=record,
        )
