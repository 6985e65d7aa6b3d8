"""Phrase pairs, scores and reordering scores equal those of Moses from the same alignment."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import pytest

from dragoman.corpus import Bitext
from dragoman.grammar import Grammar, PhraseExtraction, PhraseViewConfig, extract_phrases
from dragoman.grammar.phrase_tables import read_tables
from dragoman.text import read_lines

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def grammar(corpus) -> Grammar:
    folder, bitext, alignment = corpus
    return extract_phrases(bitext, alignment, folder / "grammar", PhraseExtraction(n_threads=2))


class RoundedLexicon:
    """Word translation probabilities as Moses stores them: seven digits after the point."""

    def __init__(self, bitext, alignment):
        pairs, self._source, self._target = Counter(), Counter(), Counter()
        vocabs = bitext.source.vocab, bitext.target.vocab
        words = [[vocab.word(i) for i in range(len(vocab))] for vocab in vocabs]
        for row in range(len(bitext)):
            source = [words[0][i] for i in bitext.source[row]]
            target = [words[1][i] for i in bitext.target[row]]
            links = alignment[row]
            pairs.update((source[s], target[t]) for s, t in links)
            linked = {s for s, _ in links}, {t for _, t in links}
            pairs.update((w, None) for i, w in enumerate(source) if i not in linked[0])
            pairs.update((None, w) for i, w in enumerate(target) if i not in linked[1])
        for (s, t), n in pairs.items():
            self._source[s] += n
            self._target[t] += n
        self._pairs = pairs

    def weight(self, words, others, links, *, of_target, rounded):
        product = 1.0
        for i, word in enumerate(words):
            given = [others[link[0 if of_target else 1]] for link in links if link[1 if of_target else 0] == i] or [
                None
            ]
            product *= sum(self._prob(word, other, of_target, rounded) for other in given) / len(given)
        return product

    def _prob(self, word, other, of_target, rounded):
        n = self._pairs[(other, word) if of_target else (word, other)]
        p = n / (self._source if of_target else self._target)[other]
        return round(p, 7) if rounded else p


def close(ours, theirs, relative=1e-5):
    return abs(ours - theirs) <= relative * theirs + 1e-12


def test_every_pair_and_score_of_moses(corpus, grammar, anchors):
    _, bitext, alignment = corpus
    lexicon = RoundedLexicon(bitext, alignment)
    view = grammar.view(PhraseViewConfig(max_targets=0))
    moses = defaultdict(dict)
    for line in read_lines(anchors / "moses-enja/phrase/phrase-table.test.gz"):
        source, target, scores, links, counts = line.split(" ||| ")[:5]
        moses[source][target] = [*map(float, scores.split())], links.split(), [*map(int, counts.split())]
    reordering = defaultdict(dict)
    for line in read_lines(anchors / "moses-enja/phrase/reordering-table.test.xz"):
        source, target, scores = line.split(" ||| ")
        reordering[source][target] = [*map(float, scores.split())]
    assert sum(map(len, moses.values())) == 116304
    n_pairs = 0
    for source in sorted(moses)[::10]:
        options = {option.target: option for option in view.lookup(source)}
        assert options.keys() == moses[source].keys()
        for target, (scores, links, counts) in moses[source].items():
            option = options[target]
            n_pairs += 1
            assert option.count == counts[2]
            assert close(math.exp(option.p_f_e), scores[0])
            assert close(math.exp(option.p_e_f), scores[2])
            assert sorted(links) == sorted(f"{s}-{t}" for s, t in option.alignment)
            for ours, theirs in zip(option.reordering, reordering[source][target], strict=True):
                assert close(math.exp(ours), theirs)
            # Moses rounds probabilities of words to seven decimals before it multiplies; that apart, all is equal.
            words = source.split(), target.split()
            exact = lexicon.weight(words[1], words[0], option.alignment, of_target=True, rounded=False)
            assert close(math.exp(option.lex_e_f), exact)
            rounded = lexicon.weight(words[1], words[0], option.alignment, of_target=True, rounded=True)
            assert close(rounded, scores[3])
            # The other direction breaks ties among alignments its own way; the one it took is not in the table.
            assert math.exp(option.lex_f_e) == pytest.approx(scores[1], rel=3e-3)
    assert n_pairs > 5000


def test_a_fold_s_view_equals_a_grammar_of_the_other_folds(corpus, grammar, data):
    folder, bitext, alignment = corpus
    kept = [i for i in range(len(bitext)) if bitext.folds[i] != 2]
    lines = [(bitext.source.text(i), bitext.target.text(i)) for i in kept]
    for side, name in enumerate(("s", "t")):
        (folder / name).write_text("".join(line[side] + "\n" for line in lines), encoding="utf-8")
    part = Bitext.build(folder / "s", folder / "t", folder / "part")
    fresh = extract_phrases(part, type(alignment).of(alignment[i] for i in kept), folder / "fresh")
    view, fresh_view = (
        grammar.view(PhraseViewConfig(excluded_fold=2, max_targets=0)),
        fresh.view(PhraseViewConfig(max_targets=0)),
    )
    n_options = 0
    for line in list(read_lines(data / "enja/test.ja.xz"))[:15]:
        sorted_options = [
            sorted(
                (o.begin, o.end, o.target, *(getattr(o, n) for n in o.__slots__ if n not in {"pair"}))
                for o in v.options(line)
            )
            for v in (view, fresh_view)
        ]
        assert sorted_options[0] == sorted_options[1]
        n_options += len(sorted_options[0])
        for word in line.split():
            assert view.knows_source(word) == fresh_view.knows_source(word)
    assert n_options > 1000


def test_moses_tables_become_a_grammar(anchors, tmp_path):
    tables = anchors / "moses-enja/phrase"
    grammar = read_tables(
        tables / "phrase-table.test.gz", tmp_path / "g", reordering=tables / "reordering-table.test.xz"
    )
    assert len(grammar) == 116304
    option = grammar.view().find("、", "'ll ring")
    assert [option.p_f_e, option.lex_f_e, option.p_e_f, option.lex_e_f] == pytest.approx(
        [math.log(p) for p in (1, 0.0258065, 0.001443, 1.22177e-06)], abs=1e-5
    )
    expected = (0.142857, 0.142857, 0.714286, 0.142857, 0.142857, 0.714286)
    assert option.reordering == pytest.approx([math.log(p) for p in expected], abs=1e-5)
    assert option.count == 2
    assert option.alignment == ((0, 0),)
