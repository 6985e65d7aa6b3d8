"""From raw text to a system's tokens and back: one pipeline, remembered by the system."""

from dragoman.corpus.tokens.detection import decide_raw, look_at, sample_file
from dragoman.corpus.tokens.lines import MosesLines, TokenLines
from dragoman.corpus.tokens.pipeline import (
    RawLines,
    TextSide,
    learn_side,
    read_text_models,
    split_sentences,
    write_text_models,
)
from dragoman.corpus.tokens.scripts import guess_language
from dragoman.corpus.tokens.settings import TextSettings, parse_languages
from dragoman.corpus.tokens.tokenizer import TextTokenizer, detokenize
from dragoman.corpus.tokens.unknown import WordSplitter

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
