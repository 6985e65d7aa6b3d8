"""Damaged files: an InputError or a model that works, never a crash, whatever the bytes."""

from __future__ import annotations

import random
import re
import tempfile

import numpy as np
import pytest

from dragoman._core import ArpaReader, ArpaWriter, load_lm
from dragoman.errors import InputError
from dragoman.lm import EstimateConfig, LanguageModel, TrainingText, estimate

SENTENCES = ["a b c a b", "c unknown a", "", "d d d d d d", "b a"]
N_INPUTS = 4000


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lm")
    text = TrainingText()
    text.add_lines(["a b c a b", "a b d", "c a b a c", "b a b c d", "d d d a b c", "é"])
    model = estimate(text, EstimateConfig(order=3)).model
    model.save(folder / "binary")
    model.export_arpa(folder / "arpa")
    return (folder / "binary").read_bytes(), (folder / "arpa").read_bytes()


def read_arpa(data):
    reader = ArpaReader()
    reader.feed(data)
    return reader.finish()


def map_binary(data, verify):
    with tempfile.TemporaryFile() as stream:
        stream.write(data)
        stream.flush()
        return load_lm(stream.fileno(), verify)


def use(make, *arguments):
    """What a caller may do with a model that loads."""
    try:
        native = make(*arguments)
        model = LanguageModel(native)
        scores = model.score_batch(SENTENCES)
        assert np.array_equal(scores.n_tokens, [6, 4, 1, 7, 3])
        model.full_scores(SENTENCES[0])
        model.join(["a", model.join(["b", "c"]), "a"], bos=True, eos=True)
        writer = ArpaWriter(native)
        while writer.next_block():
            pass
    except InputError:
        return None
    return scores


def mutated(data, rng, alphabet):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        place = rng.randrange(len(data))
        match rng.randrange(5):
            case 0:
                data[place] = rng.choice(alphabet)
            case 1:
                del data[place : place + rng.choice((1, 2, 8, 50))]
            case 2:
                data[place:place] = bytes(rng.choice(alphabet) for _ in range(rng.choice((1, 4, 16))))
            case 3:
                other = rng.randrange(len(data))
                data[place:place] = data[other : other + rng.choice((3, 10, 40))]
            case _:
                del data[place:]
        if not data:
            return b""
    return bytes(data)


def test_arpa_text(files):
    _, arpa = files
    rng = random.Random(1)
    outcomes = []
    for _ in range(N_INPUTS):
        scores = use(read_arpa, mutated(arpa, rng, b"0123456789-.\t \n\r\\aeinfd=<>/s\xff\x00"))
        outcomes.append(scores is not None)
        if scores is not None:
            assert np.isfinite(scores.logprob).all()
    assert any(outcomes)
    assert not all(outcomes)


def test_numbers_in_arpa_text(files):
    _, arpa = files
    rng = random.Random(2)
    numbers = [match.span() for match in re.finditer(rb"-?[0-9.]+", arpa)]
    strange = [
        b"1e308",
        b"-1e308",
        b"-1e37",
        b"1e37",
        b"-0",
        b"1e-400",
        b"nan",
        b"-inf",
        b"0x1p3",
        b"9" * 30,
        b"",
        b"-",
    ]
    for _ in range(1000):
        start, end = rng.choice(numbers)
        if (scores := use(read_arpa, arpa[:start] + rng.choice(strange) + arpa[end:])) is not None:
            assert not np.isnan(scores.logprob).any()


def test_a_binary_with_any_change_is_refused(files):
    binary, _ = files
    rng = random.Random(3)
    whole = None
    for _ in range(N_INPUTS):
        damaged = mutated(binary, rng, bytes(range(256)))
        scores = use(map_binary, damaged, True)
        # Only the padding of the header is outside the checksums, and a change may put back the same byte.
        if scores is not None:
            assert damaged[:240] + damaged[256:] == binary[:240] + binary[256:]
            whole = scores.logprob if whole is None else whole
            assert np.array_equal(scores.logprob, whole)


def test_an_unverified_binary_is_safe_whatever_it_holds(files):
    """Without the checksum of the content nothing but sizes is known."""
    binary, _ = files
    rng = random.Random(4)
    n_used = 0
    for _ in range(N_INPUTS):
        damaged = bytearray(binary)
        for _ in range(rng.choice((1, 3, 30, 300))):
            damaged[rng.randrange(256, len(damaged))] = rng.randrange(256)
        n_used += use(map_binary, bytes(damaged), False) is not None
    assert n_used > 0
