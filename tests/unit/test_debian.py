"""A corpus from Debian's archive: its files, an archive in a folder, and apt, which a script stands in for."""

from __future__ import annotations

import gettext
import io
import json
import shutil
import struct
import subprocess
import sys

import pytest

from dragoman.errors import FailedError, InputError
from dragoman_debian import (
    AptArchive,
    DebianConfig,
    build_corpus,
    description_pairs,
    message_pairs,
    read_descriptions,
    read_mo,
    read_po,
)

needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb makes and opens packages")

GERMAN = """Package: tree
Description-md5: 11
Description-de: Zeichnet einen Baum
 Das Programm zeichnet. Es ist klein.
 .
 Es kann:
  * Linien
    und Punkte
  * Farben

Package: other
Description-md5: 22
Description-de: Etwas anderes
 Ein Absatz.
 .
 Noch einer.

Package: alone
Description-md5: 33
Description-de: Nur deutsch
"""
ENGLISH = """Package: tree
Description-md5: 11
Description-en: draws a tree
 The program draws. It is small.
 .
 It can do:
  - lines
    and points
  - colours

Package: other
Description-md5: 22
Description-en: something else
 One paragraph only. It has more to say.
"""
MESSAGES = {
    "": "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n!=1;\n",
    "&File": "&Datei",
    "Open _with": "Öffnen _mit",
    "menu\x04Close": "Schließen",
    "one tree\0%d trees": "ein Baum\0%d Bäume",
    "First line.\nSecond line.": "Erste Zeile.\nZweite Zeile.",
    "OK": "OK",
    "Font (_S)": "Schrift",
}
PO = r"""# comment
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\n"

#, fuzzy
msgid "doubtful"
msgstr "zweifelhaft"

#: file.c:3
msgctxt "menu"
msgid "A \"quoted\" "
"word"
msgstr "Ein \"zitiertes\" Wort"

msgid "one tree"
msgid_plural "%d trees"
msgstr[0] "ein Baum"
msgstr[1] "%d Bäume"

#~ msgid "old"
#~ msgstr "alt"
"""


def mo(messages, order="<"):
    entries = sorted((key.encode(), value.encode()) for key, value in messages.items())
    begin = 28
    tables, texts = [b"", b""], b""
    at = begin + 16 * len(entries)
    for side in (0, 1):
        for entry in entries:
            tables[side] += struct.pack(f"{order}2I", len(entry[side]), at + len(texts))
            texts += entry[side] + b"\0"
    head = struct.pack(f"{order}7I", 0x950412DE, 0, len(entries), begin, begin + 8 * len(entries), 0, 0)
    return head + tables[0] + tables[1] + texts


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "files"
    (folder / "de" / "LC_MESSAGES").mkdir(parents=True)
    (folder / "Translation-de").write_text(GERMAN, encoding="utf-8")
    (folder / "Translation-en").write_text(ENGLISH, encoding="utf-8")
    (folder / "de" / "LC_MESSAGES" / "tree.mo").write_bytes(mo(MESSAGES))
    (folder / "de" / "other.po").write_text(PO, encoding="utf-8")
    return folder


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_descriptions_are_paired_by_digest_and_structure(files):
    sides = [read_descriptions(files / f"Translation-{code}", code) for code in ("de", "en")]
    assert list(sides[0]) == ["11", "22", "33"]
    assert list(description_pairs(*sides, ("de", "en"))) == [
        ("tree", "Zeichnet einen Baum", "draws a tree"),
        ("tree", "Das Programm zeichnet.", "The program draws."),
        ("tree", "Es ist klein.", "It is small."),
        ("tree", "Es kann:", "It can do:"),
        ("tree", "Linien und Punkte", "lines and points"),
        ("tree", "Farben", "colours"),
        ("other", "Etwas anderes", "something else"),
    ]


@pytest.mark.parametrize(
    ("content", "message"), [("no field", r"line 1: expected"), (" x", "line 1: a line goes on"), (ENGLISH, "another")]
)
def test_other_files_are_refused(tmp_path, content, message):
    (tmp_path / "Translation-de").write_text(content)
    with pytest.raises(InputError, match=message):
        read_descriptions(tmp_path / "Translation-de", "de")


@pytest.mark.parametrize("order", ["<", ">"])
def test_compiled_catalogues_are_read_as_gettext_reads_them(order):
    data = mo(MESSAGES, order)
    oracle = gettext.GNUTranslations(io.BytesIO(data))
    found = read_mo(data)
    assert found.pop("Close") == oracle.pgettext("menu", "Close")
    assert found.pop("one tree") == oracle.ngettext("one tree", "%d trees", 1)
    assert len(found) == len(MESSAGES) - 3
    assert all(oracle.gettext(message) == text for message, text in found.items())


def test_damaged_catalogues_are_refused():
    data = mo(MESSAGES)
    with pytest.raises(InputError, match="is no compiled"):
        read_mo(b"abc")
    for size in range(28, len(data) - 1):
        with pytest.raises(InputError, match="damaged"):
            read_mo(data[:size])
    with pytest.raises(InputError, match="encoding 'none' that is not known"):
        read_mo(mo({"": "Content-Type: text/plain; charset=none\n", "a": "b"}))


def test_catalogues_as_text():
    assert read_po(iter(PO.split("\n"))) == {'A "quoted" word': 'Ein "zitiertes" Wort', "one tree": "ein Baum"}
    with pytest.raises(InputError, match="line 2: expected msgid"):
        read_po(iter(["", "hello"]))


