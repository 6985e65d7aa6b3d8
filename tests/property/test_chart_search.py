"""Chart search without pruning against brute force: every derivation, its string and its features."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from tests.kit.forests import share

from dragoman.corpus import Vocab
from dragoman.features import FeatureIndex
from dragoman.forest import ForestArrays
from dragoman.lm import EstimateConfig, LanguageModel, TrainingText, estimate
from dragoman.search import ChartConfig, ChartDecoder, ChartFeatures, RuleBatch

VOCAB = Vocab.of(["a b c d e"])
KNOWN = ["a", "b", "c", "d"]
FIRST_WORD = 3
OWN = ("unseen",)
N_SPARSE = 2
MAX_DERIVATIONS = 1000
FEATURES = ChartFeatures(
    lm_oov="lm_oov", scores=("p_e_f", "p_f_e"), arities=("arity_0", "arity_1", "arity_2"), unknown="unknown"
)


def tiny_lm() -> LanguageModel:
    text = TrainingText()
    text.add_lines(["a b c", "b a d a b", "c c a", "a b d", "d a b c a", "b", "a c", "c a b"] * 2)
    return estimate(text, EstimateConfig(order=3)).model


@pytest.fixture(scope="module")
def lm() -> LanguageModel:
    return tiny_lm()


@dataclass(frozen=True)
class Rule:
    lhs: int
    source: tuple[int, ...]
    target: tuple[int, ...]
    scores: tuple[float, ...]
    sparse: tuple[int, ...]

    @property
    def arity(self):
        return sum(symbol < 0 for symbol in self.source)


@dataclass(frozen=True)
class Problem:
    words: tuple[int, ...]
    labels: tuple[str, ...]
    rules: tuple[Rule, ...]
    config: ChartConfig
    weights: np.ndarray

    def passed(self, position):
        return len(VOCAB) if position == 0 else FIRST_WORD + position % 5

    def ids(self, names):
        return [self.labels.index(name) for name in names]


@st.composite
def rules(draw, n_labels, source=None, lhs=None):
    if source is None:
        gaps = st.integers(-n_labels, -1)
        source = draw(
            st.one_of(
                st.tuples(gaps, st.integers(0, 1)),
                st.tuples(st.integers(0, 1), gaps),
                st.tuples(gaps, gaps),
                st.tuples(gaps, st.integers(0, 1), gaps),
                st.tuples(gaps, gaps, gaps),
                st.tuples(gaps),
                st.lists(st.integers(-n_labels, 1), min_size=1, max_size=4).map(tuple),
            )
        )
    arity = sum(symbol < 0 for symbol in source)
    target = draw(st.lists(st.integers(FIRST_WORD, FIRST_WORD + 4), max_size=2))
    for slot in draw(st.permutations(range(arity))):
        target.insert(draw(st.integers(0, len(target))), -1 - slot)
    logs = st.integers(-4, -1).map(float)
    return Rule(
        lhs=draw(st.integers(0, n_labels - 1)) if lhs is None else lhs,
        source=source,
        target=tuple(target),
        scores=draw(st.tuples(logs, logs)),
        sparse=tuple(draw(st.lists(st.integers(0, N_SPARSE - 1), max_size=2))),
    )


@st.composite
def problems(draw):
    """A sentence, two derivations of it, and random rules around them.

    One sentence in 40 is empty, and as often nothing but chance makes derivations; words without a rule have one each.
    """
    case = draw(st.integers(0, 39))
    labels = draw(st.sampled_from([("X",), ("X", "Y"), ("X", "Y", "Z"), ("Y", "S", "X")]))
    words = tuple(draw(st.lists(st.sampled_from([1, 1, 1, 0, 0, 2]), min_size=1, max_size=4))) if case != 17 else ()
    subsets = st.lists(st.sampled_from(labels), unique=True, min_size=1).map(tuple)
    glue = draw(st.sampled_from([None, None, draw(subsets), ()]))
    unknown = draw(st.one_of(st.none(), subsets))
    max_span = draw(st.sampled_from([None, None, 1, 2, 3]))
    sure = []
    if case != 23:  # no bound, which would be drawn more often than others
        if glue == () and "S" in labels:
            # Without glue one rule must cover the sentence: its words, or gaps for what is in the way.
            goal, max_span = labels.index("S"), None
            unknown = (*(unknown or ("Y",)), *(("S",) if words == (2,) else ()))
            gap = -1 - labels.index(unknown[0])
            whole = tuple(gap if word == 2 else word for word in words)
            sure = [draw(rules(len(labels), whole, goal)) for _ in range(0 if words in ((), (2,)) else 2)]
        else:
            glue = glue or None
            stuck = [name for name in labels if name != "S"] if glue is None else glue
            unknown = (draw(st.sampled_from(stuck)), *(unknown or ()))
            own = [word for word in words if word != 2]
            sure = [
                draw(rules(len(labels), (word,), labels.index(draw(st.sampled_from(stuck))))) for word in own[:1] + own
            ]
    return Problem(
        words=words,
        labels=labels,
        # Words have rules of their own, so that those with gaps find something to stand over.
        rules=(
            *sure,
            draw(rules(len(labels), source=(0,))),
            draw(rules(len(labels), source=(1,))),
            *draw(st.lists(rules(len(labels)), min_size=2, max_size=6)),
        ),
        config=ChartConfig(
            pop_limit=10**6,
            rule_limit=None,
            max_span=max_span,
            glue_labels=glue,
            unknown_labels=unknown and tuple(dict.fromkeys(unknown)),
        ),
        weights=np.array(draw(st.lists(st.integers(-4, 4).map(lambda x: x / 4), min_size=13, max_size=13))),
    )


def build(problem, index):
    for name in (*FEATURES.names(), *(f"sparse:{i}" for i in range(N_SPARSE))):
        index.intern(name)
    patterns = sorted({rule.source for rule in problem.rules})
    rows = sorted(problem.rules, key=lambda rule: patterns.index(rule.source))
    sparse = [[index.intern(f"sparse:{i}") for i in rule.sparse] for rule in rows]

    def offsets(lists):
        return np.cumsum([0, *(len(row) for row in lists)], dtype=np.int64)

    return RuleBatch.from_arrays(
        own_words=OWN,
        sentence_offsets=np.array([0, len(problem.words)], np.int64),
        words=np.array(problem.words, np.int32),
        pass_through=np.array([problem.passed(p) for p in range(len(problem.words))], np.int32),
        first_pattern=np.array([0, len(patterns)], np.int64),
        symbol_offsets=offsets(patterns),
        symbols=np.array([symbol for pattern in patterns for symbol in pattern], np.int32),
        first_rule=offsets([[rule for rule in rows if rule.source == pattern] for pattern in patterns]),
        lhs=np.array([rule.lhs for rule in rows], np.int32),
        target_offsets=offsets([rule.target for rule in rows]),
        targets=np.array([symbol for rule in rows for symbol in rule.target], np.int32),
        rules=np.array([problem.rules.index(rule) for rule in rows], np.int64),
        scores=np.array([rule.scores for rule in rows], np.float32).reshape(len(rows), 2),
        feature_offsets=offsets(sparse),
        feature_ids=np.array([i for row in sparse for i in row], np.int32),
        feature_values=np.ones(sum(map(len, sparse)), np.float32),
        labels=problem.labels,
    )


class BruteForce:
    """All derivations as (words, features without lm), by the definitions."""

    def __init__(self, problem):
        self.problem = problem
        self.known = {}
        config, labels = problem.config, problem.labels
        glue = config.glue_labels
        self.glue = problem.ids([name for name in labels if name != "S"] if glue is None else glue)
        self.unknown = problem.ids(labels[:1] if config.unknown_labels is None else config.unknown_labels)
        self.max_span = config.max_span or 99

    def reaches(self, start, wanted):
        """Whether unary rules lead from one label to another."""
        found, before = {start}, set()
        while found != before:
            before = set(found)
            found |= {r.lhs for r in self.problem.rules if len(r.source) == 1 and -1 - r.source[0] in before}
        return wanted in found

    def is_allowed(self, rule):
        if len(rule.source) > 1 or rule.arity == 0:
            return True
        child = -1 - rule.source[0]
        return child < rule.lhs or (child > rule.lhs and not self.reaches(rule.lhs, child))

    def of(self, label, begin, end):
        if (label, begin, end) not in self.known:
            self.known[label, begin, end] = list(self.derive(label, begin, end))
            if len(self.known[label, begin, end]) > MAX_DERIVATIONS:
                reject()
        return self.known[label, begin, end]

    def derive(self, label, begin, end):
        words = self.problem.words
        covered = [rule for rule in self.problem.rules if rule.source == words[begin:end]]
        if end - begin == 1 and not covered and label in self.unknown:
            yield (self.problem.passed(begin),), Counter({"unknown": 1})
        if end - begin > self.max_span:
            return
        for rule in self.problem.rules:
            if rule.lhs != label or not self.is_allowed(rule):
                continue
            for inner in combinations(range(begin + 1, end), len(rule.source) - 1):
                ends = (begin, *inner, end)
                spans = [(s, ends[i], ends[i + 1]) for i, s in enumerate(rule.source)]
                if len(spans) > end - begin or any(s >= 0 and words[i:j] != (s,) for s, i, j in spans):
                    continue
                tails = [self.of(-1 - s, i, j) for s, i, j in spans if s < 0]
                if math.prod(map(len, tails)) > MAX_DERIVATIONS:
                    reject()
                for chosen in product(*tails):
                    yield self.applied(rule, spans, chosen)

    def applied(self, rule, spans, tails):
        """`spans` are (symbol, begin, end) of the source side."""
        features = Counter({"rules": 1})
        features += Counter(f"sparse:{i}" for i in rule.sparse)
        if rule.arity < 3:
            features[f"arity_{rule.arity}"] += 1
        for name, value in zip(FEATURES.scores, rule.scores, strict=True):
            features[name] = value
        words = ()
        for symbol in rule.target:
            words += tails[-1 - symbol][0] if symbol < 0 else (symbol,)
        for _, inner in tails:
            for name, value in inner.items():
                features[name] += value
        return words, features

    def sentences(self):
        n = len(self.problem.words)
        rows = {0: [((), Counter({"glue": -1 if n else 0}))]}
        for end in range(1, n + 1):
            rows[end] = []
            for begin in range(end):
                labels = set(self.glue)
                if begin == 0 and "S" in self.problem.labels:
                    labels.add(self.problem.labels.index("S"))
                for label in labels:
                    for (words, features), (more, inner) in product(rows[begin], self.of(label, begin, end)):
                        total = Counter({"glue": 1})
                        for part in (features, inner):
                            for name, value in part.items():
                                total[name] += value
                        rows[end].append((words + more, total))
                    if len(rows[end]) > MAX_DERIVATIONS:
                        reject()
        return rows[n]


def text_of(words):
    return " ".join(VOCAB.word(w) if w < len(VOCAB) else OWN[w - len(VOCAB)] for w in words)


def completed(words, features, lm):
    """With what depends on the whole string."""
    names = text_of(words).split()
    unknown = 0 if lm is None else sum(name not in KNOWN for name in names)
    whole = {"words": len(words), "lm": 0.0 if lm is None else lm.score(" ".join(names)), "lm_oov": unknown}
    return {name: value for name, value in {**features, **whole}.items() if value}


def decode(problem, index, lm, config=None):
    options = build(problem, index)
    decoder = ChartDecoder(config or problem.config, VOCAB, index, features=FEATURES, lm=lm)
    [forest] = decoder.decode(options, problem.weights)
    return decoder, options, forest


def test_most_problems_have_several_derivations():
    assert share(problems(), lambda problem: len(BruteForce(problem).sentences()) > 1, n=100) >= 0.9


@settings(max_examples=150)
@given(problem=problems())
def test_search_without_pruning_is_brute_force(lm, problem):
    derivations = BruteForce(problem).sentences()
    for model in (lm, None):
        index = FeatureIndex()
        _, _, forest = decode(problem, index, model)
        got = forest.kbest(problem.weights, MAX_DERIVATIONS + 1)
        left = Counter()
        names = index.names(np.arange(len(index), dtype=np.int32))
        scores = []
        for words, features in derivations:
            values = completed(words, features, model)
            scores.append(sum(problem.weights[index.find(name)] * value for name, value in values.items()))
            left[words, frozenset((name, round(value, 3)) for name, value in values.items() if name != "lm")] += 1
        assert len(got) == len(scores)
        np.testing.assert_allclose(got.totals, sorted(scores, reverse=True), atol=1e-4)
        for c in range(len(got)):
            ids, values = got.features_of(c)
            found = dict(zip((names[i] for i in ids), values.tolist(), strict=True))
            words = tuple(got.tokens_of(c).tolist())
            if model is not None:
                assert found.pop("lm") == pytest.approx(model.score(text_of(words)), abs=1e-4)
            key = words, frozenset((name, round(value, 3)) for name, value in found.items())
            left[key] -= 1
            assert left[key] >= 0, f"no derivation has {key}"


@settings(max_examples=100)
@given(problem=problems())
def test_nodes_carry_label_and_span(lm, problem):
    index = FeatureIndex()
    _, options, forest = decode(problem, index, lm)
    assume(forest.n_nodes)
    a = ForestArrays.of(forest.core)
    assert forest.labels[-1] == "S" or "S" in options.labels
    for node, (label, begin, end, covered) in enumerate(a.nodes.tolist()):
        assert covered == end - begin
        for edge in range(a.node_edges[node], a.node_edges[node + 1]):
            instance = a.instances[edge]
            assert a.spans[instance].tolist() == [begin, end]
            tails = a.nodes[a.tails[a.tail_offsets[edge] : a.tail_offsets[edge + 1]]]
            if (rule := a.rules[instance]) >= 0:
                rule = problem.rules[rule]
                assert rule.lhs == label
                assert [-1 - s for s in rule.source if s < 0] == tails[:, 0].tolist()
                assert covered <= (problem.config.max_span or 99)
            assert all(begin <= b < e <= end for _, b, e, _ in tails.tolist())
    assert a.nodes[-1].tolist()[1:] == [0, len(problem.words), len(problem.words)]
    assert forest.labels[a.nodes[-1, 0]] == "S"


@settings(max_examples=60)
@given(problem=problems(), pop_limit=st.integers(1, 6), k=st.integers(1, 20), beam=st.floats(0, 3))
def test_pruned_search_is_consistent(lm, problem, pop_limit, k, beam):
    index = FeatureIndex()
    given_ = problem.config
    for config in (
        ChartConfig(pop_limit=pop_limit, rule_limit=2, beam=beam, max_span=given_.max_span),
        ChartConfig(pop_limit=pop_limit, glue_labels=given_.glue_labels),
    ):
        decoder, options, forest = decode(problem, index, lm, config)
        again = decoder.kbest(options, problem.weights, k)
        assert again.n_sentences == 1
        if not forest.n_nodes:
            assert len(again) == 0
            continue
        from_forest = forest.kbest(problem.weights, k)
        for a, b in zip(
            (again.totals, again.tokens, again.feature_ids, again.feature_values),
            (from_forest.totals, from_forest.tokens, from_forest.feature_ids, from_forest.feature_values),
            strict=True,
        ):
            assert np.array_equal(a, b)
        for c in range(len(again)):
            ids, values = again.features_of(c)
            found = dict(zip(index.names(ids), values.tolist(), strict=True))
            assert found.get("lm", 0.0) == pytest.approx(lm.score(forest.text(again.tokens_of(c))), abs=1e-4)
            assert again.totals[c] == pytest.approx(float(problem.weights[ids] @ values), abs=1e-4)
