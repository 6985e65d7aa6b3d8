"""Our reader of JSON lines agrees with Python's json."""

from __future__ import annotations

import json
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dragoman._core import FeatureIndex, NbestReader
from dragoman.candidates import new_words
from dragoman.errors import InputError

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=6)
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False) | st.integers(-(2**40), 2**40)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def complaint(call, *arguments):
    """The InputError that a call raises, or None."""
    try:
        call(*arguments)
    except InputError as error:
        return error
    return None


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=20)


@given(
    text=TEXTS,
    features=st.dictionaries(NAMES, NUMBERS, max_size=4),
    scores=st.dictionaries(NAMES, NUMBERS, max_size=2),
    more=VALUES,
    ascii_only=st.booleans(),
)
def test_the_same_as_pythons(text, features, scores, more, ascii_only):
    line = {"id": 3, "more": more, "text": text, "features": features, "scores": scores}
    data = json.dumps(line, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    index, words = FeatureIndex(), new_words()
    reader = NbestReader(index, words)
    error = complaint(reader.read_json, data, 1)
    if error is not None:  # Python writes lone surrogates, which are not UTF-8
        assert "UTF-8" in str(error) or "surrogate" in str(error)
        return
    _, _, ids, values, _, tokens, _, columns = reader.take()
    found = dict(zip(index.names(ids), values.tolist(), strict=True))
    assert found == {name: float(np.float32(value)) for name, value in features.items() if np.float32(value) != 0}
    assert dict(zip(reader.score_names(), [c[0] for c in columns], strict=True)) == scores
    expected = text.replace("\n", " ").replace("\r", " ").replace("\t", " ")
    assert len(tokens) == len([word for word in expected.split(" ") if word])


@given(data=st.binary(max_size=60) | st.text('{}[]":,0123456789.eE-+\\untfalsr idx', max_size=60).map(str.encode))
def test_nothing_crashes_the_readers(data):
    for read in ("read_json", "read_fields"):
        reader = NbestReader(FeatureIndex(), new_words())
        arguments = (0, 1, 2, 3) if read == "read_fields" else ()
        error = complaint(getattr(reader, read), data, 1, *arguments)
        assert error.line if error else all(math.isfinite(value) for value in reader.take()[3])


@given(
    data=st.lists(
        st.sampled_from(["0", "|||", " ", "a=", "b:", "1", "-2e3", "=", "c=4", "\n", "x", "nan"]), max_size=30
    )
)
def test_fields_in_any_order_never_crash(data):
    reader = NbestReader(FeatureIndex(), new_words())
    error = complaint(reader.read_fields, " ".join(data).encode(), 5, 0, 1, 2, 3)
    assert error is None or error.line >= 5
