"""Scoring, files and chart pieces of the language model."""

from __future__ import annotations

import gzip
import math

import numpy as np
import pytest

from dragoman.errors import FailedError, InputError
from dragoman.lm import EstimateConfig, LanguageModel, Perplexity, TrainingText, estimate
from dragoman.text import LineBlock

LINES = ["the cat sat on the mat", "the dog sat", "a cat on a mat", "the mat", "on the mat sat a dog", "cat ! dog ?"]
OTHERS = ["the cat on the mat", "unheard words", "", "a dog sat on the cat ?", "mat mat mat", "the  \tdog \r"]


@pytest.fixture(scope="module")
def model():
    text = TrainingText()
    text.add_lines(LINES)
    return estimate(text, EstimateConfig(order=4)).model


def test_what_it_says_of_itself(model):
    assert model.order == 4
    assert model.n_ngrams[0] == len(model.vocab) == 3 + 9
    assert "cat" in model.vocab
    assert "bird" not in model.vocab


def test_full_scores_add_up_to_the_score(model):
    for line in OTHERS:
        for bos in (True, False):
            for eos in (True, False):
                tokens = model.full_scores(line, bos=bos, eos=eos)
                assert len(tokens) == len(line.split()) + eos
                assert model.score(line, bos=bos, eos=eos) == pytest.approx(sum(t.logprob for t in tokens), abs=1e-6)
                assert all(1 <= t.ngram_length <= 4 for t in tokens)
    assert [t.oov for t in model.full_scores("the bird sat")] == [False, True, False, False]


def test_batch_equals_one_by_one_for_any_number_of_threads(model):
    many = OTHERS * 50
    one = model.score_batch(many)
    assert one.logprob.tolist() == [model.score(line) for line in many]
    assert one.n_tokens.tolist() == [len(line.split()) + 1 for line in many]
    assert one.n_unknown.tolist() == [sum(t.oov for t in model.full_scores(line)) for line in many]
    for n_threads in (2, 7):
        more = model.score_batch(many, n_threads=n_threads)
        for name in ("logprob", "unknown_logprob", "n_tokens", "n_unknown"):
            assert np.array_equal(getattr(one, name), getattr(more, name)), name
    offsets, ids = model.vocab.encode_lines(many)
    assert np.array_equal(model.score_ids(offsets, ids, n_threads=3).logprob, one.logprob)


def test_nothing_to_score(model):
    assert len(model.score_batch([])) == 0
    assert model.score("", eos=False) == 0
    with pytest.raises(InputError, match="no text"):
        model.perplexity([])


def test_perplexity_with_and_without_unknown_words(model):
    found = model.perplexity(OTHERS)
    tokens = [token for line in OTHERS for token in model.full_scores(line)]
    known = [token for token in tokens if not token.oov]
    assert (found.tokens, found.oov, found.sentences) == (len(tokens), len(tokens) - len(known), len(OTHERS))
    total = sum(token.logprob for token in tokens)
    assert found.log10_total == pytest.approx(total / math.log(10))
    assert found.perplexity == pytest.approx(math.exp(-total / len(tokens)))
    assert found.perplexity_without_oov == pytest.approx(math.exp(-sum(t.logprob for t in known) / len(known)))
    only_unknown = model.score_batch(["unheard"], eos=False)
    assert Perplexity.of([only_unknown]).perplexity_without_oov is None


def test_bad_sentences_are_named(model):
    with pytest.raises(InputError, match=r"line 2: .*line feed"):
        model.score_batch(["fine", "not\nfine"])
    with pytest.raises(InputError, match=r"line 2: invalid UTF-8"):
        model.score_batch(["fine", "\ud800"])
    with pytest.raises(InputError, match="id 99 is not in"):
        model.score_ids(np.array([0, 1]), np.array([99], np.int32))
    with pytest.raises(InputError, match=r"line 11: invalid UTF-8"):
        list(model.score_blocks([LineBlock(b"fine\n\xff\n", 10)]))


def test_a_file_is_scored_in_blocks(model, tmp_path):
    (tmp_path / "text.gz").write_bytes(gzip.compress("".join(line + "\n" for line in OTHERS).encode()))
    assert Perplexity.of(model.score_file(tmp_path / "text.gz")) == model.perplexity(OTHERS)
    (tmp_path / "bad").write_bytes(b"fine\n\xff\n")
    with pytest.raises(InputError, match=r"bad, line 2"):
        list(model.score_file(tmp_path / "bad"))


