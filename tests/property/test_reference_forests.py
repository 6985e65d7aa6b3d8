"""Forests around references: all derivations by brute force, the decoder's own ones, sums and gradients by listing."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_twin import ReferenceTwin, contest_loss_of, edge_score, greedy_list, listed, loss_of
from tests.kit.small_systems import make_systems, opened

from dragoman import _core
from dragoman.align import Alignment, minimal_trees
from dragoman.errors import InputError, MismatchError
from dragoman.metric import Bleu, References, Segments, SentenceBleu
from dragoman.search import EdgeKind, Reach, ReferenceConfig, RuleOptionBuilder

ALL = ReferenceConfig(max_wrong=0)
LOSSES = ("likelihood", "expected-gain", "soft-ramp")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_systems(tmp_path_factory.mktemp("references"), n_folds=4)


@pytest.fixture(scope="module")
def system(made):
    return opened(made, "hiero")


class Pairs:
    """Short pairs of the training text with their links."""

    def __init__(self, system, n=40, most=6):
        training = system.training
        lengths = training.source_ids.lengths(), training.target_ids.lengths()
        lines = np.flatnonzero((lengths[0] <= most) & (lengths[1] <= most + 1))[:n]
        self.lines = lines.astype(np.int64)
        self.side = training.target_ids.take(self.lines)
        self.links = [training.links[int(line)] for line in lines]
        self.source = training.encoded(self.lines, None)

    def parse(self, system, config, links=None, **how):
        parser = system.translator.reference_parser()
        alignment = Alignment.of(self.links if links is None else links)
        targets = self.side.offsets, self.side.ids
        return parser.parse(self.source, targets, alignment, system.weights, config, **how)

    def batch(self, system, max_span=20):
        translator = system.translator
        return RuleOptionBuilder(translator._view, translator.index, max_span=max_span).build(self.source)

    def target(self, i):
        return self.side.ids[self.side.offsets[i] : self.side.offsets[i + 1]].tolist()


@pytest.fixture(scope="module")
def pairs(system):
    return Pairs(system)


def edges_of(forests, s):
    """(node, rule, tails) with spans, without glue: those of the reference, and those in their place."""
    first, last = forests.first_node[s : s + 2].tolist()
    spans = [tuple(row) for row in forests.spans.reshape(-1, 4)[first:last].tolist()]
    own, wrong = set(), set()
    for v in range(first, last):
        for e in range(int(forests.first_edge[v]), int(forests.first_edge[v + 1])):
            tails = tuple(
                spans[t] for t in forests.tails[forests.tail_offsets[e] : forests.tail_offsets[e + 1]].tolist()
            )
            rule, kind = int(forests.rules[e]), forests.kinds[e]
            if kind == EdgeKind.REFERENCE and rule < 0 and (tails or v == last - 1):
                continue  # glue
            (own if kind in (EdgeKind.REFERENCE, EdgeKind.HOLE) else wrong).add((spans[v - first], rule, tails))
    return own, wrong


def compare(system, pairs, links, tight):
    config = ReferenceConfig(tight=tight, holes=False, max_wrong=0)
    forests = pairs.parse(system, config, links)
    batch = pairs.batch(system)
    n_reached = 0
    for s in range(len(forests)):
        own, wrong, is_reached = ReferenceTwin(batch, s, pairs.target(s), links[s], tight=tight).whole()
        assert (forests.reached[s] == Reach.YES) == is_reached
        assert forests.reached[s] in (Reach.YES, Reach.NO)
        if not is_reached or not wrong:
            assert forests.first_node[s] == forests.first_node[s + 1]
            continue
        n_reached += 1
        assert edges_of(forests, s) == (own, wrong)
    return n_reached


@pytest.mark.parametrize("tight", [True, False])
def test_all_derivations_of_a_reference_are_found(system, pairs, tight):
    assert compare(system, pairs, pairs.links, tight) > 5


@settings(max_examples=20)
@given(data=st.data(), tight=st.booleans())
def test_all_derivations_are_found_for_any_links(system, pairs, data, tight):
    links = []
    for s, own in enumerate(pairs.links):
        n, m = int(np.diff(pairs.source.offsets)[s]), len(pairs.target(s))
        changed = {*own} ^ data.draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=2))
        links.append(sorted(changed))
    compare(system, pairs, links, tight)


def test_a_decoders_own_translation_has_the_features_of_its_forest(system, made):
    """Forced to its own output and links, the best derivation of the reference is the decoder's."""
    sentences = (made / "train.de").read_text(encoding="utf-8").split("\n")[:30]
    translator, weights = system.translator, system.weights
    n_compared = 0
    for sentence, forest in zip(sentences, translator.forests(sentences, weights), strict=True):
        derivation = forest.best(weights)
        ids = np.array([translator.vocab.id(word) for word in derivation.tokens()], np.int32)
        links = Alignment.of([translator.alignment(derivation)])
        config = ReferenceConfig(tight=False, prior=0.0, holes=False, max_wrong=0, beam=1e-3)
        found = translator.reference_parser().parse([sentence], (np.array([0, len(ids)]), ids), links, weights, config)
        assert found.reached[0] == Reach.YES
        if not found.n_edges:  # its rules have no alternatives
            continue
        values = weights.values_on(system.index)
        rows = []
        for by, edges in listed(found, 0):
            if by is None:
                row = Counter()
                for e in edges:
                    begin, end = found.feature_offsets[e : e + 2]
                    for i, v in zip(found.feature_ids[begin:end], found.feature_values[begin:end], strict=True):
                        row[int(i)] += float(v)
                rows.append((sum(values[i] * v for i, v in row.items()), row))
        expected = {name: value for name, value in derivation.features().items() if abs(value) > 1e-6}
        best = sum(weights[name] * value for name, value in expected.items())
        assert max(score for score, _ in rows) == pytest.approx(best, abs=1e-3)
        named = [{system.index.name(i): v for i, v in row.items() if abs(v) > 1e-6} for _, row in rows]
        # Derivations whose sparse features alone differ have the same score.
        assert any(row.keys() == expected.keys() and row == pytest.approx(expected, abs=1e-3) for row in named)
        n_compared += 1
    assert n_compared > 15


