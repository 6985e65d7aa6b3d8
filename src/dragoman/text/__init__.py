"""Text input and output: plain and compressed files, lines, tokens."""

from dragoman.text.display import GLUE, is_right_to_left, printable, readable
from dragoman.text.read import (
    MAX_LINE_BYTES,
    LineBlock,
    count_lines,
    count_words,
    read_arriving_lines,
    read_blocks,
    read_content,
    read_lines,
    read_parallel,
)
from dragoman.text.tokens import MosesText, split_tokens
from dragoman.text.write import LineWriter, atomic_output, open_binary_output, open_output, replace_bytes, sync_path

__all__ = [
    "GLUE",
    "MAX_LINE_BYTES",
    "LineBlock",
    "LineWriter",
    "MosesText",
    "atomic_output",
    "count_lines",
    "count_words",
    "is_right_to_left",
    "open_binary_output",
    "open_output",
    "printable",
    "read_arriving_lines",
    "read_blocks",
    "read_content",
    "read_lines",
    "read_parallel",
    "readable",
    "replace_bytes",
    "split_tokens",
    "sync_path",
]
