"""Whatever stands in a line: as many lines out as in, words passed through untouched, scores that add up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.small_text import write_splits

from dragoman.lm import EstimateConfig
from dragoman.system import System, TrainConfig, train
from dragoman.text import split_tokens

WORDS = st.sampled_from(
    ["|||", "<s>", "</s>", "<unk>", "[X,1]", "\\", "a|b", "der", "die", "hund", ".", "\u00a0", "\u2028x"]
)
ANY = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n\r"), max_size=6)
LINES = st.lists(st.lists(WORDS | ANY, max_size=8).map(" ".join), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    folder = tmp_path_factory.mktemp("system")
    write_splits(folder, 200, 0, 0, seed=1)
    config = TrainConfig(lm=EstimateConfig(order=2))
    return train(folder / "train.de", folder / "train.en", folder / "system", config=config)


@settings(max_examples=60)
@given(lines=LINES)
def test_every_line_has_its_translation(system: System, lines: list[str]) -> None:
    found = list(system.translate(lines))
    assert len(found) == len(lines)
    for line, translation in zip(lines, found, strict=True):
        own = set(split_tokens(line))
        assert all(word in own or word in system.translator.vocab for word in split_tokens(translation))
        strange = [word for word in split_tokens(line) if word not in system.grammar.source_vocab]
        assert sorted(word for word in split_tokens(translation) if word in strange) == sorted(strange)


@settings(max_examples=40)
@given(lines=LINES)
def test_lists_and_explanations_agree(system: System, lines: list[str]) -> None:
    pool = system.kbest(lines, 3)
    (shard,) = pool.shards
    for s, line in enumerate(lines):
        explained = system.explain(line)
        best = int(shard.sentences[s])
        if explained is None:
            assert not split_tokens(line)
            continue
        assert explained.text == pool.text(shard, best)
        assert sum(item.contribution for item in explained.features) == pytest.approx(shard.totals[best], abs=1e-3)
