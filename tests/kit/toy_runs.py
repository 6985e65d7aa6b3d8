"""Tuning of the toy decoder inside this process, in a run folder."""

from __future__ import annotations

import json
import os

from tests.kit import toy_decoder

from dragoman.candidates import Objective, read_nbest, read_references
from dragoman.features import read_weights
from dragoman.optim import Mert
from dragoman.run import RunFolder
from dragoman.tuning import Decoder, LoopSettings, tune_decoder


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
            objective=Objective("chrf", references),
            settings=LoopSettings(max_rounds=max_rounds),
            run=record,
        )


def without_times(value, *more):
    """A record without what differs from run to run: times, their checksum, and `more` keys."""
    if isinstance(value, dict):
        kept = {
            key
            for key in value
            if not f"_{key}".endswith(("_time", "_checksum", "_wall_s", "_cpu_s")) and key not in more
        }
        return {key: without_times(value[key], *more) for key in value if key in kept}
    return [without_times(item, *more) for item in value] if isinstance(value, list) else value


def what_remains(run):
    """Everything of a run that must not depend on kills, by file."""
    found = {}
    for file in sorted(path for path in run.rglob("*") if path.is_file() and path.name != "lock"):
        name = str(file.relative_to(run))
        assert "/." not in f"/{name}", f"{name} is left over"
        if file.suffix == ".jsonl":
            found[name] = [without_times(json.loads(line)) for line in file.read_text().splitlines()]
        elif file.name == "files.json":  # checksums of records with times
            found[name] = sorted(json.loads(file.read_text())["files"])
        elif file.suffix == ".json":
            found[name] = without_times(json.loads(file.read_text()))
        else:
            found[name] = file.read_bytes()
    return found
