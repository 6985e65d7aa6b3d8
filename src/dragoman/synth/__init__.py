"""A German to English corpus of any size from a synchronous grammar with a lexicon of its own.

    config = SynthConfig(seed=1, n_references=4)
    for example in generate(1000, config):
        example.source, example.references

Sentences are tokenised as Moses' tokeniser does (`the teacher 's book`, `doesn 't`), and lowercased unless
told otherwise.
"""

from __future__ import annotations

from dragoman.synth.generator import Example, SynthConfig, SynthSplits, generate, generate_splits

__all__ = ["Example", "SynthConfig", "SynthSplits", "generate", "generate_splits"]
