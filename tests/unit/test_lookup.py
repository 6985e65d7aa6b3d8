"""What the tables say of a phrase, in the forms that a user may type it in."""

from __future__ import annotations

import pytest
from tests.kit.small_text import write_lines

from dragoman.errors import InputError
from dragoman.lm import EstimateConfig
from dragoman.system import HieroSettings, SystemSettings, TextSettings, TrainConfig, train
from dragoman.system.lookup import look_up

PAIRS = {
    "Der Hund sieht das Haus.": "The dog sees the house.",
    "Das Haus ist nicht alt.": "The house is not old.",
    "Er sieht den Hund nicht.": "He does not see the dog.",
    "Dort ist das Haus, Und das Tor.": "There is the house, And the gate.",
    "Das Tor und das Haus.": "The gate and the house.",
    "Der Hund und das Tor.": "The dog and the gate.",
}


def trained(folder, model="phrase", pairs=None, **text):
    pairs = PAIRS if pairs is None else pairs
    write_lines(folder / "s.de", list(pairs) * 3)
    write_lines(folder / "s.en", list(pairs.values()) * 3)
    chosen = {"model": HieroSettings(max_span=10)} if model == "hiero" else {}
    settings = SystemSettings(n_folds=2, text=TextSettings(**text), **chosen)
    config = TrainConfig(settings=settings, lm=EstimateConfig(order=2))
    return train(folder / "s.de", folder / "s.en", folder / model, config=config)


@pytest.fixture(scope="module")
def phrase(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("lookup"), source_language="de", target_language="en")


@pytest.fixture(scope="module")
def hiero(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("lookup"), "hiero", source_language="de", target_language="en")


def test_sentences_are_those_that_the_pair_was_extracted_from(tmp_path):
    """Without folds too; that both phrases are in a sentence is not enough."""
    write_lines(tmp_path / "s", ["a b", "a b c", "c a", "b a"])
    write_lines(tmp_path / "t", ["x y", "x y z", "x q", "y y x"])
    write_lines(tmp_path / "links", ["0-0 1-1", "0-0 1-1 2-2", "0-0 1-1", "0-0 0-1 1-2"])
    config = TrainConfig(settings=SystemSettings(), lm=EstimateConfig(order=2))
    system = train(tmp_path / "s", tmp_path / "t", tmp_path / "m", alignment=tmp_path / "links", config=config)
    (row,) = [row for row in look_up(system, "a").rows if row.target == "x"]
    assert row.sentences == ((1, "a b", "x y"), (2, "a b c", "x y z"), (4, "b a", "y y x"))
    assert row.count == 3
    assert not look_up(system, "a", n_sentences=0).rows[0].sentences
    (row,) = [row for row in look_up(system, "b").rows if row.target == "y y"]
    assert row.sentences == ((4, "b a", "y y x"),)
    with pytest.raises(InputError, match="train it with `n_folds`"):
        _ = system.training


def targets(found):
    return [row.target for row in found.rows]


@pytest.mark.parametrize("typed", ["und", "Und", "UND"])
def test_of_several_forms_the_most_frequent_is_shown(phrase, typed):
    found = look_up(phrase, typed)
    assert found.source == "und"
    assert "and" in targets(found)
    assert look_up(phrase, "Und", raw=False).source == "Und"


@pytest.mark.parametrize("typed", ["das haus", "DAS HAUS", "Das Haus"])
def test_case_does_not_matter(phrase, typed):
    found = look_up(phrase, typed)
    assert found.source == "das Haus"
    assert targets(found)[0] == "the house"
    assert found.rows[0].sentences


@pytest.mark.parametrize("typed", ["[X,1] nicht", "[x,1] Nicht", "[X] nicht", "[X,2] nicht"])
def test_gaps(hiero, typed):
    found = look_up(hiero, typed)
    assert found.source == "[X,1] nicht"
    assert any("not" in target and "[X,1]" in target for target in targets(found))
    assert found.n_occurrences == 6


def test_gaps_beside_punctuation(hiero):
    assert look_up(hiero, "[X,2] und [X,1].").source == "[X,1] und [X,2] ￭."
    assert look_up(hiero, "([X,1])").source == "(￭ [X,1] ￭)"
    assert look_up(hiero, "[X,1] und", raw=False).rows


def test_gaps_of_a_script_without_spaces(tmp_path):
    pairs = {
        "我的书。": "My book.",
        "他的书。": "His book.",
        "我的文档。": "My document.",
        "你的书好。": "Your book is good.",
    }
    system = trained(tmp_path, "hiero", pairs, source_language="zh", target_language="en")
    assert look_up(system, "[X,1]的[X,2]").source == "[X,1] 的 [X,2]"


def test_what_is_not_there(phrase, hiero):
    missing = look_up(phrase, "Haushund")
    assert (missing.source, missing.rows, missing.n_occurrences) == ("Haus Hund", (), 0)
    for system in (phrase, hiero):
        with pytest.raises(InputError, match="no words"):
            look_up(system, " ")
    with pytest.raises(InputError, match="no words"):
        look_up(hiero, "[X,1]")
    with pytest.raises(InputError, match="only a hierarchical system"):
        look_up(phrase, "[X,1] nicht")