def strings_of(system, forests, s, target):
    """For each edge that replaces another, the string of its derivations."""
    view = system.translator._view
    first, last = forests.first_node[s : s + 2].tolist()
    spans = forests.spans.reshape(-1, 4)[first:last].tolist()
    vocab = system.translator.vocab
    for v in range(first, last):
        for e in range(int(forests.first_edge[v]), int(forests.first_edge[v + 1])):
            if forests.kinds[e] not in (EdgeKind.WRONG, EdgeKind.SAME_WORDS):
                continue
            tails = [spans[t] for t in forests.tails[forests.tail_offsets[e] : forests.tail_offsets[e + 1]].tolist()]
            inner = []
            for symbol in view.rule(int(forests.rules[e])).target.split(" "):
                if symbol.startswith("[X,"):
                    tail = tails[int(symbol[3:-1]) - 1]
                    inner += target[tail[2] : tail[3]]
                else:
                    inner.append(vocab.id(symbol))
            yield e, target[: spans[v - first][2]] + inner + target[spans[v - first][3] :]


def test_the_change_of_the_language_model_and_the_gain_are_those_of_the_whole_string(system, pairs):
    forests = pairs.parse(system, ALL)
    lm_id, vocab = system.index.find("lm"), system.translator.vocab
    n_edges = 0
    for s in range(len(forests)):
        target = pairs.target(s)

        def score(ids):
            return system.lm().score(" ".join(vocab.word(i) for i in ids))

        for e, string in strings_of(system, forests, s, target):
            begin, end = forests.feature_offsets[e : e + 2]
            features = dict(
                zip(forests.feature_ids[begin:end].tolist(), forests.feature_values[begin:end], strict=True)
            )
            assert features.get(lm_id, 0.0) == pytest.approx(score(string) - score(target), abs=1e-3)
            assert (forests.kinds[e] == EdgeKind.SAME_WORDS) == (string == target)
            stats = Bleu().statistics(Segments.of([string]), References.of([[target]]))
            assert forests.gains[e] == pytest.approx(float(SentenceBleu().score(stats[0])), abs=1e-5)
            n_edges += 1
    assert n_edges > 100


