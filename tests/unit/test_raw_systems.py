"""Systems of raw text: raw everywhere, by what the system remembers."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import islice

import pytest
from tests.kit.small_raw import write_raw_splits
from tests.kit.small_text import write_lines

from dragoman.corpus.tokens import MosesLines
from dragoman.corpus.tokens.forced import lost_spans, read_glossary
from dragoman.corpus.tokens.tags import put_tags, take_tags
from dragoman.errors import InputError
from dragoman.lm import EstimateConfig
from dragoman.system import (
    HieroSettings,
    System,
    SystemSettings,
    TextSettings,
    TrainConfig,
    TranslationJob,
    export_system,
    import_system,
    other_kind,
    train,
    unknown_source,
    unknown_target,
)
from dragoman.system.stages import Silent
from dragoman.tuning import LoopSettings, TuneConfig, tune_system
from dragoman.work.engine import LocalEngine

PLACEHOLDERS = (
    "%s",
    "{name}",
    "$1",
    "http://www.example.org/?a=b",
    "me@example.org",
    "/etc/fstab",
    "<b>",
    "</b>",
    "1,234",
)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    write_raw_splits(folder, 400, 20, 20, seed=1)
    return folder


@pytest.fixture(scope="module", params=["phrase", "hiero"])
def system(request, text, tmp_path_factory):
    settings = SystemSettings() if request.param == "phrase" else SystemSettings(model=HieroSettings(max_span=10))
    out = tmp_path_factory.mktemp("systems") / request.param
    config = TrainConfig(settings=settings, lm=EstimateConfig(order=3))
    return train(text / "train.de", text / "train.en", out, config=config)


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_text_is_raw_by_its_look_and_remembered(system):
    assert system.settings.text == TextSettings(source_language="de", target_language="en", raw=True)
    assert System.load(system.folder).settings == system.settings
    assert "￭." in system.grammar.source_vocab
    assert system.file("text").name == "text.json"


def test_raw_in_raw_out(system, text):
    found = list(system.translate([*lines(text / "test.de"), ""]))
    assert len(found) == 21
    assert found[-1] == ""
    assert all(line[0].isupper() and line[-1] in ".?!" and line[-2] != " " for line in found[:-1])
    assert not any("￭" in line for line in found)
    tokens = system.lines().prepare(lines(text / "test.de")[0])
    (again,) = system.translate([tokens], tokenized=True)
    assert system.lines().restore(again, lines(text / "test.de")[0]) == found[0]


def test_several_sentences_on_a_line(system, text):
    first, second = lines(text / "test.de")[:2]
    apart = list(system.translate([first, second]))
    assert list(system.translate([f"{first} {second}"])) == [" ".join(apart)]


def test_workers_translate_alike(system, text):
    source = lines(text / "test.de")
    job = TranslationJob(view=system, weights=system.weights, terms={"Lehrer": "master"})
    (found,) = LocalEngine().map(pickle.loads(pickle.dumps(job)), [source])
    (here,) = LocalEngine().map(job, [source])
    assert found == here


def test_tuning_takes_raw_files(system, text, tmp_path):
    config = TuneConfig(loop=LoopSettings(max_rounds=1))
    tuned = tune_system(system, text / "dev.de", [text / "dev.en"], tmp_path / "t", config=config)
    rounds = tuned.manifest.about["tuning"]["rounds"]
    assert rounds[0]["score"] > 0.1
    prepared = system.lines()
    write_lines(tmp_path / "dev.de", map(prepared.prepare, lines(text / "dev.de")))
    write_lines(tmp_path / "dev.en", map(prepared.prepare_target, lines(text / "dev.en")))
    files = tmp_path / "dev.de", [tmp_path / "dev.en"]
    same = tune_system(system, *files, tmp_path / "u", config=config, raw=False)
    assert same.manifest.about["tuning"]["rounds"][0]["score"] == rounds[0]["score"]
    assert list(tuned.translate(lines(text / "test.de")))


@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
def test_placeholders_are_in_the_output_exactly_once(system, text, placeholder):
    source = [line.replace(" ", f" {placeholder} ", 1) for line in lines(text / "test.de")]
    for line in system.translate(source):
        assert line.count(placeholder) == 1


def test_a_placeholder_that_the_tables_lose_survives(text, tmp_path):
    # In this training text %s has no translation, and "wort" brings one that nobody asked for.
    source = [*["das %s haus.", "ein wort hier.", "das haus.", "Ja, gut."] * 10]
    target = [*["the house.", "a %s word here.", "the house.", "Yes, good."] * 10]
    write_lines(tmp_path / "s.de", source)
    write_lines(tmp_path / "t.en", target)
    system = train(tmp_path / "s.de", tmp_path / "t.en", tmp_path / "s", config=TrainConfig(lm=EstimateConfig(order=2)))
    found = list(system.translate(["das %s haus.", "%s ein wort hier.", "{x} %s %s das haus."]))
    for line, wanted in zip(found, (1, 1, 2), strict=True):
        assert line.count("%s") == wanted
    assert found[2].count("{x}") == 1


def test_lost_spans():
    assert lost_spans("%s ￭: 1.000 x", "%s ￭, 1,000 x") == Counter()
    assert lost_spans("%s %s x 12", "%s x 13") == Counter({"%s": 2, "12": 1})
    assert not lost_spans("x y", "%s")


def test_glossary_and_marks_force_translations(system, text, tmp_path):
    write_lines(tmp_path / "terms.tsv", ["# terms", "", "Qwertz Uiop\tthe Keyboard", "Hund\tDOG 2.0"])
    terms = read_glossary(tmp_path / "terms.tsv")
    job = TranslationJob(view=system, weights=system.weights, terms=terms).open(1)
    plain, named, marked = job(
        [
            "Der Lehrer sieht den Mann.",
            "Der Lehrer sieht den qwertz uiop und den Hund.",
            'Der Lehrer sieht (<t translation="a &quot;gate&quot;">Tor</t>).',
        ]
    )
    assert "Keyboard" not in plain
    assert named.count("the Keyboard") == named.count("DOG 2.0") == 1
    assert marked.count('a "gate"') == 1
    assert '(a "gate")' in marked.replace("( ", "(").replace(" )", ")")


def test_forced_translations_keep_their_case_in_lowercase_systems(text, tmp_path):
    settings = SystemSettings(text=TextSettings(lowercase=True))
    config = TrainConfig(settings=settings, lm=EstimateConfig(order=3))
    system = train(text / "train.de", text / "train.en", tmp_path / "system", config=config)
    job = TranslationJob(view=system, weights=system.weights, terms={"Hund": "GNOME Dog"}).open(1)
    named, marked = job(["Der Lehrer sieht den HUND.", 'Der Lehrer sieht <t translation="eBook">Tor</t>.'])
    assert named.count("GNOME Dog") == 1
    assert marked.count("eBook") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [("a b", "line 1: expected a term"), ("a\tb\tc", "a tab"), ("a\tb\na\tc", "two translations"), ("# x", "no terms")],
)
def test_bad_glossaries(tmp_path, content, message):
    write_lines(tmp_path / "g.tsv", content.split("\n"))
    with pytest.raises(InputError, match=message):
        read_glossary(tmp_path / "g.tsv")


def test_unknown_words_are_counted_and_explained(system, text):
    source, target = lines(text / "test.de"), lines(text / "test.en")
    known = unknown_source(system, source, system.lines())
    assert known.n_words > 50
    assert known.share < 0.2
    assert known.causes == ()
    swapped = unknown_source(system, target, system.lines())
    assert swapped.many
    assert "swapped" in swapped.warning("dev.de")
    assert "swapped" in unknown_target(system, source, system.lines()).warning("dev.en")
    untokenised = unknown_source(system, source, system.lines(raw=False))
    assert "not tokenised" in " ".join(untokenised.causes)
    strange = unknown_source(system, ["Zzz qqq, xxx yyy."], system.lines())
    assert "another language" in strange.warning("x")


def test_languages_can_come_later(text, tmp_path):
    for side in ("de", "en"):
        write_lines(tmp_path / f"train-{side}", lines(text / f"train.{side}"))
    out = tmp_path / "s"
    system = train(tmp_path / "train-de", tmp_path / "train-en", out, config=TrainConfig(lm=EstimateConfig(order=2)))
    assert system.settings.text.source_language is None
    assert list(system.translate(lines(text / "test.de")[:2]))
    assert system.lines(languages="de-en").prepare("ein Haus, z. B. hier") != system.lines().prepare(
        "ein Haus, z. B. hier"
    )


def test_what_was_said_counts(text, tmp_path):
    config = TrainConfig(raw=False, lm=EstimateConfig(order=2))
    system = train(text / "train.de", text / "train.en", tmp_path / "s", config=config)
    assert not system.settings.text.raw
    write_lines(tmp_path / "a", ["0-0"] * 400)
    with pytest.raises(InputError, match="alignment belongs to tokens"):
        train(
            text / "train.de",
            text / "train.en",
            tmp_path / "t",
            alignment=tmp_path / "a",
            config=TrainConfig(raw=True),
        )


def test_chinese_without_spaces(tmp_path):
    pairs = {
        "我喜欢软件。": "I like software.",
        "软件很好。": "Software is good.",
        "文档很好。": "Documents are good.",
        "我有文档。": "I have documents.",
        "用户喜欢文档，软件。": "Users like documents, software.",
    }
    write_lines(tmp_path / "train.zh", list(pairs) * 12)
    write_lines(tmp_path / "train.en", list(pairs.values()) * 12)
    system = train(tmp_path / "train.zh", tmp_path / "train.en", tmp_path / "s")
    assert system.settings.text.source_language == "zh"
    assert len(system.lines().prepare("我喜欢文档。").split()) >= 4
    found = list(system.translate(["我喜欢文档。", "软件很好。文档很好。"]))
    assert found[0] == "I like documents."
    assert found[1] == "Software is good. Documents are good."
    back = train(tmp_path / "train.en", tmp_path / "train.zh", tmp_path / "b")
    assert list(back.translate(["I like documents."])) == ["我喜欢文档。"]


def test_explanations_say_what_is_unknown_and_where_the_sentence_ends(system):
    shown = system.explain(system.lines().prepare("Der Lehrer sieht Xyzzy.")).lines()
    (copied,) = (line for line in shown if "unknown, copied" in line and "Xyzzy" in line)
    assert copied.split()[1:6] == ["Xyzzy", "->", "Xyzzy", "unknown,", "copied"]
    ends = [line for line in shown if "(end of the sentence)" in line]
    assert len(ends) == (system.settings.kind == "phrase")


def test_tokenised_chinese_takes_raw_text(tmp_path):
    """Raw letters are cut into the words that the tokens have; clauses that nobody cut are told of."""
    pairs = {
        "我 喜欢 软件 。": "i like software .",
        "软件 很 好 ， 我 有 文档 。": "software is good , i have documents .",
    }
    write_lines(tmp_path / "train.zh", list(pairs) * 12)
    write_lines(tmp_path / "train.en", list(pairs.values()) * 12)
    said = Heard()
    system = train(tmp_path / "train.zh", tmp_path / "train.en", tmp_path / "s", monitor=said)
    assert not system.settings.text.raw
    assert not said.warnings()
    text = system.lines(raw=True, languages="zh-en")
    assert text.prepare("我喜欢软件，软件很好%s。") == "我 喜欢 软件 ， 软件 很 好 % s 。"
    job = TranslationJob(view=system, weights=system.weights, raw=True, languages="zh-en").open(1)
    assert job(["我喜欢软件。", "软件%s很好。"]) == ["i like software.", "software %s is good."]
    write_lines(tmp_path / "uncut.zh", ["我喜欢软件和文档和例子。"] * 24)
    train(tmp_path / "uncut.zh", tmp_path / "train.en", tmp_path / "u", config=TrainConfig(raw=False), monitor=said)
    (warning,) = said.warnings()
    assert "uncut.zh is not cut into words" in warning


class Heard(Silent):
    """Keeps what it is told."""

    def __init__(self):
        self.said = []

    def say(self, text):
        self.said.append(text)

    def warnings(self):
        return [text for text in self.said if text.startswith("warning")]


def test_tags_go_where_their_words_go():
    words, tags = take_tags(["<p>￭", "Das", "<b>￭", "rote", "￭</b>", "Haus", "<br/>", "￭</p>", "￭.", "</i>"])
    assert words == ["Das", "rote", "Haus", "￭."]
    assert [(tag.begin, tag.end) for tag in tags] == [(0, 3), (1, 2), (1, 2), (3, 4), (0, 3), (4, 4)]
    # the house red .
    links = [(0, 0), (2, 1), (1, 2), (3, 3)]
    put = put_tags(["the", "house", "red", "￭."], links, tags)
    assert put == ["<p>￭", "the", "house", "<b>￭", "red", "￭</b>", "￭</p>", "<br/>", "￭.", "</i>"]
    assert put_tags([], [], tags) == [tag.token for tag in tags]
    assert take_tags(["a", "<", "b"]) == (["a", "<", "b"], [])
    # A pair around nothing, or around what has no link, stays together.
    for line in (["a", "<b>", "</b>", "c"], ["a", "<b>", "x", "</b>", "c"]):
        words, tags = take_tags(line)
        put = put_tags(["A", "C"], [(0, 0), (len(words) - 1, 1)], tags)
        assert put == ["A", "<b>", "</b>", "C"]


def test_tags_of_a_line_keep_their_place(system, text):
    (plain,) = system.translate(["Der Lehrer sieht den Mann."])
    (marked,) = system.translate(['<p>Der <i class="a b">Lehrer</i> sieht den Mann.</p>'])
    assert marked.startswith("<p>")
    assert marked.endswith("</p>")
    opened, closed = marked.index('<i class="a b">'), marked.index("</i>")
    assert opened < closed
    without = marked.replace("<p>", "").replace("</p>", "").replace('<i class="a b">', "").replace("</i>", "")
    assert without == plain


def test_export_and_import_keep_the_text_pipeline(system, text, tmp_path):
    written = export_system(system, tmp_path / "tables")
    assert written["text"] == tmp_path / "tables" / "text.json"
    settings = SystemSettings(model=system.settings.model)
    back = import_system(tmp_path / "tables", tmp_path / "back", settings=settings)
    assert back.settings.text == system.settings.text
    source = [*lines(text / "test.de"), "Lehrerhund-Buch, %s."]
    assert [back.lines().prepare(line) for line in source] == [system.lines().prepare(line) for line in source]
    found, wanted = list(back.translate(source)), list(system.translate(source))
    assert sum(a == b for a, b in zip(found, wanted, strict=True)) >= 19  # scores as text are rounded
    assert all("￭" not in line for line in found)
    tokens = import_system(tmp_path / "tables", tmp_path / "tokens", settings=settings, raw=False)
    assert tokens.settings.text == TextSettings()
    (tmp_path / "tables" / "text.json").write_text('{"format": "dragoman-text", "version": 1, "settings": {"raw": 1}}')
    with pytest.raises(InputError, match=r"text\.json"):
        import_system(tmp_path / "tables", tmp_path / "bad", settings=settings)
    (tmp_path / "tables" / "text.json").unlink()
    with pytest.raises(InputError, match="nothing tells how raw text"):
        import_system(tmp_path / "tables", tmp_path / "bad", settings=settings, raw=True)


def test_text_of_another_kind_is_told(system, text):
    raw = lines(text / "test.de")
    prepared = system.lines()
    tokens = [MosesLines(TextSettings(source_language="de", target_language="en")).prepare(line) for line in raw]
    assert other_kind(raw, prepared) is None
    assert "corpus detokenize" in other_kind(tokens, prepared)
    assert "`tokenized=True`" in other_kind([prepared.prepare(line) for line in raw], prepared)
    own = system.lines(raw=False)
    assert "`tokenized=False`" in other_kind(raw, own)
    assert other_kind(tokens, own) is None
    assert other_kind([prepared.prepare(line) for line in raw], own) is None
    assert other_kind(["Ja . Nein ."], prepared) is None  # too little


@pytest.mark.parametrize("by_engine", [False, True])
def test_documents_stream(system, text, by_engine):
    """Translations come while the document is read, so that memory does not grow with its length."""
    source, taken = lines(text / "test.de"), 0

    def document():
        nonlocal taken
        for number in range(10_000):
            taken += 1
            yield source[number % len(source)]

    def batches():
        document_lines = document()
        while batch := list(islice(document_lines, 64)):
            yield batch

    if by_engine:
        job = TranslationJob(view=system, weights=system.weights)
        found = (line for part in LocalEngine().map(job, batches()) for line in part)
    else:
        found = system.translate(document())
    first = next(found)
    assert first == next(iter(system.translate(source[:1])))
    assert taken <= 1024