def test_messages_lose_marks_of_shortcuts():
    found = list(message_pairs(read_mo(mo(MESSAGES)), None))
    assert ("Datei", "File") in found
    assert ("Öffnen mit", "Open with") in found
    assert ("Schrift", "Font") in found
    assert ("Zweite Zeile.", "Second line.") in found
    assert not any("OK" in pair for pair in found)
    assert list(message_pairs({"a file": "ein Ding"}, {"a file": "une chose", "x": "y"})) == [("ein Ding", "une chose")]


def test_a_corpus_from_a_folder(files, tmp_path):
    config = DebianConfig(languages=("de", "en"), folder=files)
    result = build_corpus(tmp_path / "out", config)
    pairs = list(zip(lines(result.files[0]), lines(result.files[1]), lines(result.domains), strict=True))
    assert ("Farben", "colours", "descriptions") in pairs
    assert ("Schließen", "Close", "interfaces") in pairs
    assert ("ein Baum", "one tree", "interfaces") in pairs
    assert len(set(pairs)) == len(pairs) == sum(result.n_pairs.values())
    assert result.n_duplicates == 1  # a tree, in both catalogues
    told = [line.split("\t") for line in lines(result.sources)[1:]]
    assert sum(int(row[3]) for row in told) == len(pairs)
    back = build_corpus(tmp_path / "back", DebianConfig(languages=("en", "de"), folder=files))
    assert {(b, a) for a, b, _ in pairs} <= set(zip(lines(back.files[0]), lines(back.files[1]), strict=True))
    with pytest.raises(InputError, match="say `resume=True`"):
        build_corpus(tmp_path / "out", config)
    again = build_corpus(tmp_path / "out", config, resume=True)
    assert again.n_pairs == result.n_pairs


def test_what_cannot_be_collected_is_said(files, tmp_path):
    with pytest.raises(InputError, match="no language as Debian"):
        DebianConfig(languages=("german", "en"))
    with pytest.raises(InputError, match="both 'de'"):
        DebianConfig(languages=("de", "de"))
    with pytest.raises(FailedError, match="no Translation-fr"):
        build_corpus(tmp_path / "out", DebianConfig(languages=("fr", "en"), folder=files))
    with pytest.raises(InputError, match="there is no apt-nothing"):
        AptArchive(tmp_path / "apt", ["de", "en"], command="apt-nothing")


APT = """#!{python}
import pathlib, shutil, sys
words = sys.argv[1:]
options = dict(words[i + 1].split("=", 1) for i, word in enumerate(words) if word == "-o")
rest = [w for i, w in enumerate(words) if w not in ("-o", "-q") and words[i - 1] != "-o"]
files, lists = pathlib.Path({files!r}), pathlib.Path(options["Dir::State::Lists"])
with open(files / "calls", "a") as log:
    log.write(" ".join(rest) + "\\n")
if rest[0] == "update":
    for code in options["Acquire::Languages"].split(","):
        shutil.copy(files / f"Translation-{{code}}", lists / f"main_Translation-{{code}}")
    (lists / "Contents").write_text(
        "usr/share/locale/de/LC_MESSAGES/tree.mo   utils/tree\\n"
        "usr/share/locale/fr/LC_MESSAGES/tree.mo   utils/french\\n"
        "usr/share/locale/de/LC_MESSAGES/a.mo utils/tree,utils/broken\\nusr/bin/x utils/x\\n"
    )
elif rest[0] == "indextargets":
    for code in options["Acquire::Languages"].split(","):
        print("Translations", code, "archive stable", lists / f"main_Translation-{{code}}", sep="\\t")
    print("dragoman-contents", "", "archive stable", lists / "Contents", sep="\\t")
elif rest[-1] == "broken" and (files / "offline").exists():
    sys.exit("E: cannot be reached")
elif rest[1] == "--print-uris":
    print(f"'archive/pool/{{rest[-1]}}_1_all.deb' {{rest[-1]}}_1_all.deb 10 SHA256:0")
else:
    shutil.copy(files / f"{{rest[-1]}}.deb", f"{{rest[-1]}}_1_all.deb")
"""


@needs_dpkg
def test_apt_goes_on_after_a_stop(files, tmp_path):
    for name in ("tree", "broken"):
        root = tmp_path / name
        (root / "usr/share/locale/de/LC_MESSAGES").mkdir(parents=True)
        (root / "usr/share/locale/de/LC_MESSAGES/tree.mo").write_bytes(mo(MESSAGES | {"Package": f"Paket {name}"}))
        (root / "DEBIAN").mkdir()
        control = f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.org>\nDescription: x\n"
        (root / "DEBIAN/control").write_text(control)
        subprocess.run(["dpkg-deb", "--build", root, files / f"{name}.deb"], check=True, capture_output=True)
    command = tmp_path / "apt-get"
    command.write_text(APT.format(python=sys.executable, files=str(files)))
    command.chmod(0o755)
    out = tmp_path / "out"
    config = DebianConfig(languages=("de", "en"))

    def build(**more):
        def apt(folder):
            return AptArchive(folder, config.languages, command=str(command))

        return build_corpus(out, config, open_archive=apt, **more)

    (files / "offline").touch()
    first = build()
    assert [text.partition(":")[0] for text in first.failed] == ["broken"]
    assert "cannot be reached" in first.failed[0]
    (files / "offline").unlink()
    done = build(resume=True)
    assert done.failed == []
    calls = lines(files / "calls")
    assert calls.count("update") == calls.count("download tree") == 1
    assert "Paket broken" in lines(done.files[0])
    rows = [line.split("\t") for line in lines(done.sources)[1:]]
    assert [row[1] for row in rows] == ["package descriptions", "tree", "broken"]
    assert rows[1][2] == "archive/pool/tree_1_all.deb"
    assert json.loads((out / "collect/packages.json").read_text())["packages"] == ["tree", "broken"]
    assert not [*(out / "collect/apt/packages").iterdir()]