@pytest.fixture(scope="module")
def small(system):
    """Forests few enough to be listed, with holes."""
    pairs = Pairs(system, n=30, most=5)
    forests = pairs.parse(system, ReferenceConfig(max_wrong=3))
    assert set(forests.reached.tolist()) <= {Reach.HOLES, Reach.YES}
    return forests


def store_of(system, forests):
    store = _core.ReferenceStore(len(system.index))
    store.add(forests.arrays(), np.arange(len(system.index), dtype=np.int32))
    return store


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_sums_and_gradients_are_those_of_listed_derivations(system, small, loss, prior):
    store = store_of(system, small)
    model = _core.ReferenceModel(loss, prior_weight=prior, cost_scale=2.0)
    rng = np.random.default_rng(3)
    weights = system.weights.values_on(system.index) + rng.normal(0, 0.1, len(system.index))
    for place, s in enumerate(store.places().tolist()):
        expected, share = loss_of(small, s, weights, loss, prior=prior, cost_scale=2.0)
        value, found = store.value(model, np.array([place]), weights)
        assert value == pytest.approx(expected, abs=1e-8)
        assert found == pytest.approx(share, abs=1e-8)
        again, ids, gradient = store.gradient(model, place, weights)
        assert again == value
        for i in rng.permutation(len(ids))[:6]:
            moved = weights.copy()
            moved[ids[i]] += 1e-5
            above = store.value(model, np.array([place]), moved)[0]
            moved[ids[i]] -= 2e-5
            below = store.value(model, np.array([place]), moved)[0]
            assert gradient[i] == pytest.approx((above - below) / 2e-5, abs=1e-5)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("loss", [*LOSSES, "relative-margin"])
def test_contests_of_rules_are_those_of_a_twin(system, loss, wide):
    forests = Pairs(system, n=25, most=5).parse(system, ReferenceConfig(max_wrong=3, wide=wide))
    store = store_of(system, forests)
    model = _core.ReferenceModel(loss, cost_scale=2.0, by_rule=True)
    rng = np.random.default_rng(4)
    start = system.weights.values_on(system.index)
    weights = start + rng.normal(0, 0.1, len(system.index))
    with pytest.raises(ValueError, match="no weights yet"):
        store.value(model, np.array([0]), weights)
    store.weigh_references(model, start, 2)
    n_moved = 0
    for place, s in enumerate(store.places().tolist()):
        expected = contest_loss_of(forests, s, weights, start, loss, cost_scale=2.0)
        assert store.value(model, np.array([place]), weights)[0] == pytest.approx(expected, abs=1e-5)
        _, ids, gradient = store.gradient(model, place, weights)
        for i in rng.permutation(len(ids))[:4]:
            moved = weights.copy()
            moved[ids[i]] += 1e-5
            above = store.value(model, np.array([place]), moved)[0]
            moved[ids[i]] -= 2e-5
            below = store.value(model, np.array([place]), moved)[0]
            assert gradient[i] == pytest.approx((above - below) / 2e-5, abs=1e-5)
            n_moved += abs(gradient[i]) > 1e-3
    assert n_moved > 10


