"""Compressed streams, recognised by their magic bytes and read in blocks with limited decoder memory."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

import zstandard

from dragoman.errors import InputError

__all__ = ["MAX_DECODER_BYTES", "decompressed"]

MAX_DECODER_BYTES = 1 << 28
"""Streams that need a larger window or dictionary are refused."""

_IN_BYTES = 1 << 16
_ZSTD_IN_BYTES = 1 << 12  # the zstd decoder has no output limit; 4 KiB of input expand to at most 128 MiB
_OUT_BYTES = 1 << 20


def decompressed(stream: BinaryIO) -> Iterator[bytes]:
    """Decompressed blocks of a plain, gzip, xz, zstd or bzip2 stream.

    Raises InputError when the stream is damaged or truncated.
    """
    head = stream.read(_IN_BYTES)
    if head.startswith(b"\x1f\x8b"):
        return _members(stream, head, "gzip", _gzip_blocks)
    if head.startswith(b"\xfd7zXZ\x00"):
        return _members(stream, head, "xz", _xz_blocks)
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return _members(stream, head, "zstd", _zstd_blocks)
    if head.startswith(b"BZh") and head[4:10] == b"1AY&SY":
        return _members(stream, head, "bzip2", _bz2_blocks)
    return _plain(stream, head)


def _plain(stream: BinaryIO, block: bytes) -> Iterator[bytes]:
    while block:
        yield block
        block = stream.read(_OUT_BYTES)


class _Source:
    """Input with pushback, so that a decoder can return the bytes after its member."""

    def __init__(self, stream: BinaryIO, head: bytes) -> None:
        self._stream = stream
        self._pending = head

    def take(self, n_bytes: int = _IN_BYTES) -> bytes:
        if not self._pending:
            return self._stream.read(n_bytes)
        taken, self._pending = self._pending[:n_bytes], self._pending[n_bytes:]
        return taken

    def give_back(self, data: bytes) -> None:
        self._pending = data + self._pending

    def skip_padding(self) -> bool:
        """Skip zero bytes between members; return whether any data follow."""
        while data := self.take():
            if rest := data.lstrip(b"\0"):
                self.give_back(rest)
                return True
        return False


def _members(stream: BinaryIO, head: bytes, name: str, blocks: Callable[[_Source], Iterator[bytes]]) -> Iterator[bytes]:
    source = _Source(stream, head)
    try:
        while source.skip_padding():
            yield from blocks(source)
    except (zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
        raise InputError(f"the {name} stream is damaged ({error}); download or compress the file again") from error
    except EOFError:
        raise InputError(f"the {name} stream is truncated; download or compress the file again") from None


def _gzip_blocks(source: _Source) -> Iterator[bytes]:
    decoder = zlib.decompressobj(wbits=31)
    data = source.take()
    while not decoder.eof:
        if not data:
            raise EOFError
        if block := decoder.decompress(data, _OUT_BYTES):
            yield block
        data = decoder.unconsumed_tail or (b"" if decoder.eof else source.take())
    source.give_back(decoder.unused_data)


def _xz_blocks(source: _Source) -> Iterator[bytes]:
    decoder = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=MAX_DECODER_BYTES)
    while not decoder.eof:
        data = source.take() if decoder.needs_input else b""
        if decoder.needs_input and not data:
            raise EOFError
        if block := decoder.decompress(data, _OUT_BYTES):
            yield block
    source.give_back(decoder.unused_data)


def _zstd_blocks(source: _Source) -> Iterator[bytes]:
    decoder = zstandard.ZstdDecompressor(max_window_size=MAX_DECODER_BYTES).decompressobj()
    while not decoder.eof:
        data = source.take(_ZSTD_IN_BYTES)
        if not data:
            raise EOFError
        if block := decoder.decompress(data):
            yield block
    source.give_back(decoder.unused_data)


def _bz2_blocks(source: _Source) -> Iterator[bytes]:
    decoder = bz2.BZ2Decompressor()
    while not decoder.eof:
        data = source.take() if decoder.needs_input else b""
        if decoder.needs_input and not data:
            raise EOFError
        try:
            block = decoder.decompress(data, _OUT_BYTES)
        except OSError as error:  # which would look like a disk's
            raise InputError(f"the bzip2 stream is damaged ({error}); download or compress the file again") from error
        if block:
            yield block
    source.give_back(decoder.unused_data)
