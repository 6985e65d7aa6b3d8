"""Search spaces in the formats of cdec, Travatar and Moses: what they say, against brute force, and no crash."""

from __future__ import annotations

import itertools
import random
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.foreign_forests import GRAPH, as_cdec, as_travatar, plain
from tests.kit.forests import N_FEATURES, brute_force, forests, share, weight_vectors, words_of

from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.forest import read_forest, read_forests


def read(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "space"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_forest(path)


def lists_of(forest, weights, k=2000):
    """The k best derivations as (score, words), sorted."""
    names = Weights.from_dict({f"f{i}": float(w) for i, w in enumerate(weights)})
    best = forest.kbest(names, k)
    return sorted((round(float(best.totals[c]), 4), forest.text(best.tokens_of(c))) for c in range(len(best)))


def expected(forest, weights):
    arrays, scored = brute_force(forest, weights)
    return sorted(
        (round(score, 4) + 0.0, " ".join(plain(word) for word in words_of(arrays, edges))) for score, edges in scored
    )


@pytest.mark.parametrize(
    "written", [as_cdec, lambda forest: as_cdec(forest, names=False), as_travatar], ids=["cdec", "places", "travatar"]
)
@given(forests(), weight_vectors)
@settings(max_examples=60)
def test_derivations_are_those_of_brute_force(written, forest, weights):
    # Marks of a sentence's ends are words in these formats.
    wanted = expected(forest, weights)
    found = lists_of(read(written(forest)), weights, len(wanted) + 1)
    assert Counter(words for _, words in found) == Counter(words for _, words in wanted)
    np.testing.assert_allclose([score for score, _ in found], [score for score, _ in wanted], atol=1e-3)


def test_most_of_these_have_derivations():
    assert share(forests(), lambda forest: len(brute_force(forest, np.zeros(N_FEATURES))[1]) > 1, n=60) > 0.7


@st.composite
def graphs(draw):
    """Steps of a search graph as (hypothesis, stack, back, recombined or -1, features, words)."""
    steps = [(0, 0, -1, -1, {}, "")]
    winners = {0: [0]}
    for stack in range(1, draw(st.integers(1, 3)) + 1):
        winners[stack] = []
        for _ in range(draw(st.integers(1, 4))):
            number = len(steps)
            back = draw(st.sampled_from(winners[draw(st.integers(0, stack - 1))] or [0]))
            into = draw(st.sampled_from([-1, *winners[stack]])) if winners[stack] else -1
            features = draw(st.dictionaries(st.sampled_from(["core_1", "core_2", "tm_x"]), st.integers(-4, 4)))
            words = " ".join(draw(st.lists(st.sampled_from(["a", "|", '"q"', "out=b"]), max_size=2)))
            steps.append((number, stack, back, into, features, words))
            if into < 0:
                winners[stack].append(number)
    return steps


def as_graph(steps):
    full = max(step[1] for step in steps)
    lines = []
    for number, stack, back, into, features, words in steps:
        forward = -1 if stack == full else 99
        if number == 0:
            lines.append(f"0 hyp=0 stack=0 forward={forward} fscore=0")
            continue
        core = f"core=({features.get('core_1', 0)},{features.get('core_2', 0)}) "
        sparse = f"tm_x={features['tm_x']} " if "tm_x" in features else ""
        recombined = f"recombined={into} " if into >= 0 else ""
        lines.append(
            f"0 hyp={number} stack={stack} back={back} score=-1 transition=-1 {recombined}forward={forward} "
            f'fscore=-1 covered=0-0 scores="{core}{sparse}" out="s|{words}"'
        )
    return "\n".join(lines) + "\n"


def paths(steps, node):
    """Every way to a winning hypothesis: its words and the sums of its features."""
    if node == 0:
        yield [], {}
        return
    for number, _, back, into, features, words in steps:
        if node in (number, into) and not (node == number and into >= 0):
            for before, sums in paths(steps, back):
                total = {name: sums.get(name, 0) + features.get(name, 0) for name in {*sums, *features}}
                yield [*before, *words.split()], total


@given(graphs(), st.lists(st.integers(-3, 3), min_size=3, max_size=3))
@settings(max_examples=60)
def test_a_search_graph_has_the_paths_that_its_lines_say(steps, weights):
    forest = read(as_graph(steps))
    by_name = dict(zip(["core_1", "core_2", "tm_x"], map(float, weights), strict=True))
    best = forest.kbest(Weights.from_dict(by_name), 5000)
    found = sorted((float(best.totals[c]), forest.text(best.tokens_of(c))) for c in range(len(best)))
    full = max(step[1] for step in steps)
    ends = [step[0] for step in steps if step[1] == full and step[3] < 0]
    wanted = sorted(
        (sum(by_name[name] * value for name, value in sums.items()), " ".join(words))
        for words, sums in itertools.chain.from_iterable(paths(steps, end) for end in ends)
    )
    assert found == wanted


def damaged(rng, text):
    """A few bytes changed, taken out, doubled or put in, or the end cut off."""
    data = bytearray(text)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(5):
            case 0:
                data[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del data[at : at + rng.randint(1, 12)]
            case 2:
                data[at:at] = data[at : at + rng.randint(1, 30)]
            case 3:
                data[at:at] = rng.choice([b"-1", b"1e999", b"NaN", b"[", b'"', b"null", b"99999999999", b"0.5", b"{}"])
            case _:
                del data[max(at, 1) :]
    return bytes(data)


SEEDS = {
    "graph": GRAPH.split("7 hyp=0")[0],
    "short graph": "0 hyp=0 stack=0\n0 hyp=1 stack=1 back=0 score=-1 transition=-1 forward=-1 covered=0-0 out=a b\n",
    "hypergraph": "# a ||| b ||| c\n2 2\n# node 0\n1\n<s> |||  ||| 0\n1\n[0] a ||| x=1 ||| 1\n",
    "cdec": '{"rules":[1,"[X] ||| a ||| b c",2,"[X] ||| [X,1] d ||| d [1]"],"features":["f1","f2"],'
    '"edges":[{"tail":[],"spans":[0,1,-1,-1],"feats":[0,-2.5],"rule":1}],"node":{"in_edges":[0],"cat":"X"},'
    '"edges":[{"tail":[0],"feats":["f3",1,1,2],"rule":2}],"node":{"in_edges":[1]}}\n',
    "travatar": '{"nodes": [{"id": 0, "sym": "S", "span": [0, 2]}, {"id": 1, "span": [1, 2]}], "edges": '
    '[{"id": 0, "head": 0, "tails": [1], "trg": [{"label": -1, "words": ["the", -1]}], "features": {"lm": -0.5}}, '
    '{"id": 1, "head": 1, "trg": [{"words": ["<unk>"]}], "features": {"lm": -1}}], "words": ["la", "maison"]}\n',
    "ours": '{"format":"dragoman forest 1","words":["a","b"],"features":["f"],"labels":[],"instances":'
    '[{"rule":1,"span":[0,1],"symbols":[0],"features":[[0,-1.5]]},{"rule":2,"span":[0,2],"symbols":[1,-1],"features":[]}],"nodes":'
    '[{"label":-1,"span":[0,1],"covered":1,"edges":[{"instance":0,"tails":[],"features":[]}]},{"label":-1,"span":[0,2],'
    '"covered":2,"edges":[{"instance":1,"tails":[0],"features":[[0,2]]}]}]}\n',
}


@pytest.mark.parametrize("kind", SEEDS)
def test_damage_is_refused_or_harmless(kind, tmp_path):
    rng = random.Random(kind)
    path = tmp_path / "space"
    refused = unclear = 0
    for _ in range(200):
        path.write_bytes(damaged(rng, SEEDS[kind].encode()))
        try:
            spaces = read_forests([path])
        except InputError as error:
            refused += 1
            unclear += error.path != str(path) or len(error.message) > 500
            continue
        assert np.isfinite(spaces.kbest(np.ones(len(spaces.index)), 3).totals).all()
    assert 30 < refused < 200
    assert not unclear
