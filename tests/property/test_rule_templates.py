"""Templates in the chart against plain Python twins, on every derivation of random labelled grammars."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from template_twin import RuleTwin, parsed
from test_chart_search import FEATURES, KNOWN, MAX_DERIVATIONS, BruteForce, tiny_lm
from tests.kit.batches import same

from dragoman.features import FeatureIndex, known_templates, parse_templates
from dragoman.grammar import RuleViewConfig
from dragoman.grammar.rule_tables import read_hiero
from dragoman.search import ChartConfig, ChartDecoder, RuleOptionBuilder

SOURCE_WORDS = ["f", "g", "c,d"]
LOCAL = (
    "rule_id",
    "rule_shape",
    "node_count",
    "rule_overlap",
    "source_deletion(top=1)",
    "target_insertion(top=1)",
    "word_pair(top=1)",
    "source_length(max=2)",
    "target_length(max=2)",
    "joint_length(max=2)",
    "discount",
)


@pytest.fixture(scope="module")
def lm():
    return tiny_lm()


@st.composite
def rule_lines(draw):
    """A rule in Hiero's form."""
    labels = st.sampled_from("XY")
    source = draw(
        st.lists(st.one_of(st.sampled_from(SOURCE_WORDS), labels.map(lambda x: (x,))), min_size=1, max_size=4)
    )
    gaps = [f"[{symbol[0]},{n}]" for n, symbol in enumerate((x for x in source if isinstance(x, tuple)), 1)]
    target = draw(st.lists(st.sampled_from("abc"), min_size=0 if gaps else 1, max_size=3))
    for gap in draw(st.permutations(gaps)):
        target.insert(draw(st.integers(0, len(target))), gap)
    numbered = iter(gaps)
    source = [next(numbered) if isinstance(symbol, tuple) else symbol for symbol in source]
    cells = [(s, t) for s, f in enumerate(source) for t, e in enumerate(target) if f[0] != "[" and e[0] != "["]
    links = draw(st.lists(st.sampled_from(cells), max_size=4, unique=True)) if cells else []
    scores = f"p_e_f={draw(st.integers(-4, -1))} p_f_e={draw(st.integers(-4, -1))}"
    alignment = " ".join(f"{s}-{t}" for s, t in links)
    return f"[{draw(labels)}] ||| {' '.join(source)} ||| {' '.join(target)} ||| {scores} ||| {alignment}"


grammars = st.lists(rule_lines(), min_size=2, max_size=8, unique_by=lambda line: tuple(line.split("|||")[:3])).map(
    # Words have rules of their own, so that those with nonterminals find something to stand over.
    lambda lines: sorted({"|||".join(line.split("|||")[:3]): line for line in [*lines, *ALONE]}.values())
)
ALONE = [f"[X] ||| {f} ||| {e} ||| p_e_f=-1 p_f_e=-2 ||| 0-0" for f, e in zip(SOURCE_WORDS, "abc", strict=True)]
sentences = st.lists(st.sampled_from([*SOURCE_WORDS, "new"]), max_size=4)


@contextmanager
def view_of(lines):
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "rules"
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        yield read_hiero(path, Path(scratch) / "grammar").rule_view(RuleViewConfig(max_targets=0))


def counts_of(vocab):
    """Counts that make the first word by its bytes the most frequent one, and that word."""
    words = sorted((vocab.word(i) for i in range(3, len(vocab))), key=str.encode)
    return np.array([9, 9, 9, *(1 + (vocab.word(i) == words[0]) for i in range(3, len(vocab)))]), {words[0]}


def builder_of(view, index, top):
    """A builder with all templates, and their twin."""
    templates = parse_templates([*LOCAL, "structural_distortion(max=2)", f"word_context(top={top})"])
    (source_counts, f), (target_counts, e) = counts_of(view.source_vocab), counts_of(view.target_vocab)
    builder = RuleOptionBuilder(
        view,
        index,
        templates=templates,
        scores=FEATURES.scores,
        word_counts=(source_counts, target_counts),
    )
    return builder, RuleTwin(top=(f, e), context_top=(f, e) if top else (None, None))


@dataclass(frozen=True)
class ViewRule:
    """A rule as brute force needs it."""

    lhs: int
    source: tuple[int, ...]
    arity: int
    shown: object


class Case:
    """What `BruteForce` asks of a problem, made of a view and a sentence."""

    def __init__(self, view, sentence, config):
        self.labels, self.config, self.sentence = view.labels, config, sentence
        self.words = tuple(view.source_vocab.encode(" ".join(sentence)).tolist())
        self.rules = []
        for i in range(view.tables.n_pairs()):
            shown = view.rule(i)
            symbols = parsed(shown.source)
            source = tuple(
                view.source_vocab.id(x) if isinstance(x, str) else -1 - self.labels.index(x[0]) for x in symbols
            )
            self.rules.append(ViewRule(self.labels.index(shown.lhs), source, sum(s < 0 for s in source), shown))

    def passed(self, position):
        return self.sentence[position]

    def ids(self, names):
        return [self.labels.index(name) for name in names]


