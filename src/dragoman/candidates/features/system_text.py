"""Candidates and sources as tokens of a system, which may have been trained on raw text."""

from __future__ import annotations

from dataclasses import replace

from dragoman.candidates import new_words
from dragoman.candidates.features.base import CandidateBlock
from dragoman.system import System

__all__ = ["tokens_of"]


def tokens_of(system: System, block: CandidateBlock) -> CandidateBlock:
    """The block as it is, or its raw text as tokens of a system that was trained on such."""
    text = system.lines()
    if text.is_plain:
        return block
    words = new_words()
    lines = "".join(f"{text.prepare_target(line)}\n" for line in block.texts).encode("utf-8")
    rows, tokens = words.encode_growing(lines, 1)
    return CandidateBlock(
        pool=replace(block.pool, words=words),
        shard=replace(block.shard, token_rows=rows, tokens=tokens),
        sources=[text.prepare(source) for source in block.sources],
    )
