"""Every feature of the decoders has a description, and none describes what does not exist."""

from __future__ import annotations

from dragoman.features import known_templates
from dragoman.features.descriptions import DENSE_FEATURES, FEATURE_TEMPLATES, describe_feature
from dragoman.grammar import Reordering, ReorderingKind
from dragoman.search import ChartFeatures, PhraseFeatures

MODELS = [
    Reordering(kind=kind, n_orientations=n)
    for kind in ReorderingKind
    for n in ((3, 4, 5) if kind is ReorderingKind.HIERARCHICAL else (3, 4))
]


def test_every_dense_feature_is_described():
    names = {*ChartFeatures.chiang8().names(), *ChartFeatures.full14().names()}
    names.update(*(PhraseFeatures(reordering=(model,)).names() for model in MODELS))
    beside = [model for model in MODELS if model.is_hierarchical]
    names.update(*(PhraseFeatures(reordering=(Reordering(), model)).names() for model in beside))
    assert set(DENSE_FEATURES) == names


def test_every_template_is_described():
    assert set(FEATURE_TEMPLATES) == set(known_templates())


def test_names_find_their_descriptions():
    assert describe_feature("lm") == DENSE_FEATURES["lm"]
    assert describe_feature("word_pair:haus,house") == describe_feature("word_pair") == FEATURE_TEMPLATES["word_pair"]
    assert describe_feature("lm:x") is None
    assert describe_feature("TranslationModel0_0") is None
