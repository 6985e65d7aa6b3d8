"""The chart decoder's edges: long sentences, threads, live weights, unary cycles, bad rules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex, Weights
from dragoman.lm import EstimateConfig, TrainingText, estimate
from dragoman.search import ChartConfig, ChartDecoder, ChartFeatures, RuleBatch

VOCAB = Vocab.of(["a b c d e f g h"])
N_SOURCE = 6
X, Y = -1, -2


def options_of(sentences, grammar, **changes):
    return RuleBatch.from_arrays(**arrays_of(sentences, grammar, **changes))


def arrays_of(sentences, grammar, *, labels=("X",), n_scores=4, seed=5):
    """`grammar` maps source sides to (lhs, target side); every sentence gets all of it. Random scores."""
    patterns = sorted(grammar)
    rows = [(lhs, target) for pattern in patterns for lhs, target in grammar[pattern]]
    n, n_sentences = len(rows), len(sentences)

    def offsets(lists):
        return np.cumsum([0, *(len(row) for row in lists)], dtype=np.int64)

    words = [word for sentence in sentences for word in sentence]
    scores = -np.random.default_rng(seed).random((n, n_scores)).astype(np.float32)
    return {
        "own_words": ["x"],
        "sentence_offsets": offsets(sentences),
        "words": np.array(words, np.int32),
        "pass_through": np.full(len(words), len(VOCAB), np.int32),
        "first_pattern": np.arange(n_sentences + 1, dtype=np.int64) * len(patterns),
        "symbol_offsets": offsets(patterns * n_sentences),
        "symbols": np.array([s for pattern in patterns for s in pattern] * n_sentences, np.int32),
        "first_rule": offsets([grammar[pattern] for pattern in patterns] * n_sentences),
        "lhs": np.array([lhs for lhs, _ in rows] * n_sentences, np.int32),
        "target_offsets": offsets([target for _, target in rows] * n_sentences),
        "targets": np.array([s for _, target in rows for s in target] * n_sentences, np.int32),
        "rules": np.tile(np.arange(n, dtype=np.int64), n_sentences),
        "scores": np.ascontiguousarray(np.tile(scores, (n_sentences, 1))),
        "feature_offsets": np.zeros(n * n_sentences + 1, np.int64),
        "feature_ids": np.zeros(0, np.int32),
        "feature_values": np.zeros(0, np.float32),
        "labels": labels,
    }


def random_grammar(seed=3):
    """Words, words with gaps in both orders, and gaps alone."""
    rng = np.random.default_rng(seed)

    def some():
        return [int(word) for word in rng.integers(3, len(VOCAB), int(rng.integers(1, 3)))]

    grammar = {}
    for f in range(N_SOURCE - 1):  # the last word is unknown
        grammar[f,] = [(0, some()) for _ in range(4)]
        grammar[X, f] = [(0, [*some(), X]), (0, [X, *some()])]
        grammar[X, f, X] = [(0, [-2, *some(), -1]), (0, [-1, *some(), -2])]
        grammar[f, X, (f + 1) % N_SOURCE] = [(0, [*some(), X, *some()])]
    grammar[X, X] = [(0, [-2, -1])]
    return grammar


def random_sentences(lengths, seed=4):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, N_SOURCE, n).tolist() for n in lengths]


def made(config=None, *, lm=None, features=None):
    index = FeatureIndex()
    features = features or replace(ChartFeatures.chiang8(), unknown="unknown")
    decoder = ChartDecoder(config or ChartConfig.fast(), VOCAB, index, features=features, lm=lm)
    return decoder, Weights(index, np.linspace(0.2, 1.0, len(index)))


@pytest.fixture(scope="module")
def lm():
    text = TrainingText()
    text.add_lines(["a b c d", "h g a b c", "c d e f g", "b c d a", "e f a b"] * 3)
    return estimate(text, EstimateConfig(order=4)).model


def test_threads_do_not_matter(lm):
    options = options_of(random_sentences([0, 1, 5, 9, 3, 12, 7, 2]), random_grammar())
    decoder, weights = made(lm=lm)
    one = decoder.kbest(options, weights, 30, n_threads=1)
    many = decoder.kbest(options, weights, 30, n_threads=4)
    for name in one.__slots__:
        assert np.array_equal(getattr(one, name), getattr(many, name)), name
    assert one.sentences[1] == 1  # the empty sentence has the empty translation
    assert len(one.tokens_of(0)) == 0
    ids, values = one.features_of(0)
    assert dict(zip(decoder.index.names(ids), values.tolist(), strict=True)) == {"lm": pytest.approx(lm.score(""))}
    assert np.all(np.diff(one.sentences) >= 1)


@pytest.mark.parametrize("max_span", [1, 5, 20])
def test_long_sentences(lm, max_span):
    options = options_of(random_sentences([200]), random_grammar())
    decoder, weights = made(ChartConfig(pop_limit=10, max_span=max_span), lm=lm)
    [forest] = decoder.decode(options, weights)
    best = forest.best(weights)
    assert best is not None
    spans = [a.source for a in best.applications if a.label == "X"]
    assert max(end - begin for begin, end in spans) <= max_span
    top = [best.applications[0]]
    while top[-1].children:  # the left spine of glue
        top.append(best.applications[top[-1].children[0]])
    assert [a.source[0] for a in top] == [0] * len(top)
    features = best.features()
    assert features["glue"] == sum(a.label == "S" for a in best.applications) - 2
    assert features["glue"] >= 200 / max_span - 1
    assert features["words"] == len(best.tokens())
    assert features["lm"] == pytest.approx(lm.score(" ".join(best.tokens())), abs=1e-3)
    assert all(
        not any(a.features.get(name) for name in ("words", "rules")) for a in best.applications if a.label == "S"
    )


def test_words_that_nothing_covers_pass_through():
    options = options_of([[5, 0, 5]], {(0,): [(0, [3])], (5, X): [(0, [X, 4])]})
    decoder, weights = made()
    [forest] = decoder.decode(options, weights)
    best = forest.best(weights)
    assert best is not None
    assert sorted(best.tokens()) in (["a", "b", "x"], ["a", "x", "x"])
    counts = {best.features()["unknown"] for best in all_derivations(forest, weights)}
    assert counts == {1, 2}  # the first word also has a rule with a gap


def all_derivations(forest, weights):
    best = forest.kbest(weights, 100)
    return [forest.derivation(best.edges_of(c)) for c in range(len(best))]


def test_weights_are_live(lm):
    options = options_of(random_sentences([6]), random_grammar())
    decoder, weights = made(lm=lm)
    buffer = weights.values
    before = decoder.kbest(options, buffer, 1).totals[0]
    buffer *= 2
    assert decoder.kbest(options, buffer, 1).totals[0] != before
    buffer /= 2
    assert decoder.kbest(options, buffer, 1).totals[0] == before


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["lm", "words", "p_e_f"])
def test_weights_that_are_no_numbers_are_refused(lm, name, value):
    options = options_of(random_sentences([6]), random_grammar())
    decoder, weights = made(lm=lm)
    weights.values[decoder.index.find(name)] = value
    with pytest.raises(ValueError, match="not finite"):
        decoder.kbest(options, weights.values, 1)


def test_unary_rules_in_a_cycle_end():
    labels = ("X", "Y", "Z")
    unary = {(X,): [(1, [3, X]), (0, [4, X])], (Y,): [(0, [X, 5]), (2, [X])], (-3,): [(1, [X]), (0, [X])]}
    options = options_of([[0]], {(0,): [(0, [8]), (1, [9])], **unary}, labels=labels)
    decoder, weights = made(ChartConfig(pop_limit=1000))
    [forest] = decoder.decode(options, weights)
    found = all_derivations(forest, weights)
    # X, Y and Z reach each other: only X -> Y -> Z is left, and no rule from a label to itself.
    texts = sorted(" ".join(d.tokens()) for d in found)
    assert texts == sorted(["f", "g", "a f", "g", "a f"])


def test_unary_rules_without_a_cycle_chain_against_the_order_of_labels():
    labels = ("X", "Y", "Z")
    options = options_of([[0]], {(0,): [(2, [3])], (-3,): [(1, [4, X])], (Y,): [(0, [5, X])]}, labels=labels)
    decoder, weights = made(ChartConfig(glue_labels=("X",)))
    [forest] = decoder.decode(options, weights)
    [only] = all_derivations(forest, weights)
    assert only.tokens() == ["c", "b", "a"]


def test_a_sentence_out_of_reach_has_an_empty_forest():
    options = options_of([[0], [5]], {(0,): [(1, [3])]}, labels=("X", "Y"))
    decoder, weights = made(ChartConfig(glue_labels=("X",)))
    first, second = decoder.decode(options, weights)
    assert first.n_nodes == 0
    assert first.best(weights) is None
    assert second.best(weights).tokens() == ["x"]
    best = decoder.kbest(options, weights, 3)
    assert best.sentences.tolist() == [0, 0, 1]


def test_three_and_adjacent_nonterminals_and_empty_targets():
    grammar = {(0,): [(0, [3])], (1,): [(0, [])], (2,): [(0, [4])], (X, X, X): [(0, [-3, 5, -1, -2])]}
    options = options_of([[0, 1, 2]], grammar)
    decoder, weights = made(features=ChartFeatures(arities=("n0", "n1")))
    [forest] = decoder.decode(options, weights)
    found = {
        (" ".join(d.tokens()), d.features().get("n0", 0), d.features()["rules"])
        for d in all_derivations(forest, weights)
    }
    assert found == {("b c a", 3, 4), ("a b", 3, 3)}


def test_all_targets_may_be_empty(lm):
    options = options_of([[0, 0]], {(0,): [(0, [])], (X, X): [(0, [-2, -1])]})
    decoder, weights = made(lm=lm)
    [forest] = decoder.decode(options, weights)
    best = forest.best(weights)
    assert best.tokens() == []
    assert best.features()["lm"] == pytest.approx(lm.score(""), abs=1e-5)


def test_a_larger_pop_limit_finds_no_less(lm):
    options = options_of(random_sentences([6, 7]), random_grammar())
    exact, weights = made(ChartConfig(pop_limit=10**6, rule_limit=None), lm=lm)
    top = exact.kbest(options, weights, 1).totals
    for config in (ChartConfig(pop_limit=1), ChartConfig.fast(), ChartConfig.accurate()):
        pruned, same = made(config, lm=lm)
        assert np.all(pruned.kbest(options, same, 1).totals <= top + 1e-9)
    assert np.allclose(made(ChartConfig.accurate(), lm=lm)[0].kbest(options, weights, 1).totals, top, atol=0.2)


def test_rule_limit_keeps_the_best():
    options = options_of([[0]], {(0,): [(0, [w]) for w in range(3, 9)] + [(1, [9])]}, labels=("X", "Y"))
    decoder, weights = made(ChartConfig(rule_limit=2))
    everything, _ = made(ChartConfig(rule_limit=None))
    few, many = (d.kbest(options, weights, 20) for d in (decoder, everything))
    assert len(many) == 7
    assert len(few) == 3  # two of X, one of Y
    assert set(few.totals.tolist()) <= set(many.totals.tolist())
    assert few.totals[0] == many.totals[0]


def test_feature_sets():
    assert ChartFeatures.chiang8().names() == ("lm", "p_e_f", "p_f_e", "lex_e_f", "lex_f_e", "words", "rules", "glue")
    assert len(ChartFeatures.full14().names()) == 14
    with pytest.raises(ValueError, match="duplicate"):
        ChartFeatures(words="glue")


@pytest.mark.parametrize("field", ["glue_labels", "unknown_labels"])
def test_labels_that_are_not_there_are_refused(field):
    options = options_of([[0]], {(0,): [(0, [3])]})
    decoder, weights = made(ChartConfig(**{field: ("NP",)}))
    with pytest.raises(ValueError, match="no label 'NP'"):
        decoder.decode(options, weights)


@pytest.mark.parametrize(
    "bad", [{"pop_limit": 0}, {"beam": -1.0}, {"beam": float("nan")}, {"rule_limit": 0}, {"max_span": 0}]
)
def test_settings_that_make_no_sense_are_refused(bad):
    with pytest.raises(ValueError, match="must"):
        ChartConfig(**bad)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pass_through", np.zeros(1, np.int32)),
        ("words", np.array([0, -1], np.int32)),
        ("first_pattern", np.array([0, 1], np.int64)),
        ("symbols", np.array([1, 0, -1], np.int32)),
        ("symbols", np.array([0, 0, -2], np.int32)),
        ("first_rule", np.array([0, 2], np.int64)),
        ("lhs", np.array([0, 1], np.int32)),
        ("targets", np.array([3, -2], np.int32)),
        ("targets", np.array([-1, -1], np.int32)),
        ("targets", np.array([3, 3], np.int32)),
        ("scores", np.zeros((2, 3), np.float32)),
        ("scores", np.full((2, 4), np.inf, np.float32)),
        ("rules", np.zeros(1, np.int64)),
        ("feature_ids", np.array([0], np.int32)),
        ("labels", ()),
    ],
)
def test_rules_that_do_not_fit_are_refused(name, value):
    decoder, weights = made()
    good = arrays_of([[0, 0]], {(0,): [(0, [3])], (0, X): [(0, [X])]})
    assert len(decoder.kbest(RuleBatch.from_arrays(**good), weights, 1)) == 1
    with pytest.raises(ValueError, match=r"rules|source sides|features|label"):
        decoder.kbest(RuleBatch.from_arrays(**{**good, name: value}), weights, 1)


def placed_arrays():
    """Two words, the second of which has a feature of its own behind the first; a gap has one by its length."""
    return arrays_of([[0, 0]], {(0,): [(0, [3])], (0, X): [(0, [4, X])]}) | {
        "context_first_place": np.array([0, 1, 1], np.int64),
        "context_symbols": np.array([0], np.int32),
        "context_positions": np.array([1], np.int32),
        "context_first_row": np.array([0, 1], np.int64),
        "context_feature_offsets": np.array([0, 1], np.int64),
        "context_feature_ids": np.array([20], np.int32),
        "context_feature_values": np.array([2], np.float32),
        "gap_first_class": np.array([0, 0, 1], np.int64),
        "gap_classes": np.array([0], np.int32),
        "gap_max_length": 2,
        "gap_feature_offsets": np.array([0, 1, 1], np.int64),
        "gap_feature_ids": np.array([21], np.int32),
        "gap_feature_values": np.array([1], np.float32),
    }


def test_features_of_places_are_part_of_the_score():
    decoder, weights = made()
    plain = np.zeros(30)
    plain[: len(weights.values)] = weights.values
    for extra in (0.0, 5.0, -5.0):
        values = plain.copy()
        values[20], values[21] = extra, -extra
        lists = decoder.kbest(RuleBatch.from_arrays(**placed_arrays()), values, 10)
        assert len(lists) == 2
        for c in range(2):
            ids, found = lists.features_of(c)
            assert lists.totals[c] == pytest.approx(float(values[ids] @ found), abs=1e-5)
            assert found[ids == 20].tolist() == [2]
        assert {21 in lists.features_of(c)[0] for c in range(2)} == {True, False}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("context_first_place", np.array([0, 1], np.int64)),
        ("context_positions", np.zeros(0, np.int32)),
        ("context_first_row", np.array([0, 2], np.int64)),
        ("context_first_row", np.array([1, 2], np.int64)),
        ("context_feature_offsets", np.array([0, 1, 1], np.int64)),
        ("context_feature_ids", np.array([-1], np.int32)),
        ("context_feature_values", np.array([np.nan], np.float32)),
        ("gap_first_class", np.array([0, 1, 1], np.int64)),
        ("gap_classes", np.array([1], np.int32)),
        ("gap_classes", np.array([-1], np.int32)),
        ("gap_max_length", 0),
        ("gap_max_length", 3),
        ("gap_feature_values", np.zeros(0, np.float32)),
    ],
)
def test_features_of_places_that_do_not_fit_are_refused(name, value):
    with pytest.raises(ValueError, match=r"rules|source sides|features|nonterminals"):
        RuleBatch.from_arrays(**{**placed_arrays(), name: value})
