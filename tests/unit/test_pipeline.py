"""Raw text to tokens and back: tokens, spans, case, segmentation, what text looks like, unknown words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dragoman.corpus.tokens import (
    RawLines,
    TextSettings,
    TextSide,
    TextTokenizer,
    WordSplitter,
    decide_raw,
    detokenize,
    guess_language,
    learn_side,
    look_at,
    parse_languages,
    read_text_models,
    write_text_models,
)
from dragoman.corpus.tokens.casing import CaseModel, learn_case
from dragoman.corpus.tokens.scripts import language_of_file
from dragoman.corpus.tokens.segments import Segmenter, learn_segments
from dragoman.corpus.tokens.spans import is_span, number_of
from dragoman.errors import InputError


def words(text):
    return text.split()


EXAMPLES = {
    'He said: "Don\'t go (now)," and left.': 'He said ￭: "￭ Don ￭\'t go (￭ now ￭) ￭, ￭" and left ￭.',
    "“Why?” asked Mr. Smith of the U.S. Army...": "“￭ Why ￭? ￭” asked Mr. Smith of the U.S. Army ￭...",
    "(%d of %d) Press %1$s, 50% off $5,000": "(￭ %d of %d ￭) Press %1$s ￭, 50 ￭% off $￭ 5,000",
    "/etc/fstab or http://www.example.com/?b=1.": "/etc/fstab or http://www.example.com/?b=1 ￭.",
    'A <i class="a b">very</i> <br/>': 'A <i␠class="a␠b">￭ very ￭</i> <br/>',
    "%dx%d and/or me@x.org; {name} ${HOME} $1": "%d￭ x ￭%d and ￭/￭ or me@x.org ￭; {name} ${HOME} $1",
    "3,14 or 20:30 (5km)": "3,14 or 20:30 (￭ 5km ￭)",
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_tokens_say_what_stood_beside_what(text):
    tokens = TextTokenizer("en").tokenize(text)
    assert tokens == EXAMPLES[text]
    assert detokenize(tokens.split(" ")) == text


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("fr", "l'homme d’aujourd'hui", "l'￭ homme d’￭ aujourd'￭ hui"),
        ("de", "z. B. Dr. Müller hat's.", "z. B. Dr. Müller hat's ￭."),
        (None, "ma'ana Dr.", "ma'ana Dr ￭."),
        ("hi", "यह हिन्दी है।", "यह हिन्दी है ￭।"),
        ("ko", "안녕하세요, 세계.", "안녕하세요 ￭, 세계 ￭."),
    ],
)
def test_languages_differ(language, text, tokens):
    assert TextTokenizer(language).tokenize(text) == tokens
    assert detokenize(tokens.split(" ")) == text


def test_letters_without_spaces_have_no_glue():
    tokenizer = TextTokenizer("zh", Segmenter({"软件包": 9, "列表": 9, "此": 9, "件": 1}))
    tokens = tokenizer.tokenize("此软件包用Firefox，列表 软件包。")
    assert tokens == "此 软件包 用 Firefox ， 列表 ▁ 软件包 。"
    assert detokenize(tokens.split(" ")) == "此软件包用Firefox，列表 软件包。"
    copied = ["likes", "鼷", "鼠", "and", "ABC", "软件", "，", "3", "。"]
    assert detokenize(copied, spaced=True) == "likes 鼷鼠 and ABC 软件， 3。"
    signs = ["see", "《", "red", "梦", "》", "now", "：", "ok"]
    assert detokenize(signs, spaced=True) == "see 《red 梦》 now： ok"
    assert detokenize(copied) == "likes鼷鼠and ABC软件，3。"
    apart = TextTokenizer("zh", keeps_spaces=False, parts_spans=True)
    assert apart.tokenize("第%s页。%d，<b>好</b>") == "第 %s 页 。 %d ， ￭<b>￭ 好 ￭</b>"
    assert TextTokenizer("zh").tokenize("第%s页。%d") == "第 ￭%s 页 。￭ %d"
    source = TextTokenizer("zh", keeps_spaces=False)
    assert source.tokenize("列表 软件") == "列 表 软 件"


def test_words_of_a_script_without_spaces_are_learned():
    names = ["软件", "列表", "文档", "安装", "用户", "目录", "网络", "服务"]
    runs = ["".join(names[(i + k * k) % 8] for k in range(2 + i % 5)) for i in range(400)]
    segmenter = learn_segments(runs)
    for run in ("文档安装用户", "服务列表", "网络目录软件"):
        assert segmenter(run) == [run[i : i + 2] for i in range(0, len(run), 2)]
    assert segmenter("龙文档") == ["龙", "文档"]
    assert "".join(segmenter("龍龍文")) == "龍龍文"


@pytest.mark.parametrize(
    "text",
    words(
        "%s %(name)s %5.2f %% %1 {} {0} ${x} $HOME \\n &amp; &#39; @VERSION@ ~/.profile ../a/b C:\\x --help <b> </b> "
        "a@b.org %1$s %-5d https://x.org/a?b=c&d=1 %d%% C:\\\\a\\\\b <me@x.org> https://x.org/a_(b) https://x.org/a(b "
        "strtok() std::sort() a.b->c() cp(1) XtOpen(3x)"
    ),
)
def test_spans(text):
    assert is_span(text)
    assert TextTokenizer("en").tokenize(f"use {text}, then") == f"use {text} ￭, then"


@pytest.mark.parametrize("span", words("http://a.b/c me@x.org ../a/b /etc/fstab $name $1 %s --help <b> cp(1)"))
def test_spans_end_where_letters_of_another_script_begin(span):
    assert TextTokenizer("zh", parts_spans=True).tokenize(f"见{span}的").replace("￭", "").split(" ") == [
        "见",
        span,
        "的",
    ]


def test_spans_in_brackets():
    assert TextTokenizer("en").tokenize("(--all) (https://x.org/a(b).) a--bc") == (
        "(￭ --all ￭) (￭ https://x.org/a(b) ￭. ￭) a ￭--￭ bc"
    )


@pytest.mark.parametrize(
    "text", ["word", "50%", "and/or", "$", "a.b", "<", "{", "12", "Datei(en)", "5()", "f(9)", "()", "f(1)x"]
)
def test_no_spans(text):
    assert not is_span(text)


def test_numbers_are_the_same_however_they_are_grouped():
    assert number_of("1.234,50") == number_of("1,234.50") == "123450"
    assert number_of("5") is number_of("x12") is number_of("twelve") is None


def test_case_is_learned_where_no_sentence_begins():
    lines = ["The king saw the Lord ￭.", "And the Lord said ￭: “￭ The king ￭.”", "In LOUD words ￭, the DVD"]
    case = learn_case(lines)
    assert case.forms["the"] == "the"
    assert case.forms["lord"] == "Lord"
    assert "in" not in case.forms
    assert case.lower_beginnings(words("The Lord ￭. The king ￭. DVD")) == words("the Lord ￭. the king ￭. DVD")
    assert case.lower_beginnings(words("In : The")) == words("In : The")
    assert case.lower_beginnings(words("In ￭: The"), clauses=True) == words("In ￭: the")
    assert case.lower_beginnings(words("THE KING AND THE LORD"))[:2] == ["the", "king"]


def test_capitals_come_back_where_the_source_has_them():
    case = CaseModel(["the", "Lord"])
    raised = case.raise_beginnings(words("the king ￭. the Lord ￭? ￭” he said"), ["Der"])
    assert raised == words("The king ￭. The Lord ￭? ￭” he said")
    assert case.raise_beginnings(words("the king ￭. the Lord"), ["der"])[0] == "the"
    assert case.raise_beginnings(["/etc/x", "works"], ["Der"]) == ["/etc/x", "works"]
    assert case.raise_beginnings(words("all is well %s"), words("ALLES IST GUT %s")) == words("ALL IS WELL %s")
    assert case.recase(words("the lord of gnome"), words("Der HERR von GNOME")) == words("the Lord of GNOME")


def test_names_keep_their_small_beginning():
    assert CaseModel([]).raise_beginnings(words("iPhone und ￭. ein %s ￭. eBay"), ["Das"]) == words(
        "iPhone und ￭. Ein %s ￭. eBay"
    )


def test_a_text_without_capitals_gets_none():
    source = TextSide(language="ja")
    for lines, expected in (
        (["he lived a hard life.", "yes. he did."], "they left."),
        (["He lived a hard life.", "Yes. He did."], "They left."),
    ):
        target = learn_side(lambda lines=lines: lines * 9, "en", target=True, case=True)
        again = TextSide.from_json(target.to_json())
        assert again == target
        raw = RawLines(source, again, TextSettings(raw=True))
        assert raw.restore("they left ￭.", "彼らは去った。") == expected


def test_sides_are_stored(tmp_path):
    lines = ["Das Haus, das war.", "Das Haus, das ist.", "Ja, das Haus"]
    side = learn_side(lambda: lines, "de", target=False, case=True)
    other = TextSide(language=None, segments={"你": 3, "你好": 2})
    write_text_models(tmp_path / "text.json", side, other)
    assert read_text_models(tmp_path / "text.json") == (side, other)
    assert "Haus" in side.case
    assert "das" in side.case
    (tmp_path / "bad.json").write_text('{"source": {}, "target": 1}')
    with pytest.raises(InputError, match=r"no text pipeline.*damaged"):
        read_text_models(tmp_path / "bad.json")


def test_sentences_of_a_line():
    side = TextSide(language="de", case=("der", "das"))
    lines = RawLines(side, TextSide(language="en", case=("the",)), TextSettings(raw=True))
    assert lines.sentences("Der Hund. Das ist z. B. gut. „Das?“ Ja") == [
        "der Hund ￭.",
        "das ist z. B. gut ￭.",
        "„￭ das ￭? ￭“",
        "Ja",
    ]
    pairs = RawLines(replace(side, line_sentences=2), TextSide(language="en"), TextSettings(raw=True))
    assert pairs.sentences("Der Hund. Das ist gut. Das war es.") == ["der Hund ￭. das ist gut ￭.", "das war es ￭."]
    learned = learn_side(lambda: ["Ja. Nein.", "Ja. Nein. Gut.", "Ja. Doch."] * 9, "de", target=False, case=False)
    assert learned.line_sentences == 3
    assert lines.sentences("kein Ende. und weiter") == ["kein Ende ￭. und weiter"]
    assert lines.sentences("") == [""]
    assert lines.restore("the dog ￭. the end", "Der Hund. Das Ende") == "The dog. The end"


def test_lowercased_text_gets_its_case_back():
    side = TextSide(language="de")
    lines = RawLines(side, TextSide(language="en", case=("the", "Peter")), TextSettings(raw=True, lowercase=True))
    assert lines.prepare("Das GNOME-Projekt, Peter.") == "das gnome-projekt ￭, peter ￭."
    assert lines.restore("the gnome-projekt ￭, peter", "Das GNOME-Projekt, Peter") == "The GNOME-Projekt, Peter"


@pytest.mark.parametrize(
    ("lines", "raw"),
    [
        (["Das ist gut, oder?", "Ja."], True),
        (["das ist gut , oder ?", "ja ."], False),
        (["我们都喜欢这个软件 。", "我们的软件包含文档 ， 用户 。"], True),
        (["我们 都 喜欢 这个 软件 。"], False),
        (["das ist gut ￭, oder ￭?"], False),
        (["ohne zeichen"], None),
        (["此软件包包含文档。"], True),
        (["此 软件包 包含 文档 。"], False),
    ],
)
def test_what_text_looks_like(lines, raw):
    assert look_at(lines).raw is raw


def test_both_sides_decide():
    assert decide_raw([["Gut, ja."], ["so what"]], ("source", "target"))[0] is True
    assert decide_raw([["gut"], ["so"]], ("source", "target")) == (False, "no punctuation tells")
    with pytest.raises(InputError, match=r"one side looks raw.*`raw=True` or `raw=False`"):
        decide_raw([["Gut, ja."], ["so , what ."]], ("source", "target"))


@pytest.mark.parametrize(
    ("lines", "name", "code"),
    [
        (["guten Tag"], "train.de", "de"),
        (["guten Tag"], "train.deu.xz", "de"),
        (["guten Tag"], "tag.txt", None),
        (["私は学生です"], "x.txt", "ja"),
        (["我是学生"], "x.en", "zh"),
        (["привет"], "train.uk", "uk"),
        (["привет"], "train.src", "ru"),
    ],
)
def test_languages_are_guessed(lines, name, code):
    assert guess_language(lines, [name]) == code


def test_file_names_and_pairs():
    assert language_of_file("test.en.0") == "en"
    assert language_of_file("en") is None
    assert parse_languages("de-en") == ("de", "en")
    for bad in ("de", "de-", "german-en", "d3-en"):
        with pytest.raises(InputError, match="two codes such as de-en"):
            parse_languages(bad)


def test_unknown_words_are_split_into_known_ones():
    counts = {"anwendungen": 5, "anwendung": 9, "gebiete": 4, "haus": 20, "Tür": 7, "der": 99, "ung": 1, "e": 50}
    splitter = WordSplitter(counts)
    assert splitter.split("Anwendungsgebiete") == "anwendung gebiete"
    assert splitter.split("haustür") == "haus Tür"
    assert splitter.split("osgi-anwendungen") == "osgi anwendungen"
    assert splitter.split("Haus") == "haus"  # known in another case
    assert splitter.split("x-Qt-anwendungen-haustür-qt5‑y") == "x-Qt anwendungen haus Tür qt5‑y"
    for word in ("der", "xyzzy", "müller-lüdenscheidt", "http://haus-der.de/", "123"):
        assert splitter.split(word) == word


def test_other_spellings_of_known_words():
    known = ["d'￭", "￭-￭", "...", '"￭', "￭»", "’￭", "e-mail", "10", "linux", "-"]
    splitter = WordSplitter(dict.fromkeys(known, 3))
    for word, stands in {
        "d’￭": "d'￭",
        "D’￭": "d'￭",
        "￭–￭": "￭-￭",
        "–": "-",
        "…": "...",
        "„￭": '"￭',
        "￭“": "￭»",
        "«": '"￭',
        "»": "￭»",
        "‚￭": "’￭",
        "E‑Mail": "e-mail",
        "１０": "10",
        "￭Ｌｉｎｕｘ": "￭Linux",
        "ｌｉｎｕｘ": "linux",
        "￭２４￭": "￭24￭",
        "(￭": "(￭",
        "日本": "日本",
        "ﬁ￭": "fi￭",
        "½": "½",
        "http://„x": "http://„x",
    }.items():
        assert splitter.split(word) == stands


def test_other_forms_of_known_words():
    stems = [f"{a}{b}" for a in ("kalt", "gross", "stark", "blau") for b in ("ab", "el", "im", "or", "us", "yt")]
    counts = {f"{stem}{ending}": 5 for stem in stems for ending in ("en", "es")} | {"rundumen": 3, "kim": 9, "axes": 2}
    splitter = WordSplitter(counts)
    assert splitter.split("rundumes") == "rundumen"
    assert splitter.split("Rundumes-Kim") == "rundumen kim"
    assert splitter.split("axen") == "axen"  # too short a stem
    assert splitter.split("rundumheit") == "rundumheit"  # an ending that nobody has seen
    back = WordSplitter({word[::-1]: count for word, count in counts.items()})
    assert back.split("semudnur") == "nemudnur"


def test_a_long_run_of_odd_characters_takes_no_time_to_speak_of():
    """Tokenising is linear in the length of a chunk."""
    for text in ("a+" * 20_000, "+-" * 20_000, "a." * 20_000):
        assert is_span(text) is False
        assert len(TextTokenizer("en").tokenize(text)) > 0
