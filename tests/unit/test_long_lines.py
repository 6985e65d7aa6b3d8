"""Lines with more words than a search takes: cut for translations, refused with their line elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.kit.small_systems import opened, sentences_of

from dragoman.corpus.tokens import TokenLines
from dragoman.errors import InputError
from dragoman.lm import EstimateConfig
from dragoman.search import ChartConfig, ChartDecoder, PhraseConfig, PhraseDecoder
from dragoman.system import (
    KINDS,
    FoldDecoder,
    LongLines,
    SystemSettings,
    TrainConfig,
    TranslationJob,
    check_lengths,
    train,
)
from dragoman.system.text import parts_of
from dragoman.tuning import tune_system


def long_line(made, n_words):
    words = " ".join(sentences_of(made)).split()
    return " ".join((words * (n_words // len(words) + 1))[:n_words])


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_without_end_is_translated_in_parts(made, kind):
    system = opened(made, kind)
    most = system.translator.max_words
    line = long_line(made, most + 1)
    lines = [sentences_of(made)[0], line, "", *parts_of(line, most)]
    short, found, empty, *parts = system.translate(lines, preset="fast", n_threads=2)
    assert (found, empty) == (" ".join(parts), "")
    job = TranslationJob(view=system, weights=system.weights, preset="fast")
    assert job.open(2)(lines[:3]) == [short, found, empty]


@pytest.mark.parametrize("kind", KINDS)
def test_word_links_of_parts_are_those_of_the_line(made, kind):
    system = opened(made, kind)
    most = system.translator.max_words
    line = long_line(made, most + 1)
    text, links = system.translate_linked(line, preset="fast")
    assert text == next(system.translate([line], preset="fast"))
    expected, source, target = [], 0, 0
    for part in parts_of(line, most):
        of_part, found = system.translate_linked(part, preset="fast")
        expected += [(source + s, target + t) for s, t in found]
        source, target = source + len(part.split()), target + len(of_part.split())
    assert links == expected


def test_parts_are_few_and_of_about_equal_length():
    words = [f"w{i}" for i in range(25)]
    for most, lengths in ((25, [25]), (24, [12, 13]), (10, [8, 8, 9]), (1, [1] * 25)):
        assert [len(part.split()) for part in parts_of(" ".join(words), most)] == lengths
    assert parts_of("", 3) == [""]
    assert parts_of("a b  c d", 3) == ["a b", "c d"]


@pytest.mark.parametrize("kind", KINDS)
def test_other_searches_refuse_it(made, kind):
    system = opened(made, kind)
    short, most = sentences_of(made)[0], system.translator.max_words
    line = long_line(made, most + 1)
    refused = rf"sentence 2 of 2 has {most + 1:,} words; at most {most:,} are searched at once"
    with pytest.raises(InputError, match=refused):
        system.kbest([short, line], 5, preset="fast")
    with pytest.raises(InputError, match=refused):
        list(system.forests([short, line]))
    for search in (system.explain, lambda s: system.force(s, "a b c"), system.decode):
        with pytest.raises(InputError, match=rf"has {most + 1:,} words"):
            search(line)
    live = system.translator.prepare([line])
    with pytest.raises(InputError, match=rf"has {most + 1:,} words"):
        live.kbest(0, system.weights.values, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_decoder_has_the_limit_of_its_settings(made, kind):
    translator = opened(made, kind).translator
    preset = translator.new_decoder("default")
    assert preset.max_words == translator.max_words == preset.config.max_words
    config = replace(preset.config, max_words=3)
    decoder = type(preset)(config, translator.vocab, translator.index, features=preset.features)
    batch = translator._builder.build(["der hund schläft", "der hund schläft heute"])
    weights = np.zeros(len(translator.index))
    with pytest.raises(InputError, match="sentence 2 of 2 has 4 words; at most 3"):
        decoder.kbest(batch, weights, 1)
    assert {type(preset), type(config)} in ({PhraseDecoder, PhraseConfig}, {ChartDecoder, ChartConfig})
    with pytest.raises(ValueError, match="max_words must be at least 1"):
        replace(config, max_words=0)


@pytest.mark.parametrize("kind", KINDS)
def test_tuning_names_the_line(made, kind, tmp_path):
    lines = sentences_of(made)
    most = opened(made, kind).translator.max_words
    source, target = tmp_path / "dev.de", tmp_path / "dev.en"
    source.write_text("\n".join([*lines[:3], long_line(made, most + 1), ""]), encoding="utf-8")
    target.write_text("a\n" * 4, encoding="utf-8")
    with pytest.raises(InputError, match=rf"dev\.de, line 4: has a sentence of {most + 1:,} words"):
        tune_system(made / kind, source, [target], tmp_path / "tuned")


@pytest.mark.parametrize("kind", KINDS)
def test_long_lines_of_the_training_text_have_an_empty_candidate(made, kind):
    system = opened(made, kind)
    training = system.training
    lines = np.arange(4, dtype=np.int64)
    lengths = training.source_ids.take(lines).lengths()
    most = int(max(lengths)) - 1
    encoded = training.encoded(lines, None, most)
    assert np.diff(encoded.offsets).tolist() == np.where(lengths > most, 0, lengths).tolist() != lengths.tolist()
    whole = training.encoded(lines, None)
    for i in np.flatnonzero(lengths <= most):
        same = [rows.ids[rows.offsets[i] : rows.offsets[i + 1]].tolist() for rows in (encoded, whole)]
        assert same[0] == same[1]


@pytest.mark.parametrize("kind", KINDS)
def test_lists_of_a_training_text_with_a_long_line(made, tmp_path, kind):
    for side in ("de", "en"):
        text = (made / f"train.{side}").read_text(encoding="utf-8").splitlines()
        text[7] = long_line(made, 1001)
        (tmp_path / f"train.{side}").write_text("\n".join([*text, ""]), encoding="utf-8")
    config = TrainConfig(settings=SystemSettings(model=KINDS[kind].settings(), n_folds=2), lm=EstimateConfig(order=2))
    system = train(tmp_path / "train.de", tmp_path / "train.en", tmp_path / kind, config=config)
    pool = FoldDecoder(system).kbest(np.arange(6, 9), system.weights, 5)
    (shard,) = pool.shards
    sizes = np.diff(shard.sentences)[np.argsort(shard.sentence_ids)]
    assert sizes[1] == 1 < min(sizes[[0, 2]])
    (c,) = np.flatnonzero(shard.sentence_ids[shard.sentence_of_each()] == 7)
    assert pool.text(shard, c) == ""


def test_what_is_said_of_lines_that_were_cut():
    text = TokenLines()
    long = LongLines(text, 2)
    lines = ["a b", "a b c", ""]
    assert (list(long.counted(lines)), long.numbers) == (lines, [2])
    assert long.warning() == (
        "warning: line 2 has a sentence of more than 2 words; it was cut into parts that were translated one by one. "
        "For better translations put one sentence on a line"
    )
    few, many = LongLines(text, 2), LongLines(text, 2)
    assert list(few.counted(lines[:1])) == lines[:1]
    assert few.warning() is None
    assert len(list(many.counted(["a b c"] * 9))) == 9
    assert "lines 1, 2, 3, 4, 5 and 4 more have a sentence of more than 2 words; they were cut" in many.warning()
    marked = '<t translation="x y z">a b</t>'
    assert list(LongLines(text, 2).refused([marked], "f")) == [marked]
    with pytest.raises(InputError, match="f, line 2: has a sentence of 3 words; at most 2 are searched at once"):
        list(long.refused(lines, "f"))
    with pytest.raises(InputError, match="f, line 2: has a sentence of 3 words"):
        check_lengths(lines, 2, "f")


def test_sentences_of_a_raw_line_count_one_by_one():
    class Halves(TokenLines):
        is_raw = True

        def sentences(self, line):
            return line.split("|")

    long = LongLines(Halves(), 2)
    assert list(long.counted(["a b|c d", "a|b c d"]))
    assert long.numbers == [2]
    assert list(long.refused(["a b|c d"], "f", whole=False)) == ["a b|c d"]