def test_an_epoch_does_not_depend_on_threads_and_is_steps_along_gradients(system, small):
    store = store_of(system, small)
    start = system.weights.values_on(system.index)
    model, order, none = _core.ReferenceModel("likelihood"), np.arange(len(store))[::-1].copy(), np.zeros(0)

    def learned(batch, n_threads, order=order):
        learner = _core.Learner(start, len(store), none, none, 0.1, 0.0, 0.0, False, False)
        loss = store.epoch(learner, model, order, batch, n_threads)
        return loss, learner.weights()

    assert learned(8, 1)[0] == learned(8, 3)[0]
    assert np.array_equal(learned(8, 1)[1], learned(8, 3)[1])
    weights, total = start.copy(), 0.0
    for s in order.tolist():
        loss, ids, gradient = store.gradient(model, s, weights)
        weights[ids] -= 0.1 * gradient
        total += loss
    assert learned(1, 1)[0] == pytest.approx(total, rel=1e-12)
    assert learned(1, 1)[1] == pytest.approx(weights, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_algorithm_1_lists_what_its_twin_does(system, pairs, loss):
    forests = pairs.parse(system, ReferenceConfig(max_wrong=4))
    store = store_of(system, forests)
    model = _core.ReferenceModel(loss, cost_scale=2.0)
    rng = np.random.default_rng(5)
    n_listed = n_moved = 0
    for place, s in enumerate(store.places().tolist()):
        first = int(forests.first_edge[forests.first_node[s]])
        tree, native = None, np.zeros(0, np.int32)
        for _ in range(2):  # the second epoch begins with the tree of the first
            weights = system.weights.values_on(system.index) + rng.normal(0, 0.3, len(system.index))
            scores = {
                e: edge_score(forests, e, weights, 1.0)
                for e in range(first, int(forests.first_edge[forests.first_node[s + 1]]))
            }
            found, after = greedy_list(forests, s, scores, tree)
            n_moved += tree is not None and after != tree
            value, ids, gradient, native, count = store.greedy_gradient(model, place, weights, native)
            assert count == len(found)
            expected = Counter()
            sums = {
                side: np.logaddexp.reduce([score + offset(forests, by, loss, side) for score, by, _ in found])
                for side in ("numerator", "denominator")
            }
            for score, by, edges in found:
                share = np.exp(score + offset(forests, by, loss, "denominator") - sums["denominator"])
                share -= np.exp(score + offset(forests, by, loss, "numerator") - sums["numerator"])
                for e in edges:
                    begin, end = forests.feature_offsets[e : e + 2]
                    for i, v in zip(forests.feature_ids[begin:end], forests.feature_values[begin:end], strict=True):
                        expected[int(i)] += share * float(v)
            assert value == pytest.approx(sums["denominator"] - sums["numerator"], abs=1e-8)
            assert gradient == pytest.approx([expected[int(i)] for i in ids], abs=1e-7)
            tree = after
            nodes = {v: int(e) + first for v, e in enumerate(native.tolist()) if e >= 0}
            assert nodes == tree
            n_listed += count
    assert n_listed > 300
    assert n_moved > 0


def offset(forests, by, loss, side):
    if by is None:
        return 0.0
    gain = float(forests.gains[by])
    if loss == "soft-ramp":
        return 2.0 * (1 - gain) * (-1 if side == "numerator" else 1)
    if side == "denominator":
        return 0.0
    if loss == "likelihood":
        return 0.0 if forests.kinds[by] == EdgeKind.SAME_WORDS else -np.inf
    return np.log(gain) if gain > 0 else -np.inf


def test_every_pair_is_reached_with_holes(system, pairs):
    """The nodes of the minimal tree are there, as rules or as holes."""
    unlinked = [own[:1] for own in pairs.links]
    forests = pairs.parse(system, ReferenceConfig(max_wrong=0, tight=True), unlinked)
    assert (forests.reached != Reach.NO).all()
    reached = pairs.parse(system, ReferenceConfig(max_wrong=0, tight=True, holes=False), unlinked).reached
    assert ((forests.reached == Reach.YES) == (reached == Reach.YES)).all()
    for s in np.flatnonzero(np.diff(forests.first_node)):
        first, last = forests.first_node[s : s + 2]
        holes = [
            tuple(forests.spans.reshape(-1, 4)[v].tolist())
            for v in range(first, last)
            if (forests.kinds[forests.first_edge[v] : forests.first_edge[v + 1]] == EdgeKind.HOLE).any()
        ]
        trees = minimal_trees(
            Alignment.of([unlinked[s]]), np.diff(pairs.source.offsets)[[s]], np.array([len(pairs.target(s))])
        )
        assert {*holes} <= {tuple(row) for row in trees.spans.tolist()}
        assert (forests.reached[s] == Reach.YES) == (not holes)


def test_beams_leave_out_the_worst_and_keep_the_best(system, pairs):
    whole = pairs.parse(system, ALL)
    cut = pairs.parse(system, ReferenceConfig(max_wrong=0, beam=0.5, wrong_beam=1.0))
    assert 0 < cut.n_edges < whole.n_edges
    values = system.weights.values_on(system.index)
    best = [
        [max(listed_scores(forests, s, values)) for s in range(len(whole)) if np.diff(cut.first_node)[s]]
        for forests in (whole, cut)
    ]
    assert best[0] == pytest.approx(best[1])


def listed_scores(forests, s, values):
    for by, edges in listed(forests, s):
        if by is None:
            total = 0.0
            for e in edges:
                begin, end = forests.feature_offsets[e : e + 2]
                total += float(values[forests.feature_ids[begin:end]] @ forests.feature_values[begin:end])
                total += float(forests.priors[e])
            yield total


def test_wide_forests_have_more_replacements(system, pairs):
    narrow, wide = pairs.parse(system, ALL), pairs.parse(system, ReferenceConfig(max_wrong=0, wide=True))
    counts = [np.bincount(f.kinds, minlength=4) for f in (narrow, wide)]
    assert counts[0][EdgeKind.REFERENCE] == counts[1][EdgeKind.REFERENCE]
    assert counts[0][EdgeKind.WRONG] < counts[1][EdgeKind.WRONG]


def test_threads_do_not_matter(system, pairs):
    one, three = pairs.parse(system, ALL), pairs.parse(system, ALL, n_threads=3)
    assert all(np.array_equal(a, b) for a, b in zip(one.arrays().values(), three.arrays().values(), strict=True))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("tight", [False, True])
def test_rules_that_are_not_looked_up_are_in_no_forest(system, pairs, tight, wide, monkeypatch):
    config = ReferenceConfig(tight=tight, wide=wide, max_wrong=0)
    targets, links = (pairs.side.offsets, pairs.side.ids), Alignment.of(pairs.links)
    n_rules, forests = [], []
    for is_whole in (False, True):
        parser = system.translator.reference_parser()
        build = parser._builder.build if is_whole else parser._builder.build_pairs

        def built(rows, *pair, _build=build, _is_whole=is_whole, **how):
            batch = _build(rows) if _is_whole else _build(rows, *pair, **how)
            n_rules.append(len(batch.rules))
            return batch

        monkeypatch.setattr(parser._builder, "build_pairs", built)
        forests.append(parser.parse(pairs.source, targets, links, system.weights, config).arrays())
    assert n_rules[0] < n_rules[1]
    one, other = forests
    for name in one:
        if name == "feature_ids":
            assert system.index.names(one[name]) == system.index.names(other[name])
        else:
            assert np.array_equal(one[name], other[name]), name


def test_links_of_other_sentences_are_refused(system, pairs):
    with pytest.raises(InputError, match="lies outside"):
        pairs.parse(system, ALL, [[(50, 0)], *pairs.links[1:]])
    with pytest.raises(MismatchError):
        pairs.parse(system, ALL, pairs.links[1:])


def test_pairs_without_links_have_no_forest(system, pairs):
    forests = pairs.parse(system, ALL, [[] for _ in pairs.links])
    assert len(forests) == len(pairs.links)
    assert forests.n_edges == 0
