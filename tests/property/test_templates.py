"""Features of templates against plain Python twins, for every option of random grammars."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reorder_twin import Words, reordering

from dragoman._core import escape_word
from dragoman.align import Alignment
from dragoman.corpus import Bitext, Side, Vocab
from dragoman.features import FeatureIndex, Template, feature_name, known_templates, parse_templates
from dragoman.grammar import PhraseExtraction, PhraseViewConfig, extract_phrases
from dragoman.search import PhraseConfig, PhraseDecoder, PhraseOptionBuilder

# Words that look like a template's marks, like markup, and with characters that names escape.
SOURCE_WORDS = ["a", "b", "<other>", "c,d", "\\s", "e\x01f"]
TARGET_WORDS = ["x", "y", "<unaligned>", "|||", ",", "ü", "\x7f"]
TEMPLATES = (
    "word_pair(top=2)",
    "source_length(max=2)",
    "target_length",
    "joint_length(max=1)",
    "discount",
    "rule_id(min_count=1)",
    "reorder_local(top=2)",
    "reorder_stack(top=1)",
    "reorder_gap(top=0)",
    "reorder_phrase",
)
REORDERING = {"reorder_local": (2, 0), "reorder_stack": (1, 0), "reorder_gap": (0, 0), "reorder_phrase": ()}
COUNTED = ("frequency", "unaligned")
CONTEXTS = ("word_context(top=0)", "word_context(top=2)", "word_context(top=0,pairs=2)")


def templates_of(context, by):
    unaligned = (f"{name}(top=1,by={by})" for name in ("target_insertion", "source_deletion"))
    return parse_templates([*TEMPLATES, *unaligned, context])


def stored(word):
    return escape_word(word.encode()).decode()


class Twin:
    """The definitions, rule by rule. `top` gives the names of words, the frequent ones their own.

    `by` says what makes a word of insertions and deletions frequent.
    """

    def __init__(self, pairs, by):
        self.sides = Counter(), Counter()
        self.unaligned = Counter(), Counter()
        self.by = by
        self.linked = Counter()
        for source, target, links in pairs:
            self.linked.update((stored(source[s]), stored(target[t])) for s, t in links)
        for *sides, links in pairs:
            for side, words in enumerate(sides):
                for place, word in enumerate(words):
                    n_links = sum(link[side] == place for link in links)
                    self.sides[side][stored(word)] += max(1, n_links)
                    self.unaligned[side][stored(word)] += n_links == 0

    def top(self, side, n, by="frequency"):
        counts = (self.sides if by == "frequency" else self.unaligned)[side]
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0].encode()))
        frequent = {word for word, count in ranked[:n] if count}
        return lambda word: word if word in frequent else "<other>"

    def context(self, option, begin, sentence, template):
        """Of linked words with their neighbours in the sentence."""
        f, e = ([stored(w) for w in side.split()] for side in (option.source, option.target))
        around = ["<s>", *(stored(w) if stored(w) in self.sides[0] else "<unk>" for w in sentence), "</s>"]
        ranked = sorted(self.linked.items(), key=lambda item: (-item[1], [w.encode() for w in item[0]]))
        pairs = {pair for pair, _ in ranked[:2]} if "pairs" in template else set(self.linked)
        top = (self.top(0, 2), self.top(1, 2)) if "top=2" in template else (str, str)
        result = Counter()
        for s, t in option.alignment:
            pair = (top[0](f[s]), top[1](e[t])) if (f[s], e[t]) in pairs else ("<other>", "<other>")
            for step, word in (("-1", around[begin + s]), ("+1", around[begin + s + 2])):
                if word not in ("<s>", "</s>"):
                    word = top[0](word) if "pairs" not in template or word in {f for f, _ in pairs} else "<other>"
                result[feature_name("word_context", *pair, step, word)] += 1
        return result

    def features(self, option):
        f, e = ([stored(w) for w in side.split()] for side in (option.source, option.target))
        links = option.alignment
        unaligned_f = [w for i, w in enumerate(f) if all(i != s for s, _ in links)]
        unaligned_e = [w for j, w in enumerate(e) if all(j != t for _, t in links)]
        result = Counter()

        def add(template, *arguments):
            result[feature_name(template, *arguments)] += 1

        name_f, name_e = self.top(0, 2), self.top(1, 2)
        for s, t in links:
            add("word_pair", name_f(f[s]), name_e(e[t]))
        for w in unaligned_f:
            add("word_pair", name_f(w), "<unaligned>")
        for w in unaligned_e:
            add("word_pair", "<unaligned>", name_e(w))
        add("source_length", len(f) if len(f) <= 2 else "3+")
        add("target_length", len(e) if len(e) <= 7 else "8+")
        add("joint_length", *(len(side) if len(side) <= 1 else "2+" for side in (f, e)))
        for w in unaligned_e:
            add("target_insertion", self.top(1, 1, self.by)(w))
        for w in unaligned_f:
            add("source_deletion", self.top(0, 1, self.by)(w))
        bins = [1, 2, 3, 4, 5, (6, 10), (11, 20), (21, 50), (51, 100), (101, 1000)]
        for b in bins:
            low, high = b if isinstance(b, tuple) else (b, b)
            if low <= option.count <= high:
                add("discount", f"{low}-{high}" if low < high else low)
        if option.count > 1000:
            add("discount", "1001+")
        add("rule_id", " ".join(f), " ".join(e))
        return result

    def reordering(self, phrases, sentence):
        """Of (span, rule, target words) in target order."""
        sides = [Words(counts, {}) for counts in self.sides]
        return reordering(phrases, [stored(word) for word in sentence], sides, REORDERING)


@st.composite
def corpora(draw):
    pairs = []
    for _ in range(draw(st.integers(1, 5))):
        source = draw(st.lists(st.sampled_from(SOURCE_WORDS), min_size=1, max_size=4))
        target = draw(st.lists(st.sampled_from(TARGET_WORDS), min_size=1, max_size=4))
        cells = [(s, t) for s in range(len(source)) for t in range(len(target))]
        links = draw(st.lists(st.sampled_from(cells), max_size=4, unique=True))
        pairs += [(source, target, sorted(links))] * draw(st.sampled_from([1, 1, 2, 7]))
    return pairs


def grammar_of(pairs, folder):
    vocabs = [Vocab.of([" ".join(p[side]) for p in pairs]) for side in (0, 1)]
    sides = [Side(v, *v.encode_lines(" ".join(p[i]) for p in pairs)) for i, v in enumerate(vocabs)]
    folds = np.arange(len(pairs), dtype=np.uint8) % 2
    bitext = Bitext(sides[0], sides[1], folds, 2)
    return extract_phrases(
        bitext, Alignment.of(p[2] for p in pairs), folder / "grammar", PhraseExtraction(max_length=3)
    )


def rows_of(options, index):
    names = index.names(options.feature_ids)
    for i in range(len(options.rules)):
        row = slice(options.feature_offsets[i], options.feature_offsets[i + 1])
        yield dict(zip(names[row], options.feature_values[row].tolist(), strict=True))


sentences = st.lists(st.lists(st.sampled_from([*SOURCE_WORDS, "new"]), max_size=5), max_size=4)


@settings(max_examples=40)
@given(
    pairs=corpora(),
    batch=sentences,
    fold=st.sampled_from([None, 0]),
    context=st.sampled_from(CONTEXTS),
    by=st.sampled_from(COUNTED),
)
def test_options_and_features_are_those_of_the_twin(pairs, batch, fold, context, by):
    with tempfile.TemporaryDirectory() as scratch:
        view = grammar_of(pairs, Path(scratch)).view(PhraseViewConfig(excluded_fold=fold))
        index = FeatureIndex()
        builder = PhraseOptionBuilder(view, index, templates=templates_of(context, by))
        options = builder.build(batch).interned(index)
        wanted = [view.options(sentence) for sentence in batch]
        assert options.first.tolist() == np.cumsum([0, *(len(row) for row in wanted)]).tolist()
        flat = [option for row in wanted for option in row]
        assert options.rules.tolist() == [o.pair for o in flat]
        assert list(zip(options.begin.tolist(), options.end.tolist(), strict=True)) == [(o.begin, o.end) for o in flat]
        twin = Twin(pairs, by)
        sentence_of = [sentence for sentence, row in zip(batch, wanted, strict=True) for _ in row]
        for i, (option, found) in enumerate(zip(flat, rows_of(options, index), strict=True)):
            target = options.targets[options.target_offsets[i] : options.target_offsets[i + 1]]
            assert view.target_vocab.decode(target) == option.target
            assert options.scores[i].tolist() == [option.p_e_f, option.p_f_e, option.lex_e_f, option.lex_f_e]
            assert options.orientations[i].tolist() == list(option.reordering)
            assert found == twin.features(option) + twin.context(option, option.begin, sentence_of[i], context)
        alone = [{o.begin for o in row if o.end == o.begin + 1} for row in wanted]
        for s, sentence in enumerate(batch):
            row = options.pass_through[options.pass_offsets[s] : options.pass_offsets[s + 1]].tolist()
            assert len(row) == len(sentence)
            for place, (word, id_) in enumerate(zip(sentence, row, strict=True)):
                if place in alone[s]:
                    continue
                assert word == view.target_vocab.extended(options.own_words).word(id_)


@settings(max_examples=15)
@given(pairs=corpora(), batch=sentences, context=st.sampled_from(CONTEXTS), by=st.sampled_from(COUNTED))
def test_a_derivation_has_the_features_of_its_phrases(pairs, batch, context, by):
    with tempfile.TemporaryDirectory() as scratch:
        view = grammar_of(pairs, Path(scratch)).view()
        index = FeatureIndex()
        builder = PhraseOptionBuilder(view, index, templates=templates_of(context, by))
        decoder = PhraseDecoder(PhraseConfig.fast(), view.target_vocab, index)
        options = builder.build(batch).interned(index)
        weights = np.linspace(-1, 1, len(index))
        twin = Twin(pairs, by)
        for sentence, forest in zip(batch, decoder.decode(options, weights), strict=True):
            best = forest.best(weights)
            wanted = Counter()
            for application in best.applications:
                if application.rule >= 0:
                    pair = view.pair(application.rule)
                    wanted.update(twin.features(pair))
                    wanted.update(twin.context(pair, application.source[0], sentence, context))
            phrases = [
                (application.source, application.rule, [word for word in application.symbols if isinstance(word, str)])
                for application in reversed(best.applications)
                if application.source[0] < application.source[1]
            ]
            wanted.update(twin.reordering(phrases, sentence))
            found = {n: v for n, v in best.features().items() if n.split(":")[0] in known_templates()}
            assert found == pytest.approx(dict(wanted))


@given(name=st.sampled_from(sorted(known_templates())), data=st.data())
def test_a_template_is_what_its_text_says(name, data):
    settings_ = known_templates()[name].settings
    values = tuple(
        data.draw(st.sampled_from(setting.choices) if setting.choices else st.integers(setting.least, setting.most))
        for setting in settings_
    )
    template = Template(name, values)
    assert Template.parse(str(template)) == template
