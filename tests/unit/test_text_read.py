"""Files of every kind come in as the same lines, and broken ones say where they are broken."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import sys

import pytest
import zstandard

from dragoman.errors import FailedError, InputError, MismatchError
from dragoman.text import compression, count_lines, open_output, read_blocks, read_lines, read_parallel
from dragoman.text import read as read_module

COMPRESS = {
    "plain": lambda data: data,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


@pytest.fixture(params=COMPRESS)
def compress(request):
    return COMPRESS[request.param]


def write(tmp_path, data, name="file"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


def lines_of(tmp_path, data):
    return list(read_lines(write(tmp_path, data)))


def test_lines_come_back_whatever_the_compression(tmp_path, compress):
    text = "".join(f"satz {i} über\n" for i in range(100_000))
    assert list(read_lines(write(tmp_path, compress(text.encode())))) == text.split("\n")[:-1]


def test_concatenated_members_are_one_stream(tmp_path, compress):
    data = compress(b"one\ntwo ") + compress(b"more\nthree\n")
    assert lines_of(tmp_path, data) == ["one", "two more", "three"]


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_truncated_stream_is_an_error_that_names_the_file(tmp_path, kind):
    data = COMPRESS[kind](os.urandom(1000).hex().encode())
    path = write(tmp_path, data[: len(data) // 2])
    with pytest.raises(InputError, match=rf"{path}.*(truncated|damaged)"):
        list(read_lines(path))


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_damaged_stream_is_an_error(tmp_path, kind):
    data = bytearray(COMPRESS[kind](os.urandom(5000).hex().encode()))
    data[len(data) // 2] ^= 0xFF
    data[len(data) // 2 + 1] ^= 0xFF
    with pytest.raises(InputError, match="damaged|truncated|invalid UTF-8"):
        lines_of(tmp_path, bytes(data))


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_garbage_after_a_member_is_an_error(tmp_path, kind):
    with pytest.raises(InputError, match="damaged"):
        lines_of(tmp_path, COMPRESS[kind](b"fine\n") + b"garbage garbage garbage")


def test_decoder_memory_is_capped(tmp_path, monkeypatch):
    monkeypatch.setattr(compression, "MAX_DECODER_BYTES", 1 << 16)
    with pytest.raises(InputError, match="damaged"):
        lines_of(tmp_path, lzma.compress(b"a\n" * 100, preset=9))


def test_only_line_feeds_end_lines(tmp_path):
    text = "a\u2028b\n\x0bc\x0c\x1cd\x85\ne\n"
    assert lines_of(tmp_path, text.encode()) == ["a\u2028b", "\x0bc\x0c\x1cd\x85", "e"]


def test_crlf_bom_blank_lines_and_missing_last_end(tmp_path):
    assert lines_of(tmp_path, b"\xef\xbb\xbfone\r\n\r\n\ntwo\rthree\r\nlast") == ["one", "", "", "two\rthree", "last"]
    assert lines_of(tmp_path, b"\xef\xbb\xbf") == []
    assert lines_of(tmp_path, b"") == []
    assert lines_of(tmp_path, b"\n") == [""]


def test_ten_thousand_words_are_one_line(tmp_path):
    line = " ".join(["wort"] * 10_000)
    assert lines_of(tmp_path, f"{line}\n{line}\n".encode()) == [line, line]


def test_invalid_utf8_names_file_and_line(tmp_path):
    path = write(tmp_path, b"fine\n" * 300_000 + b"caf\xe9\nfine\n")
    with pytest.raises(InputError, match=r"invalid UTF-8 \(byte 233\)") as caught:
        list(read_lines(path))
    assert (caught.value.path, caught.value.line) == (str(path), 300_001)


def test_utf16_is_recognised(tmp_path):
    with pytest.raises(InputError, match="UTF-16"):
        lines_of(tmp_path, "hallo\n".encode("utf-16"))


def test_endless_line_is_an_error_with_its_number(tmp_path, monkeypatch):
    monkeypatch.setattr(read_module, "MAX_LINE_BYTES", 1 << 12)
    with pytest.raises(InputError, match="line of more than") as caught:
        lines_of(tmp_path, b"short\n" + b"x" * (3 << 20))
    assert caught.value.line == 2


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        list(read_lines(tmp_path / "absent"))
    with pytest.raises(InputError, match="is a folder"):
        list(read_lines(tmp_path))


def test_blocks_know_their_first_line(tmp_path):
    path = write(tmp_path, b"".join(b"%d\n" % i for i in range(400_000)))
    blocks = list(read_blocks(path))
    assert len(blocks) > 1
    for block in blocks:
        assert int(block.data.split(b"\n", 1)[0]) == block.first_line - 1


def test_count_lines(tmp_path):
    assert count_lines(write(tmp_path, b"a\nb\nc")) == 3
    assert count_lines(write(tmp_path, b"a\nb\n")) == 2
    assert count_lines(write(tmp_path, b"")) == 0


def test_parallel_files_of_different_length_name_both_counts(tmp_path):
    a, b = write(tmp_path, b"1\n2\n3\n", "a"), write(tmp_path, b"1\n", "b")
    with pytest.raises(MismatchError, match=rf"{a} has 3, {b} has 1"):
        list(read_parallel([a, b]))
    with pytest.raises(MismatchError, match=rf"{b} has 1, {a} has 3"):
        list(read_parallel([b, a]))
    assert list(read_parallel([a, a])) == [("1", "1"), ("2", "2"), ("3", "3")]


def test_standard_input(monkeypatch, tmp_path):
    path = write(tmp_path, gzip.compress(b"from a pipe\n"))
    with path.open("rb") as stream:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))
        assert list(read_lines("-")) == ["from a pipe"]


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_written_lines_come_back(tmp_path, suffix):
    path = tmp_path / f"out{suffix}"
    lines = ["eins", "", "zwei\u2028drei", "\u00a0"]
    with open_output(path) as writer:
        for line in lines:
            writer.write(line)
    assert list(read_lines(path)) == lines
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_failed_writing_leaves_the_old_file(tmp_path):
    path = write(tmp_path, b"old\n")
    with pytest.raises(RuntimeError), open_output(path) as writer:
        writer.write("new")
        raise RuntimeError
    assert path.read_bytes() == b"old\n"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_unwritable_folder_is_a_clear_failure(tmp_path):
    with pytest.raises(FailedError, match="cannot be written"), open_output(tmp_path / "absent" / "out"):
        pass
