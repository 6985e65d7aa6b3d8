"""Small parallel text in files, and copies of files with random damage."""

from __future__ import annotations

import random

from dragoman_synth import SynthConfig, generate_splits


def write_lines(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def write_splits(folder, n_train, n_dev, n_test, *, seed):
    """Synthetic text as train.de, train.en, dev.de and so on; returns its examples."""
    splits = generate_splits(n_train, n_dev, n_test, SynthConfig(seed=seed))
    for name, examples in (("train", splits.train), ("dev", splits.dev), ("test", splits.test)):
        write_lines(folder / f"{name}.de", [example.source for example in examples])
        write_lines(folder / f"{name}.en", [example.references[0] for example in examples])
    return splits


def damage(path, n_times=12):
    """Damages the file again and again, more each time; the size stays the same."""
    original = path.read_bytes()
    rng = random.Random(path.name)
    for n in range(1, n_times + 1):
        damaged = bytearray(original)
        for _ in range(n if damaged else 0):
            damaged[rng.randrange(len(damaged))] = rng.choice([0, 1, 2, 127, 128, 255])
        path.write_bytes(bytes(damaged))
        yield