class PlacedBruteForce(BruteForce):
    """All derivations as (words, features without lm); words are strings."""

    def __init__(self, case, twin, known):
        super().__init__(case)
        self.twin = twin
        self.sentence = [word if word in known else "<unk>" for word in case.sentence]

    def applied(self, rule, spans, tails):
        found = Counter({"rules": 1})
        if rule.arity < 3:
            found[f"arity_{rule.arity}"] += 1
        parts = [
            self.twin.local(rule.shown),
            self.twin.placed(rule.shown, [(i, j) for _, i, j in spans], self.sentence),
            dict(zip(FEATURES.scores, rule.shown.scores, strict=True)),
            *(features for _, features in tails),
        ]
        for part in parts:
            for name, value in part.items():
                found[name] += value
        words = ()
        for symbol in parsed(rule.shown.target):
            words += (symbol,) if isinstance(symbol, str) else tails[symbol[1] - 1][0]
        return words, found


@settings(max_examples=100)
@given(
    lines=grammars,
    sentence=sentences,
    top=st.sampled_from([0, 1]),
    max_span=st.sampled_from([None, None, 2]),
    seed=st.integers(0, 99),
)
def test_search_without_pruning_finds_every_derivation_with_its_features(lm, lines, sentence, top, max_span, seed):
    config = ChartConfig(pop_limit=10**6, rule_limit=None, max_span=max_span)
    with view_of(lines) as view:
        index = FeatureIndex()
        builder, twin = builder_of(view, index, top)
        decoder = ChartDecoder(config, view.target_vocab, index, features=FEATURES, lm=lm)
        options = builder.build([sentence]).interned(index)
        weights = np.random.default_rng(seed).integers(-4, 5, len(index)) / 4
        [forest] = decoder.decode(options, weights)
        known = {view.source_vocab.word(i) for i in range(3, len(view.source_vocab))}
        derivations = PlacedBruteForce(Case(view, sentence, config), twin, known).sentences()
        wanted, scores = Counter(), []
        for words, features in derivations:
            whole = {"words": len(words), "lm_oov": sum(w not in KNOWN for w in words), "lm": lm.score(" ".join(words))}
            values = {name: value for name, value in {**features, **whole}.items() if value}
            scores.append(sum(weights[index.find(name)] * value for name, value in values.items()))
            del values["lm"]
            wanted[words, frozenset((name, round(value, 3)) for name, value in values.items())] += 1
        got = forest.kbest(weights, MAX_DERIVATIONS + 1)
        np.testing.assert_allclose(got.totals, sorted(scores, reverse=True), atol=1e-4)
        found = Counter()
        for c in range(len(got)):
            ids, values = got.features_of(c)
            named = dict(zip(index.names(ids), values.tolist(), strict=True))
            del named["lm"]
            words = tuple(forest.text(got.tokens_of(c)).split())
            found[words, frozenset((name, round(value, 3)) for name, value in named.items())] += 1
        assert found == wanted
        if len(got):
            best = forest.best(weights)
            ids, values = got.features_of(0)
            assert best.features() == pytest.approx(dict(zip(index.names(ids), values.tolist(), strict=True)), abs=1e-5)


@settings(max_examples=15)
@given(lines=grammars, batch=st.lists(sentences, max_size=30), top=st.sampled_from([0, 1]))
def test_threads_do_not_matter(lines, batch, top):
    with view_of(lines) as view:
        results = []
        for n_threads in (1, 2):
            index = FeatureIndex()
            builder, _ = builder_of(view, index, top)
            decoder = ChartDecoder(ChartConfig(pop_limit=3), view.target_vocab, index, features=FEATURES)
            options = builder.build(batch, n_threads=n_threads).interned(index)
            weights = np.sin(np.arange(len(index), dtype=np.float64))
            results.append((options, index.names(np.arange(len(index), dtype=np.int32))))
            results[-1] += (decoder.kbest(options, weights, 5, n_threads=n_threads),)
        (a, names, lists), (b, names_again, lists_again) = results
        assert names == names_again
        assert same(a, b)
        assert all(np.array_equal(getattr(lists, name), getattr(lists_again, name)) for name in lists.__slots__)


@settings(max_examples=30)
@given(lines=grammars, known=sentences, new=sentences, seed=st.integers(0, 99))
def test_features_that_a_frozen_index_lacks_weigh_nothing(lines, known, new, seed):
    with view_of(lines) as view:
        index, full = FeatureIndex(), FeatureIndex()
        config = ChartConfig(pop_limit=10**6, rule_limit=None)
        lists = []
        frozen_builder, _ = builder_of(view, index, 0)
        decoder = ChartDecoder(config, view.target_vocab, index, features=FEATURES)
        frozen_builder.build([known]).interned(index)
        n = len(index)
        weights = np.random.default_rng(seed).integers(-4, 5, n) / 4
        options = frozen_builder.build([new], grow=False)
        assert len(index) == n
        lists.append(decoder.kbest(options, weights, 50))
        full.extend(index)
        builder, _ = builder_of(view, full, 0)
        decoder = ChartDecoder(config, view.target_vocab, full, features=FEATURES)
        options = builder.build([new])
        # Weights may be shorter than the index: what comes later weighs nothing.
        lists.append(decoder.kbest(options, weights, 50))
        np.testing.assert_allclose(lists[0].totals, lists[1].totals, atol=1e-5)
        assert (lists[0].feature_ids < n).all()


def test_every_template_has_a_twin():
    tested = {template.name for template in parse_templates([*LOCAL, "structural_distortion", "word_context"])}
    assert tested == {name for name, kind in known_templates().items() if not kind.for_phrases_only}
