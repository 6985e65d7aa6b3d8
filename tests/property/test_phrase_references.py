"""Forests around references of phrase pairs: all segmentations by brute force, features against the decoder's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_twin import edge_score, listed, loss_of
from test_reference_forests import Pairs
from tests.kit.small_systems import make_systems, opened

from dragoman import _core
from dragoman.align import Alignment
from dragoman.errors import InputError
from dragoman.metric import Bleu, References, Segments, SentenceBleu
from dragoman.search import Algorithm, EdgeKind, PhraseConfig, PhraseDecoder, Reach, ReferenceConfig

TEMPLATES = ("rule_id", "word_context(top=20)", "reorder_local(top=20)", "reorder_gap(top=20,classes=1)")
PASSED = -1


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    made = make_systems(tmp_path_factory.mktemp("phrases"), n_folds=3)
    return opened(made, "phrase").with_templates(TEMPLATES)


@pytest.fixture(scope="module")
def pairs(system):
    return Pairs(system, n=24, most=5)


@pytest.fixture(scope="module")
def longer(system):
    """Some are longer than phrases may be, or change the order of words."""
    return Pairs(system, n=24, most=9)


def options_of(batch, s):
    """(number, begin, end, target words) of all options, words that pass through among them."""
    first, last = batch.first[s : s + 2].tolist()
    found = [
        (
            o,
            int(batch.begin[o]),
            int(batch.end[o]),
            batch.targets[batch.target_offsets[o] : batch.target_offsets[o + 1]].tolist(),
        )
        for o in range(first, last)
    ]
    alone = {begin for _, begin, end, _ in found if end == begin + 1}
    words = batch.pass_through[batch.pass_offsets[s] : batch.pass_offsets[s + 1]].tolist()
    return found + [(PASSED, p, p + 1, [word]) for p, word in enumerate(words) if p not in alone]


def segmentations(batch, s, reference, links):
    """All derivations of the reference that agree with the links: (begin, end, rule, target begin, target end) each."""
    options, n = options_of(batch, s), int(np.diff(batch.pass_offsets)[s])

    def agrees(begin, end, t, u):
        inside = [begin <= a < end for a, b in links if begin <= a < end or t <= b < u]
        return bool(inside) and all(t <= b < u for a, b in links if begin <= a < end) and all(inside)

    def rest(t, covered):
        if t == len(reference):
            if len(covered) == n:
                yield ()
            return
        for o, begin, end, target in options:
            u = t + len(target)
            words = {*range(begin, end)}
            if reference[t:u] == target and not words & covered and agrees(begin, end, t, u):
                rule = int(batch.rules[o]) if o != PASSED else -1
                for after in rest(u, covered | words):
                    yield ((begin, end, rule, t, u), *after)

    return set(rest(0, frozenset()))


def chain(forests, s, edges):
    """The phrases of a listed derivation, in target order."""
    first, last = forests.first_node[s : s + 2].tolist()
    heads = np.searchsorted(forests.first_edge, edges, side="right") - 1
    spans = forests.spans.reshape(-1, 4)
    own = [(e, v) for e, v in zip(edges, heads.tolist(), strict=True) if first < v < last - 1]
    rows = [(*spans[v].tolist(), int(forests.rules[e])) for e, v in own]
    return tuple((i, j, rule, t, u) for i, j, t, u, rule in reversed(rows))


def features_of(forests, edges):
    total: dict[int, float] = {}
    for e in edges:
        begin, end = forests.feature_offsets[e : e + 2]
        for f, value in zip(forests.feature_ids[begin:end].tolist(), forests.feature_values[begin:end], strict=True):
            total[f] = total.get(f, 0.0) + float(value)
    return total


@pytest.mark.parametrize("changed", [False, True])
def test_all_segmentations_of_a_reference_are_found(system, pairs, changed):
    rng = np.random.default_rng(2)
    links = []
    for s, own in enumerate(pairs.links):
        n, m = int(np.diff(pairs.source.offsets)[s]), len(pairs.target(s))
        other = {(int(rng.integers(n)), int(rng.integers(m))) for _ in range(2)} if changed else set()
        links.append(sorted({*own} ^ other))
    compare(system, pairs, links)


@settings(max_examples=10)
@given(data=st.data())
def test_all_segmentations_are_found_for_any_links(system, pairs, data):
    links = []
    for s, own in enumerate(pairs.links):
        n, m = int(np.diff(pairs.source.offsets)[s]), len(pairs.target(s))
        other = data.draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=2))
        links.append(sorted({*own} ^ other))
    compare(system, pairs, links)


def compare(system, pairs, links):
    forests = pairs.parse(system, ReferenceConfig(holes=False, max_wrong=2), links)
    batch = system.translator._options.build(pairs.source)
    n_reached = 0
    for s in range(len(forests)):
        expected = segmentations(batch, s, pairs.target(s), links[s])
        assert (forests.reached[s] == Reach.YES) == bool(expected)
        if forests.first_node[s] == forests.first_node[s + 1]:
            continue
        found = [chain(forests, s, edges) for by, edges in listed(forests, s) if by is None]
        assert len(found) == len({*found})
        assert {*found} == expected
        n_reached += 1
    assert n_reached > 3


class Forced:
    """The decoder, with the options of one derivation and no others."""

    def __init__(self, system):
        self.system = system
        translator = system.translator
        config = PhraseConfig(stack_size=10**6, option_limit=None, distortion_limit=None, algorithm=Algorithm.STACK)
        self.decoder = PhraseDecoder(
            config, translator.vocab, translator.index, features=translator._features, lm=system.lm()
        )

    def features(self, sentence, phrases):
        batch = self.system.translator._options.build([sentence]).interned(self.system.index)
        rules = {(begin, end, rule) for begin, end, rule, *_ in phrases}
        kept = [
            o for o in range(len(batch.rules)) if (int(batch.begin[o]), int(batch.end[o]), int(batch.rules[o])) in rules
        ]
        arrays = {
            "pass_offsets": batch.pass_offsets,
            "pass_through": np.where(batch.pass_through < 0, 0, batch.pass_through).astype(np.int32),
            "first": np.array([0, len(kept)], np.int64),
        }
        for name in ("begin", "end", "rules", "scores", "orientations"):
            arrays[name] = np.ascontiguousarray(getattr(batch, name)[kept])
        for offsets, rows in (
            ("target_offsets", ("targets",)),
            ("feature_offsets", ("feature_ids", "feature_values")),
            ("part_offsets", ("parts",)),
        ):
            bounds = getattr(batch, offsets)
            arrays[offsets] = np.cumsum([0, *(bounds[o + 1] - bounds[o] for o in kept)]).astype(np.int64)
            for name in rows:
                values = getattr(batch, name)
                arrays[name] = np.concatenate([values[:0], *(values[bounds[o] : bounds[o + 1]] for o in kept)])
        for name in ("word_part_offsets", "word_parts", "part_feature_offsets", "part_feature_ids"):
            arrays[name] = getattr(batch, name)
        for name in ("part_feature_values", "block_targets", "block_passed", "block_sources", "block_start"):
            arrays[name] = getattr(batch, name)
        arrays["gap_words"] = batch.gap_words
        only = _core.PhraseBatch.from_arrays(own_words=batch.own_words, **arrays)
        (forest,) = self.decoder.decode(only, self.system.weights)
        lists = forest.kbest(self.system.weights, 10000)
        wanted = [(begin, end, rule) for begin, end, rule, *_ in phrases]
        for c in range(len(lists)):
            derivation = forest.derivation(lists.edges_of(c))
            own = [(*a.source, a.rule) for a in derivation.applications if a.source[1] > a.source[0]]
            if own[::-1] == wanted:
                return {name: value for name, value in derivation.features().items() if abs(value) > 1e-6}
        raise AssertionError(f"the decoder has no derivation {wanted}")


def test_features_are_those_of_the_decoder(system, longer):
    """Of derivations of the reference and of those with a phrase replaced."""
    forests, forced = longer.parse(system, ReferenceConfig(holes=False, max_wrong=2)), Forced(system)
    rng = np.random.default_rng(4)
    n_own = n_wrong = n_jumps = 0
    for s in range(len(forests)):
        if forests.first_node[s] == forests.first_node[s + 1]:
            continue
        every = listed(forests, s)
        chosen = [every[i] for i in rng.permutation(len(every))[:3]]
        for by, edges in chosen:
            phrases = chain(forests, s, edges)
            expected = forced.features(system.training.source(int(longer.lines[s])), phrases)
            found = {system.index.name(f): v for f, v in features_of(forests, edges).items() if abs(v) > 1e-6}
            assert found == pytest.approx(expected, abs=1e-3)
            n_own += by is None
            n_wrong += by is not None
            n_jumps += "distortion" in found
    assert min(n_own, n_wrong, n_jumps) > 3


def test_gains_priors_and_the_limit_on_replacements(system, pairs):
    forests = pairs.parse(system, ReferenceConfig(max_wrong=2))
    view, vocab = system.translator._view, system.translator.vocab
    n_wrong = 0
    for s in range(len(forests)):
        target = pairs.target(s)
        for v in range(*forests.first_node[s : s + 2].tolist()):
            begin, end = forests.spans.reshape(-1, 4)[v, 2:].tolist()
            edges = range(*forests.first_edge[v : v + 2].tolist())
            own = [e for e in edges if forests.kinds[e] == EdgeKind.REFERENCE]
            wrong = [e for e in edges if forests.kinds[e] == EdgeKind.WRONG]
            assert len(wrong) <= 2 * len(own)
            for e in own:
                if forests.rules[e] >= 0:
                    assert forests.priors[e] == pytest.approx(np.log(view.pair(int(forests.rules[e])).count), abs=1e-5)
            for e in wrong:
                inner = [vocab.id(word) for word in view.pair(int(forests.rules[e])).target.split(" ")]
                string = target[:begin] + inner + target[end:]
                stats = Bleu().statistics(Segments.of([string]), References.of([[target]]))
                assert forests.gains[e] == pytest.approx(float(SentenceBleu().score(stats[0])), abs=1e-5)
                n_wrong += 1
    assert n_wrong > 50


def test_sums_and_gradients_are_those_of_listed_derivations(system, pairs):
    forests = pairs.parse(system, ReferenceConfig(max_wrong=3))
    store = _core.ReferenceStore(len(system.index))
    store.add(forests.arrays(), np.arange(len(system.index), dtype=np.int32))
    weights = system.weights.values_on(system.index)
    for loss in ("likelihood", "expected-gain", "soft-ramp"):
        model = _core.ReferenceModel(loss)
        for place, s in enumerate(store.places().tolist()):
            expected, share = loss_of(forests, s, weights, loss)
            assert store.value(model, np.array([place]), weights) == pytest.approx((expected, share), abs=1e-8)


def test_every_pair_with_links_is_reached_with_holes(system, longer):
    """References with a word that no phrase has there."""
    rng = np.random.default_rng(7)
    offsets, ids = longer.side.offsets, longer.side.ids.copy()
    ids[rng.integers(offsets[:-1], offsets[1:])] = rng.integers(10, 20, len(longer.links))
    parser, links = system.translator.reference_parser(), Alignment.of(longer.links)
    forests = parser.parse(longer.source, (offsets, ids), links, system.weights, ReferenceConfig(max_wrong=2))
    assert {*forests.reached.tolist()} <= {Reach.HOLES, Reach.YES}
    assert (forests.reached == Reach.HOLES).sum() > 5
    n_holes = 0
    for s in np.flatnonzero(np.diff(forests.first_node)):
        edges = slice(*forests.first_edge[forests.first_node[s : s + 2]].tolist())
        has_hole = (forests.kinds[edges] == EdgeKind.HOLE).any()
        assert has_hole == (forests.reached[s] == Reach.HOLES)
        n_holes += has_hole
        n, m = int(np.diff(longer.source.offsets)[s]), int(np.diff(offsets)[s])
        for by, own in listed(forests, s):
            phrases = chain(forests, s, own)
            if by is None:
                assert sorted(p for i, j, *_ in phrases for p in range(i, j)) == [*range(n)]
                assert [p for *_, t, u in phrases for p in range(t, u)] == [*range(m)]
    assert n_holes > 3
    without = ReferenceConfig(max_wrong=2, holes=False)
    reached = parser.parse(longer.source, (offsets, ids), links, system.weights, without).reached
    assert ((reached == Reach.NO) == (forests.reached == Reach.HOLES)).all()


def test_beams_leave_out_the_worst_and_keep_the_best(system, pairs):
    whole = pairs.parse(system, ReferenceConfig(max_wrong=0))
    cut = pairs.parse(system, ReferenceConfig(max_wrong=0, beam=0.5, wrong_beam=1.0))
    assert 0 < cut.n_edges < whole.n_edges
    values = system.weights.values_on(system.index)

    def best(forests, s):
        return max(
            sum(edge_score(forests, e, values, 1.0) for e in edges) for by, edges in listed(forests, s) if by is None
        )

    for s in np.flatnonzero(np.diff(cut.first_node)):
        assert best(cut, s) == pytest.approx(best(whole, s))


def test_threads_do_not_matter_and_links_of_other_text_are_refused(system, pairs):
    one, three = (pairs.parse(system, ReferenceConfig(), n_threads=n) for n in (1, 3))
    assert all(np.array_equal(a, b) for a, b in zip(one.arrays().values(), three.arrays().values(), strict=True))
    with pytest.raises(InputError, match="lies outside"):
        pairs.parse(system, ReferenceConfig(), [[(50, 0)], *pairs.links[1:]])
    assert pairs.parse(system, ReferenceConfig(), [[] for _ in pairs.links]).n_edges == 0
    for config in (ReferenceConfig(wide=True), ReferenceConfig(tight=True)):
        with pytest.raises(InputError, match="phrase pairs"):
            pairs.parse(system, config)
    with pytest.raises(InputError, match="reorder_stack"):
        pairs.parse(system.with_templates(("reorder_stack(top=20,classes=1)",)), ReferenceConfig())


def test_long_pairs_and_many_unaligned_words_have_an_end(system):
    """4,096 words: no forest; 300 words of which every other one has no link: a forest in no time."""
    word, n = system.training.source(0).split(" ")[0], 4096
    target = system.training.target(0).split(" ")[0]
    parser, vocab = system.translator.reference_parser(), system.translator.vocab

    def parse(n, links):
        ids = np.full(n, vocab.id(target), np.int32)
        sides = np.array([0, n], np.int64), ids
        return parser.parse([" ".join([word] * n)], sides, Alignment.of([links]), system.weights, ReferenceConfig())

    assert parse(n, [(i, i) for i in range(n)]).reached.tolist() == [Reach.NO]
    assert parse(300, [(i, i) for i in range(0, 300, 2)]).reached[0] in (Reach.YES, Reach.HOLES)
