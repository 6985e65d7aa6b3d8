"""The n-gram language model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman._core import ArpaReader, ArpaWriter, LmModel, LmPiece, join_pieces, load_lm
from dragoman.corpus import EOS, UNK, Vocab
from dragoman.errors import InputError, naming
from dragoman.lm.scores import Perplexity, SentenceScores
from dragoman.text import LineBlock, atomic_output, open_binary_output, read_blocks
from dragoman.types import Int32Array, Int64Array, PathLike, Progress, sentences_of

__all__ = ["LanguageModel", "TokenScore"]

_MAGIC = b"DRAGOLM\n"


@dataclass(frozen=True, slots=True)
class TokenScore:
    """The natural log probability of one token, and the length of the longest matching n-gram."""

    logprob: float
    ngram_length: int
    oov: bool


class LanguageModel:
    """An immutable backoff n-gram model. Scores are natural log probabilities; out-of-vocabulary words are `<unk>`."""

    __slots__ = ("_native", "_vocab")

    def __init__(self, native: LmModel) -> None:
        self._native = native
        self._vocab = Vocab(native.words)

    def __repr__(self) -> str:
        return f"LanguageModel(order {self.order}, {len(self._vocab)} words)"

    @classmethod
    def load(cls, path: PathLike, *, verify: bool = True, progress: Progress | None = None) -> LanguageModel:
        """Map a binary model, or read ARPA text (plain, gz, xz or zst; `-`: standard input).

        The checksum of a binary model is verified, which reads the whole file; `verify=False` checks only header and
        size. `progress` counts the lines of ARPA text.
        """
        with naming(path):
            native = _load_binary(Path(path), verify)
            return cls(_read_arpa(path, progress) if native is None else native)

    def save(self, path: PathLike) -> None:
        """Write the binary format, which `load` memory-maps."""
        with atomic_output(path) as stream:
            for piece in self._native.file_pieces():
                stream.write(piece)

    def export_arpa(self, path: PathLike) -> None:
        """Write ARPA text (compressed when the name ends in .gz, .xz or .zst; `-`: standard output).

        Words are written in their stored form: those that look like markup (`<s>`, `[X,1]`, `|||`) are escaped.
        """
        writer = ArpaWriter(self._native)
        with open_binary_output(path) as stream:
            while block := writer.next_block():
                stream.write(block)

    @property
    def native(self) -> LmModel:
        return self._native

    @property
    def order(self) -> int:
        return self._native.order

    @property
    def n_ngrams(self) -> tuple[int, ...]:
        """Number of n-grams of each order, unigrams first."""
        return tuple(self._native.n_ngrams)

    @property
    def vocab(self) -> Vocab:
        return self._vocab

    def ids_of(self, vocab: Vocab) -> Int32Array:
        """Map each id of another vocabulary to this model's id (UNK for out-of-vocabulary words)."""
        return self._native.ids_of(vocab.table)

    def score(self, sentence: str, *, bos: bool = True, eos: bool = True) -> float:
        """Log probability of a sentence: after `<s>` unless `bos` is false, with `</s>` unless `eos` is false."""
        return self._native.score_sentence(self._vocab.encode(sentence), bos, eos)

    def full_scores(self, sentence: str, *, bos: bool = True, eos: bool = True) -> list[TokenScore]:
        """The score of each token, including `</s>` if `eos`."""
        ids = self._vocab.encode(sentence)
        logprobs, lengths = self._native.full_scores(ids, bos, eos)
        unknown = [*(ids == UNK).tolist(), False]
        return [
            TokenScore(logprob, length, oov)
            for logprob, length, oov in zip(logprobs.tolist(), lengths.tolist(), unknown, strict=False)
        ]

    def score_batch(
        self,
        sentences: Sequence[str],
        *,
        bos: bool = True,
        eos: bool = True,
        n_threads: int = 1,
        progress: Progress | None = None,
    ) -> SentenceScores:
        """Score sentences, which must not contain line feeds. `progress` counts sentences."""
        # A lone surrogate becomes invalid UTF-8, which the core rejects with the sentence number.
        data = ("\n".join(sentences_of(sentences)) + "\n" if sentences else "").encode("utf-8", "surrogatepass")
        scores = self._score_block(LineBlock(data, 1), bos, eos, n_threads, progress)
        if len(scores) != len(sentences):
            line = next(i for i, sentence in enumerate(sentences, start=1) if "\n" in sentence)
            raise InputError("the sentence contains a line feed; score its lines separately", line=line)
        return scores

    def score_blocks(
        self, blocks: Iterable[LineBlock], *, bos: bool = True, eos: bool = True, n_threads: int = 1
    ) -> Iterator[SentenceScores]:
        """Score text block by block, as returned by `read_blocks`."""
        for block in blocks:
            yield self._score_block(block, bos, eos, n_threads, None)

    def score_file(
        self, path: PathLike, *, bos: bool = True, eos: bool = True, n_threads: int = 1
    ) -> Iterator[SentenceScores]:
        """Score the lines of a file, block by block."""
        with naming(path):
            yield from self.score_blocks(read_blocks(path), bos=bos, eos=eos, n_threads=n_threads)

    def score_ids(
        self, offsets: Int64Array, ids: Int32Array, *, bos: bool = True, eos: bool = True, n_threads: int = 1
    ) -> SentenceScores:
        """Score sentences given as ids of this model's vocabulary."""
        return SentenceScores(*self._native.score_ids(offsets, ids, bos, eos, n_threads))

    def perplexity(self, sentences: Sequence[str], *, n_threads: int = 1) -> Perplexity:
        """Perplexity of these sentences, including `</s>`."""
        return Perplexity.of([self.score_batch(sentences, n_threads=n_threads)])

    def join(self, items: Iterable[str | LmPiece], *, bos: bool = False, eos: bool = False) -> LmPiece:
        """A partial sentence made of words and pieces, each word scored with the left context known so far.

        `bos` prepends `<s>` and `eos` appends `</s>`. Pieces are equal when they are interchangeable in every sentence
        without changing the score of the rest.
        """
        known = [self._vocab.id(item) if isinstance(item, str) else item for item in items]
        return join_pieces(self._native, [*known, EOS] if eos else known, bos)

    def _score_block(
        self, block: LineBlock, bos: bool, eos: bool, n_threads: int, progress: Progress | None
    ) -> SentenceScores:
        return SentenceScores(*self._native.score_text(block.data, block.first_line, bos, eos, n_threads, progress))


def _load_binary(path: Path, verify: bool) -> LmModel | None:
    """The memory-mapped model, or None when the file lacks the magic number."""
    if not path.is_file():
        return None  # the text reader reports the error
    try:
        with path.open("rb") as stream:
            if stream.read(len(_MAGIC)) != _MAGIC:
                return None
            return load_lm(stream.fileno(), verify)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from error


def _read_arpa(path: PathLike, progress: Progress | None) -> LmModel:
    reader = ArpaReader()
    for block in read_blocks(path):
        if block.first_line == 1 and block.data.startswith(_MAGIC):
            raise InputError("is a compressed or piped binary model, which cannot be mapped; decompress it first")
        reader.feed(block.data)
        if progress:
            progress(block.first_line + block.data.count(b"\n") - 1)
    return reader.finish()
