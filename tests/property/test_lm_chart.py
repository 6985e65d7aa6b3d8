"""Any way of splitting a sentence into chart pieces gives the full-string score."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.lm import EstimateConfig, LanguageModel, TrainingText, estimate

WORDS = ["a", "b", "c", "d", "unknown"]
LINES = ["a b c a b", "a b d", "c a b a c", "b a b c d", "d d d a b c", "a b c a d d", "b c a", "c c a b c a b d"]

# N-grams whose first or last words are not listed, and backoff weights on n-grams that nothing follows.
PRUNED = """\\data\\
ngram 1=6
ngram 2=3
ngram 3=3
ngram 4=2

\\1-grams:
-1.1\t<unk>\t-0.7
-99\t<s>\t-0.5
-0.9\t</s>
-0.7\ta\t-0.3
-0.8\tb\t-0.2
-0.85\tc\t0.1

\\2-grams:
-0.4\t<s> a\t-0.1
-0.3\ta b\t-0.25
-0.6\tb <unk>\t-0.9

\\3-grams:
-0.2\tc a b\t-0.4
-0.15\ta a b\t0.2
-0.1\tb c </s>

\\4-grams:
-0.05\tb c a b
-0.04\tc b a c

\\end\\
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    path = tmp_path_factory.mktemp("lm") / "arpa"
    path.write_text(PRUNED, encoding="utf-8")
    found = [LanguageModel.load(path)]
    for order, prune in [(1, (0,)), (2, (0,)), (3, (0,)), (4, (0, 1)), (5, (0,)), (10, (0,))]:
        text = TrainingText()
        text.add_lines(LINES)
        found.append(estimate(text, EstimateConfig(order=order, prune=prune)).model)
    return found


def bracketings(words):
    """Trees over the words: a list of words and lists."""
    if len(words) <= 1:
        return st.just(list(words))

    @st.composite
    def tree(draw):
        items, rest = [], list(words)
        while rest:
            size = draw(st.integers(1, len(rest)))
            part, rest = rest[:size], rest[size:]
            alone = size == 1 or size == len(words)
            items += part if alone or draw(st.booleans()) else [draw(bracketings(part))]
        return items

    return tree()


def join(model, tree, **ends):
    return model.join([join(model, item) if isinstance(item, list) else item for item in tree], **ends)


sentences = st.lists(st.sampled_from(WORDS), max_size=14)


@settings(max_examples=200)
@given(st.data(), sentences)
def test_every_bracketing_gives_the_same_score_and_state(models, data, words):
    tree = data.draw(bracketings(words))
    for model in models:
        for bos, eos in ((True, True), (False, False), (False, True)):
            piece = join(model, tree, bos=bos, eos=eos)
            assert piece.score == pytest.approx(model.score(" ".join(words), bos=bos, eos=eos), abs=1e-4)
            straight = model.join(words, bos=bos, eos=eos)
            assert piece == straight
            assert hash(piece) == hash(straight)


@settings(max_examples=200)
@given(sentences, sentences, sentences, sentences)
def test_equal_pieces_can_be_exchanged(models, one, other, left, right):
    for model in models:
        a, b = model.join(one), model.join(other)
        if a != b or not one or not other:
            continue
        gain_a = model.score(" ".join([*left, *one, *right])) - a.score
        gain_b = model.score(" ".join([*left, *other, *right])) - b.score
        assert gain_a == pytest.approx(gain_b, abs=1e-4)
