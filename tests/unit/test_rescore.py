"""Hierarchical derivations outside search: built, edited and rescored, they equal what the forest says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.kit.small_text import write_splits

from dragoman.errors import InputError
from dragoman.forest import Derivation
from dragoman.lm import EstimateConfig
from dragoman.search import ChartFeatures, RuleRescorer
from dragoman.system import DenseSet, HieroSettings, SystemSettings, TrainConfig, train

SENTENCES = ["qwertz", "äöü qwertz", "die kinder sehen qwertz ."]


@pytest.fixture(scope="module", params=list(DenseSet))
def system(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rescore")
    splits = write_splits(folder, 400, 1, 8, seed=4)
    settings = SystemSettings(model=HieroSettings(dense=request.param))
    config = TrainConfig(settings=settings, lm=EstimateConfig(order=3))
    return train(folder / "train.de", folder / "train.en", folder / "system", config=config), [
        *SENTENCES,
        *(example.source for example in splits.test),
    ]


def derivations(system, sentence, n=20):
    forest = system.decode(sentence)
    found = forest.kbest(system.weights, n)
    return [forest.derivation(found.edges_of(c)) for c in range(found.sentences[1])]


def bare(derivation):
    return Derivation(tuple(replace(a, features={}) for a in derivation.applications))


def same_features(one, other):
    for ours, theirs in zip(one.applications, other.applications, strict=True):
        assert replace(ours, features={}) == replace(theirs, features={})
        assert ours.features == pytest.approx(theirs.features, abs=2e-5)


def test_every_application_has_the_features_of_its_edge(system):
    trained, sentences = system
    rescorer = trained.translator.rescorer()
    n_rules = n_glue = n_unknown = 0
    for sentence in sentences:
        for found in derivations(trained, sentence):
            same_features(rescorer.rescore(bare(found)), found)
            n_rules += sum(len(a.children) > 0 and a.rule >= 0 for a in found.applications)
            n_glue += sum(a.symbols == (0, 1) for a in found.applications)
            n_unknown += sum(a.rule < 0 and not a.children for a in found.applications)
    assert min(n_rules, n_glue, n_unknown) > 10


def test_features_of_templates_are_those_of_the_edges(system):
    trained, sentences = system
    names = ("rule_id", "discount", "rule_shape", "structural_distortion", "word_context(top=0)")
    trained = trained.with_templates(names)
    rescorer = trained.translator.rescorer()
    for sentence in sentences:
        for found in derivations(trained, sentence, 5):
            ours = rescorer.rescore(bare(found), sentence)
            same_features(ours, found)
            for mine, theirs in zip(ours.applications, found.applications, strict=True):
                assert [
                    {name: value for name, value in a.features.items() if ":" in name} for a in (mine, theirs)
                ] == 2 * [{name: value for name, value in theirs.features.items() if ":" in name}]
            if len(sentence.split()) > 3:
                assert any(name.startswith("word_context:") for name in ours.features())
    with pytest.raises(InputError, match="does not fit its sentence"):
        rescorer.rescore(found, ["other"] * len(sentence.split()))
    with pytest.raises(InputError, match="no templates"):
        RuleRescorer(trained.grammar.rule_view(), ChartFeatures.chiang8()).rescore(found, sentence)


def test_a_derivation_built_by_hand_is_the_one_that_search_found(system):
    trained, sentences = system
    rescorer = trained.translator.rescorer()
    view = trained.grammar.rule_view()

    def rebuilt(derivation, place):
        application = derivation.applications[place]
        children = [rebuilt(derivation, child) for child in application.children]
        if application.rule >= 0:
            return rescorer.apply(view.rule(application.rule), application.source[0], children)
        return rescorer.unknown(application.symbols[0], application.source[0])

    def parts(derivation, place):
        """What glue puts side by side."""
        application = derivation.applications[place]
        if application.label != "S":
            return [place]
        return [part for child in application.children for part in parts(derivation, child)]

    for sentence in sentences:
        for found in derivations(trained, sentence, 5):
            ours = rescorer.sentence([rebuilt(found, place) for place in parts(found, 0)])
            assert ours.tokens() == found.tokens()
            assert ours.features() == pytest.approx(found.features(), abs=1e-4)


def test_an_edit_changes_what_it_should(system):
    trained, sentences = system
    rescorer = trained.translator.rescorer()
    first, *others = derivations(trained, sentences[4], 100)
    edited = 0
    for place, application in enumerate(first.applications):
        for other in others if application.label == "X" else ():
            for there, candidate in enumerate(other.applications):
                same_place = (candidate.label, candidate.source) == ("X", application.source)
                if not same_place or other.subtree(there).tokens() == first.subtree(place).tokens():
                    continue
                changed = rescorer.rescore(first.replaced(place, other.subtree(there)))
                text = " ".join(changed.tokens())
                assert changed.features()["lm"] == pytest.approx(trained.lm().score(text), abs=1e-4)
                edited += 1
    assert edited > 3
    with pytest.raises(ValueError, match="cannot replace"):
        first.replaced(len(first.applications) - 1, first)


def test_long_rows_of_glue_can_be_edited(system):
    trained, _ = system
    rescorer = trained.translator.rescorer()
    long = rescorer.sentence([rescorer.unknown("qwertz", place) for place in range(1500)])
    place = next(i for i, a in enumerate(long.applications) if a.source == (700, 701))
    changed = long.replaced(place, rescorer.unknown("asdf", 700))
    assert changed.tokens() == ["qwertz"] * 700 + ["asdf"] + ["qwertz"] * 799
    assert long.subtree(0) == long
    assert long.replaced(1, long.subtree(1)) == long


def test_what_does_not_fit_is_refused(system):
    trained, _ = system
    rescorer = trained.translator.rescorer()
    view = trained.grammar.rule_view()
    rule = next(rule for r in range(len(trained.grammar)) if (rule := view.rule(r)) and "[X,1]" in rule.source.split())
    leaf = rescorer.unknown("qwertz", 7)
    with pytest.raises(InputError, match="more nonterminals"):
        rescorer.apply(rule, 0, [])
    with pytest.raises(InputError, match="from source word"):
        rescorer.apply(rule, 100, [leaf] * rule.source.count("[X,"))
    with pytest.raises(InputError, match="begin at source word 0"):
        rescorer.sentence([leaf])
    with pytest.raises(InputError, match="at least one"):
        rescorer.sentence([])
