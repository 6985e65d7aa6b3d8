"""Small parallel text as people write it: cased, with punctuation attached."""

from __future__ import annotations

from tests.kit.small_text import write_lines

from dragoman.text import MosesText
from dragoman_synth import SynthConfig, generate_splits


def write_raw_splits(folder, n_train, n_dev, n_test, *, seed):
    """Synthetic raw text as train.de, train.en, dev.de and so on."""
    german, english = MosesText("de"), MosesText("en")
    splits = generate_splits(n_train, n_dev, n_test, SynthConfig(seed=seed, lowercase=False))
    for name, examples in (("train", splits.train), ("dev", splits.dev), ("test", splits.test)):
        write_lines(folder / f"{name}.de", [german.detokenize(example.source) for example in examples])
        write_lines(folder / f"{name}.en", [english.detokenize(example.references[0]) for example in examples])
    return splits