def test_binary_and_arpa_give_the_same_model(model, tmp_path):
    model.save(tmp_path / "lm")
    mapped = LanguageModel.load(tmp_path / "lm")
    assert (mapped.order, mapped.n_ngrams, len(mapped.vocab)) == (model.order, model.n_ngrams, len(model.vocab))
    assert np.array_equal(mapped.score_batch(OTHERS).logprob, model.score_batch(OTHERS).logprob)
    mapped.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "lm").read_bytes()
    for name in ("arpa", "arpa.gz", "arpa.xz", "arpa.zst"):
        mapped.export_arpa(tmp_path / name)
        read = LanguageModel.load(tmp_path / name)
        assert read.n_ngrams == model.n_ngrams
        assert np.array_equal(read.score_batch(OTHERS).logprob, model.score_batch(OTHERS).logprob)
    read.export_arpa(tmp_path / "twice")
    assert sorted((tmp_path / "twice").read_bytes().split(b"\n")) == sorted(
        (tmp_path / "arpa").read_bytes().split(b"\n")
    )


def test_the_same_text_gives_the_same_file(model, tmp_path):
    text = TrainingText()
    text.add_lines(LINES)
    model.save(tmp_path / "one")
    estimate(text, EstimateConfig(order=4)).model.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_damaged_binary_is_refused(model, tmp_path):
    path = tmp_path / "lm"
    model.save(path)
    good = path.read_bytes()
    for cut in (8, 100, 240, 1000, len(good) - 64, len(good) - 1):
        path.write_bytes(good[:cut])
        with pytest.raises(InputError, match="damaged"):
            LanguageModel.load(path, verify=False)
    path.write_bytes(good + b"\0" * 64)
    with pytest.raises(InputError, match="damaged"):
        LanguageModel.load(path, verify=False)
    for place in range(8, len(good), 97):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        # Bytes between header and words are padding that no sum covers.
        if 240 <= place < 256:
            continue
        with pytest.raises(InputError, match=r"damaged|version"):
            LanguageModel.load(path)
    path.write_bytes(good[:8] + b"\x07" + good[9:])
    with pytest.raises(InputError, match="version 7"):
        LanguageModel.load(path)


def test_what_is_no_model_is_refused(model, tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        LanguageModel.load(tmp_path / "nowhere")
    with pytest.raises(InputError, match="folder"):
        LanguageModel.load(tmp_path)
    for content in (b"", b"just text\n", b"\x7fELF" + bytes(range(128)) * 50):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(InputError, match=r"other.*(not a language model|UTF-8)"):
            LanguageModel.load(tmp_path / "other")
    model.save(tmp_path / "lm")
    (tmp_path / "lm.gz").write_bytes(gzip.compress((tmp_path / "lm").read_bytes()))
    with pytest.raises(InputError, match="decompress"):
        LanguageModel.load(tmp_path / "lm.gz")


def test_a_file_that_cannot_be_written(model, tmp_path):
    with pytest.raises(FailedError, match="cannot be written"):
        model.save(tmp_path / "no" / "such" / "folder")


def test_pieces_know_what_can_still_change(model):
    assert model.join(["unheard"]) == model.join(["unknown"])  # the model knows neither
    assert model.join(["cat", "sat"]) != model.join(["dog", "sat"])
    whole = model.join(["the", "dog", "sat"], bos=True, eos=True)
    assert whole.score == pytest.approx(model.score("the dog sat"), abs=1e-5)
    middle = model.join(["dog"])
    assert model.join(["the", middle, "sat"], bos=True, eos=True) == whole
    assert hash(model.join(["the", middle, "sat"], bos=True, eos=True)) == hash(whole)
    with pytest.raises(ValueError, match="another language model"):
        LanguageModel.join(_tiny(), [middle])


def _tiny():
    text = TrainingText()
    text.add_lines(["x"])
    return estimate(text, EstimateConfig(order=2)).model


def test_of_two_bad_lines_the_first_is_named_with_any_threads(model):
    # The second is found bad at once, the first only after a while.
    lines = [b"the cat"] * 64
    lines[5] = b"the mat " * 1_000_000 + b"\xff"
    lines[6] = lines[40] = b"\xfe"
    block = LineBlock(b"\n".join(lines), 1)
    for n_threads in [1, *[8] * 50]:
        with pytest.raises(InputError, match=r"line 6: invalid UTF-8 \(byte 255\)"):
            list(model.score_blocks([block], n_threads=n_threads))
