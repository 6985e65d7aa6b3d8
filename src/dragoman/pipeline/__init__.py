"""From raw text to a system's tokens and back: one pipeline, remembered by the system."""

from dragoman.pipeline.detection import decide_raw, look_at, sample_file
from dragoman.pipeline.lines import MosesLines, TokenLines
from dragoman.pipeline.pipeline import (
    RawLines,
    TextSide,
    learn_side,
    read_text_models,
    split_sentences,
    write_text_models,
)
from dragoman.pipeline.scripts import guess_language
from dragoman.pipeline.settings import TextSettings, parse_languages
from dragoman.pipeline.tokenizer import TextTokenizer, detokenize
from dragoman.pipeline.unknown import WordSplitter

__all__ = [
    "MosesLines",
    "RawLines",
    "TextSettings",
    "TextSide",
    "TextTokenizer",
    "TokenLines",
    "WordSplitter",
    "decide_raw",
    "detokenize",
    "guess_language",
    "learn_side",
    "look_at",
    "parse_languages",
    "read_text_models",
    "sample_file",
    "split_sentences",
    "write_text_models",
]
