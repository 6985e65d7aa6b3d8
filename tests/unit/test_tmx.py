"""Translation memories."""

from __future__ import annotations

import gzip

import pytest

from dragoman.corpus import PairFiles, read_tmx
from dragoman.errors import InputError

HEAD = '<?xml version="1.0" encoding="{}"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4"><header/><body>\n'


def memory(*units, encoding="UTF-8"):
    return (HEAD.format(encoding) + "".join(units) + "</body></tmx>\n").encode(encoding)


def unit(**segments):
    variants = [f'<tuv xml:lang="{name.replace("_", "-")}"><seg>{text}</seg></tuv>' for name, text in segments.items()]
    return f"<tu>{''.join(variants)}</tu>\n"


def pairs(path, content, *languages):
    path.write_bytes(content)
    return list(read_tmx(path, *(languages or ("de", "en"))))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.tmx"


def test_units_of_both_languages(path):
    content = memory(
        unit(de="ein Haus", en="a house", fr="une maison"),
        unit(en="only English"),
        unit(en="the &lt;b&gt; &amp; &#228;", de="zwei\n  Zeilen\t"),
        unit(en="", de="leer"),
    )
    expected = [("ein Haus", "a house"), ("zwei Zeilen", "the <b> & ä"), ("leer", "")]
    assert pairs(path, content) == expected
    assert pairs(path, content, "en", "fr") == [("a house", "une maison")]
    assert pairs(path, gzip.compress(content)) == expected
    assert list(PairFiles(tmx=path, languages="de, en")) == expected


def test_encodings(path):
    for encoding in ("UTF-16", "ISO-8859-1", "windows-1252", "gb18030"):
        assert pairs(path, memory(unit(de="schön", en="fine"), encoding=encoding)) == [("schön", "fine")]
    for encoding in ("shift_jis", "EUC-JP"):
        assert pairs(path, memory(unit(ja="日本", en="Japan"), encoding=encoding), "ja", "en") == [("日本", "Japan")]


def test_formatting_is_no_text(path):
    segment = 'press <bpt i="1">{\\b <sub>x</sub></bpt>the <hi>red</hi><ept i="1">}</ept> button<ph/> now<ut>u</ut>'
    assert pairs(path, memory(unit(de="drück", en=segment))) == [("drück", "press the red button now")]


def test_languages_of_regions(path):
    content = memory(unit(de_AT="Jänner", de="Januar", EN_GB="January"), unit(de_CH="Velo", en="bicycle", den="x"))
    assert pairs(path, content) == [("Januar", "January"), ("Velo", "bicycle")]
    assert pairs(path, content, "de-AT", "en") == [("Jänner", "January")]
    old = memory('<tu><tuv lang="DE_de"><seg>alt</seg></tuv><tuv lang="en"><seg>old</seg></tuv></tu>')
    assert pairs(path, old) == [("alt", "old")]


def test_a_file_in_many_pieces(path):
    n = 30_000  # more than one block
    found = pairs(path, memory(*(unit(de=f"d{i} " + "w " * 20, en=f"e{i}") for i in range(n))))
    assert [(f.split()[0], e) for f, e in found] == [(f"d{i}", f"e{i}") for i in range(n)]


BAD = {
    "no XML": (b"de\ten\n", "line 1: is not well-formed XML: syntax error"),
    "cut off": (memory(unit(de="a", en="b"))[:-20], "line [45]: is not well-formed XML: "),
    "empty": (b"", "is not well-formed XML: no element found"),
    "another format": (b"<html><body/></html>", "line 1: expected a TMX file, whose first element is tmx; found html"),
    "other languages": (memory(unit(fr="a", it="b")), "no unit has both de and en; languages in the file: fr, it"),
    "an encoding": (b'<?xml version="1.0" encoding="foo"?><tmx/>', "cannot be read as foo: unknown encoding"),
    "no encoding of text": (b'<?xml version="1.0" encoding="rot13"?><tmx/>', "cannot be read as rot13: .* not a text"),
    "what is not of the encoding": (
        b'<?xml version="1.0" encoding="shift_jis"?><tmx>\x80\xff</tmx>',
        "cannot be read as shift_jis: ",
    ),
    "an entity of nobody": (memory(unit(de="a &foo; b", en="c")), "line 4: the entity &foo; is not defined"),
    "no units": (memory(), "languages in the file: none"),
    "entities": (
        b'<!DOCTYPE tmx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><tmx><body>&b;</body></tmx>',
        "line 1: declares the entity a",
    ),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_bad_files(path, content, message):
    with pytest.raises(InputError, match=message) as caught:
        pairs(path, content)
    assert str(caught.value).startswith(str(path))


def test_a_segment_without_end(path, monkeypatch):
    monkeypatch.setattr("dragoman.corpus.tmx.MAX_LINE_BYTES", 1 << 20)
    with pytest.raises(InputError, match="line 4: a segment of more than 1 MiB"):
        pairs(path, memory(unit(de="x" * (3 << 20), en="b")))


@pytest.mark.parametrize(
    "names",
    [
        {"tmx": "a"},
        {"tmx": "a", "languages": "de"},
        {"tmx": "a", "languages": ""},
        {"tmx": "a", "languages": "a,b,c"},
        {"tsv": "a", "languages": "d,e"},
        {"tmx": "a", "tsv": "b"},
        {"tmx": "a", "languages": "d,e", "source": "f", "target": "g"},
    ],
)
def test_what_does_not_fit_together(names):
    with pytest.raises(InputError):
        PairFiles(**names)
