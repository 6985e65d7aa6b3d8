"""Forests that begin with the minimal tree: its rules that a decoder would not use, against all derivations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_twin import ReferenceTwin, edge_score, listed, loss_of
from test_reference_forests import Pairs, edges_of
from tests.kit.small_text import write_splits

from dragoman import _core
from dragoman.align import Alignment, minimal_trees
from dragoman.errors import InputError
from dragoman.grammar import RuleExtraction, RuleKind, RuleViewConfig, nonterminal_of
from dragoman.lm import EstimateConfig
from dragoman.search import EdgeKind, Reach, ReferenceConfig
from dragoman.system import HieroSettings, System, SystemSettings, TrainConfig, train

MAX_SPAN = 3
CONFIG = ReferenceConfig(holes=False, max_wrong=0)


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    """Rules so small that many of minimal trees are added ones."""
    folder = tmp_path_factory.mktemp("added")
    write_splits(folder, 200, 2, 0, seed=3)
    rules = RuleExtraction(added=True, max_length=3, max_symbols=2, tight=True)
    config = TrainConfig(
        settings=SystemSettings(
            model=HieroSettings(rules=rules, max_span=MAX_SPAN), n_folds=3, features=("word_context(top=20)", "rule_id")
        ),
        lm=EstimateConfig(order=2),
    )
    train(folder / "train.de", folder / "train.en", folder / "system", config=config)
    return System.load(folder / "system")


@pytest.fixture(scope="module")
def pairs(system):
    return Pairs(system, n=60, most=7)


def symbols_of(system, target):
    vocab = system.translator.vocab
    return [-found[1] if (found := nonterminal_of(word)) else vocab.id(word) for word in target.split(" ")]


def tree_of(system, view, pairs, s, links):
    """Of each node of the minimal tree: nodes below, its rule, and the target sides of all rules of its source side,
    minimal ones that are added whatever the limit on targets.
    """
    line = int(pairs.lines[s])
    source, target = system.training.source(line).split(" "), system.training.target(line).split(" ")
    trees = minimal_trees(Alignment.of([links]), np.array([len(source)]), np.array([len(target)]))
    spans = [tuple(row) for row in trees.spans.tolist()]
    found, by_source = {}, {}
    for number, (i, j, t, u) in enumerate(spans):
        below = sorted(spans[k] for k, parent in enumerate(trees.parents.tolist()) if parent == number)
        sides = []
        for words, begin, end, first in ((source, i, j, 0), (target, t, u, 2)):
            side, place = [], begin
            for tail in sorted(below, key=lambda tail: tail[first]):
                side += [*words[place : tail[first]], f"[X,{below.index(tail) + 1}]"]
                place = tail[first + 1]
            sides.append(" ".join([*side, *words[place:end]]))
        others = by_source.setdefault(
            sides[0], {rule.rule: symbols_of(system, rule.target) for rule in view.lookup(sides[0])}
        )
        own = view.find(*sides)
        if own and (own.kind is RuleKind.ADDED or j - i > MAX_SPAN):
            others[own.rule] = symbols_of(system, own.target)
        if own and own.rule in others:
            found[i, j, t, u] = (tuple(below), own.rule, others)
    return found


def compare(system, pairs, links, tight):
    config = ReferenceConfig(tight=tight, holes=False, max_wrong=0)
    forests, batch = pairs.parse(system, config, links), pairs.batch(system, max_span=MAX_SPAN)
    shown = system.grammar.rule_view(RuleViewConfig(max_targets=system.settings.max_targets, added=True))
    reached = [0] * len(Reach)
    for s in range(len(forests)):
        tree = tree_of(system, shown, pairs, s, links[s])
        twin = ReferenceTwin(batch, s, pairs.target(s), links[s], tight=tight, max_span=MAX_SPAN, tree=tree)
        plain = ReferenceTwin(batch, s, pairs.target(s), links[s], tight=tight, max_span=MAX_SPAN)
        own, wrong, is_reached = twin.whole()
        expected = Reach.YES if plain.whole()[2] else Reach.ADDED if is_reached else Reach.NO
        assert forests.reached[s] == expected
        reached[expected] += 1
        if is_reached and wrong:
            assert edges_of(forests, s) == (own, wrong)
        else:
            assert forests.first_node[s] == forests.first_node[s + 1]
    return reached


@pytest.mark.parametrize("tight", [True, False])
def test_all_derivations_with_added_rules_are_found(system, pairs, tight):
    reached = compare(system, pairs, pairs.links, tight)
    assert reached[Reach.ADDED] > 5


@settings(max_examples=10)
@given(data=st.data(), tight=st.booleans())
def test_all_derivations_are_found_for_any_links(system, pairs, data, tight):
    links = []
    for s, own in enumerate(pairs.links):
        n, m = int(np.diff(pairs.source.offsets)[s]), len(pairs.target(s))
        changed = {*own} ^ data.draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=2))
        links.append(sorted(changed))
    compare(system, pairs, links, tight)


def test_scores_are_those_of_the_view_that_shows_them_and_holes_are_for_what_it_lacks(system, pairs):
    shown = system.grammar.rule_view(RuleViewConfig(added=True))
    forests = pairs.parse(system, ReferenceConfig(max_wrong=0))
    n_added, n_nonterminals = 0, 0
    names = system.translator._features.scores
    for e in range(forests.n_edges):
        rule = shown.rule(int(forests.rules[e])) if forests.rules[e] >= 0 else None
        if rule is None or rule.kind is not RuleKind.ADDED or forests.kinds[e] != EdgeKind.REFERENCE:
            continue
        begin, end = forests.feature_offsets[e : e + 2]
        found = {
            system.index.name(i): float(value)
            for i, value in zip(forests.feature_ids[begin:end].tolist(), forests.feature_values[begin:end], strict=True)
        }
        scores = dict(zip(shown.score_names, rule.scores, strict=True))
        assert [found.get(name, 0.0) for name in names] == pytest.approx([scores[name] for name in names])
        assert forests.priors[e] == pytest.approx(np.log(rule.count), abs=1e-5)
        n_added += 1
        n_nonterminals += rule.source.count("[X,")
    assert n_added > 20
    assert n_nonterminals > 0
    plain = pairs.parse(system, ReferenceConfig(max_wrong=0, added=False))
    is_added = forests.reached == Reach.ADDED
    assert is_added.any()
    assert (plain.reached[is_added] == Reach.HOLES).all()
    assert (plain.reached[forests.reached == Reach.YES] == Reach.YES).all()
    for s in np.flatnonzero(is_added):
        edges = slice(*forests.first_edge[forests.first_node[s : s + 2]])
        assert (forests.kinds[edges] != EdgeKind.HOLE).all()


def test_sums_and_gradients_are_those_of_listed_derivations(system, pairs):
    forests = pairs.parse(system, ReferenceConfig(max_wrong=3))
    store = _core.ReferenceStore(len(system.index))
    store.add(forests.arrays(), np.arange(len(system.index), dtype=np.int32))
    weights, model = system.weights.values_on(system.index), _core.ReferenceModel("likelihood")
    for place, s in enumerate(store.places().tolist()):
        if len(list(listed(forests, s))) > 2000:
            continue
        expected, share = loss_of(forests, s, weights, "likelihood")
        assert store.value(model, np.array([place]), weights) == pytest.approx((expected, share), abs=1e-8)
        assert np.isfinite(edge_score(forests, int(forests.first_edge[forests.first_node[s]]), weights, 1.0))


def test_a_fold_that_alone_has_a_rule_does_not_show_it(system, pairs):
    """By the other folds what a line alone has is a hole again."""
    training, lines = system.training, pairs.lines
    views = [system.grammar.rule_view(RuleViewConfig(excluded_fold=fold, added=True)) for fold in range(3)]
    by_all, held_out, kinds = [], [], set()
    for fold in range(3):
        own = lines[training.folds[lines] == fold]
        target, links = training.target_ids.take(own), Alignment.of([training.links[int(line)] for line in own])
        for view, found in ((None, by_all), (fold, held_out)):
            parser = system.view(view).translator.reference_parser()
            parsed = parser.parse(
                training.encoded(own, view), (target.offsets, target.ids), links, system.weights, ReferenceConfig()
            )
            found += parsed.reached.tolist()
            if view is not None:
                own = parsed.rules[(parsed.kinds == EdgeKind.REFERENCE) & (parsed.rules >= 0)]
                kinds |= {views[view].rule(rule).kind for rule in own.tolist()}
    assert Reach.HOLES not in by_all
    assert held_out.count(Reach.HOLES) > 5
    assert RuleKind.ADDED in kinds


def test_wide_replacements_and_threads(system, pairs):
    narrow = pairs.parse(system, CONFIG)
    wide = pairs.parse(system, ReferenceConfig(holes=False, max_wrong=0, wide=True))
    assert np.bincount(narrow.kinds, minlength=4)[EdgeKind.WRONG] < np.bincount(wide.kinds)[EdgeKind.WRONG]
    three = pairs.parse(system, CONFIG, n_threads=3)
    assert all(np.array_equal(a, b) for a, b in zip(narrow.arrays().values(), three.arrays().values(), strict=True))


def test_links_outside_a_pair_are_refused(system, pairs):
    with pytest.raises(InputError, match="lies outside"):
        pairs.parse(system, CONFIG, [[(50, 0)], *pairs.links[1:]])
    builder = system.translator.reference_parser()._minimal
    with pytest.raises(InputError, match="link"):
        builder.build_minimal(
            pairs.source, (pairs.side.offsets, pairs.side.ids), Alignment.of([[(50, 0)], *pairs.links[1:]])
        )
