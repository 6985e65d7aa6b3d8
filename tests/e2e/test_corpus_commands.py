"""`dragoman corpus` from end to end."""

from __future__ import annotations

import json
import sys

import pytest


@pytest.mark.parametrize(
    ("package", "words"),
    [
        ("synth", ("corpus", "synth", "-o", "c")),
        ("synth", ("demo", "--out", "d")),
        ("debian", ("corpus", "debian", "--languages", "de-en", "-o", "c")),
    ],
)
def test_a_distribution_that_is_missing_is_asked_for(inside, monkeypatch, package, words):
    monkeypatch.setitem(sys.modules, f"dragoman_{package}", None)
    result = inside(*words, status=2)
    assert f"dragoman_{package} is not installed; install dragoman-{package}" in result.err


def test_synth_then_stats_then_split(dragoman, tmp_path):
    made = dragoman(
        "corpus", "synth", "-n", 300, "--dev", 20, "--test", 20, "--references", 3, "-o", "c", "--json"
    ).json
    assert (made["n_train"], made["n_dev"], made["n_test"]) == (300, 20, 20)
    assert sorted(p.name for p in (tmp_path / "c").iterdir()) == sorted(
        ["train.de", "train.en", "dev.de", "test.de", *(f"{part}.en.{r}" for part in ("dev", "test") for r in range(3))]
    )
    stats = dragoman("corpus", "stats", "c/train.de", "c/train.en", "--json").json
    assert [side["n_lines"] for side in stats["sides"]] == [300, 300]
    assert "c/train.de" in dragoman("corpus", "stats", "c/train.de").out
    parts = dragoman(
        *("corpus", "split", "-s", "c/train.de", "-t", "c/train.en", "--dev", 10, "--test", 10, "-o", "parts", "--json")
    ).json
    assert parts["n_dev"] == parts["n_test"] == 10
    train = (tmp_path / "parts" / "train.source").read_text().splitlines()
    test = (tmp_path / "parts" / "test.source").read_text().splitlines()
    assert len(test) == 10
    assert not set(train) & set(test)


def test_the_same_seed_gives_the_same_corpus(dragoman, tmp_path):
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        dragoman("corpus", "synth", "-n", 50, "--dev", 5, "--test", 5, "--noise", 0.2, "--seed", seed, "-o", name, "-q")
    texts = {name: (tmp_path / name / "train.de").read_text() for name in "abc"}
    assert texts["a"] == texts["b"] != texts["c"]


def test_clean_reads_a_translation_memory(dragoman, tmp_path):
    units = [("Ja.", "Yes."), ("", "nothing"), ("Nein.", "No.")]
    variants = [
        f"<tu><tuv xml:lang='de-DE'><seg>{f}</seg></tuv><tuv xml:lang='en'><seg>{e}</seg></tuv></tu>" for f, e in units
    ]
    (tmp_path / "m.tmx").write_text(f"<tmx><body>{''.join(variants)}</body></tmx>")
    words = ("--tmx", "m.tmx", "--languages", "de,en")
    dragoman("corpus", "clean", *words, "--out-source", "de", "--out-target", "en")
    assert (tmp_path / "de").read_text() == "Ja.\nNein.\n"
    assert (tmp_path / "en").read_text() == "Yes.\nNo.\n"
    dragoman("corpus", "split", *words, "--dev", 1, "--test", 1, "-o", "parts")
    assert len((tmp_path / "parts" / "dev.source").read_text().splitlines()) == 1


def test_clean_says_what_it_dropped(dragoman, tmp_path):
    (tmp_path / "f").write_text('Er sagt: "Ja!"\n\nEins zwei drei\nEr sagt: "Ja!"\n')
    (tmp_path / "e").write_text('He says: "Yes!"\nempty\nA\nHe says: "Yes!"\n')
    done = dragoman(
        *(
            "corpus",
            "clean",
            "-s",
            "f",
            "-t",
            "e",
            "--out-tsv",
            "out.tsv.gz",
            "--max-ratio",
            2,
            "--duplicates",
            "pairs",
        ),
        *("--source-language", "de", "--target-language", "en", "--lowercase", "--json"),
    )
    assert done.json == {
        "n_read": 4,
        "n_kept": 1,
        "dropped": {
            "empty": 1,
            "too short": 0,
            "too long": 0,
            "length ratio": 1,
            "source equals target": 0,
            "copied from the source": 0,
            "duplicate": 1,
            "other script": 0,
            "other language": 0,
            "alignment score": 0,
        },
    }
    assert "dropped 1: length ratio" in done.err
    assert dragoman("corpus", "detokenize", "-l", "de", "--moses", "-i", "out.tsv.gz").out.startswith('er sagt: "ja!"')


def test_clean_by_the_whole_corpus(dragoman, tmp_path):
    dragoman("corpus", "synth", "-n", 200, "--dev", 0, "--test", 0, "-o", "c", "-q")
    with (tmp_path / "c/train.de").open("a") as f, (tmp_path / "c/train.en").open("a") as e:
        f.write("das ist gut .\n")
        e.write("это хорошо .\n")
    words = ("corpus", "clean", "-s", "c/train.de", "-t", "c/train.en", "--out-tsv", "out")
    done = dragoman(*words, "--max-other-script", 0.3, "--alignment-score", "5%", "--dropped", "bad", "--json").json
    assert (done["dropped"]["other script"], done["dropped"]["alignment score"], done["n_kept"]) == (1, 10, 190)
    assert len((tmp_path / "out").read_text().splitlines()) == 190
    assert (tmp_path / "bad").read_text().splitlines()[-1].endswith("das ist gut .\tэто хорошо .")
    for options, why in ((["--dropped", "x"], "--dropped needs"), (["--alignment-score", "best"], "expected a share")):
        assert why in dragoman(*words[:-1], "o", *options, status=2).err
    standard = dragoman("corpus", "clean", "--tsv", "-", "--out-tsv", "o", "--check-language", status=2, text="a\tb\n")
    assert "more than once" in standard.err


def test_tokenize_reads_and_writes_pipes(dragoman, tmp_path):
    done = dragoman("corpus", "tokenize", "-l", "en", "--lowercase", "--summary", "s.json", text="Hello, World!\n\n")
    assert done.out == "hello ￭, world ￭!\n\n"
    assert dragoman("corpus", "detokenize", "-l", "en", text=done.out).out == "hello, world!\n\n"
    assert dragoman("corpus", "tokenize", "-l", "en", "--moses", text="Hello, World!\n").out == "Hello , World !\n"
    assert json.loads((tmp_path / "s.json").read_text()) == {"n_lines": 2}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["corpus", "stats", "absent"], "absent: cannot be read: No such file"),
        (["corpus", "stats", "bad.txt"], "bad.txt, line 2: invalid UTF-8"),
        (["corpus", "stats", "two.txt", "one.txt"], "two.txt has 2, one.txt has 1"),
        (["corpus", "clean", "-s", "two.txt", "-t", "one.txt", "--out-tsv", "o"], "two.txt has 2, one.txt has 1"),
        (["corpus", "clean", "-s", "two.txt", "--out-tsv", "o"], "give either a source and a target file"),
        (["corpus", "clean", "--tmx", "two.txt", "--out-tsv", "o"], "a TMX file needs its two languages"),
        (["corpus", "clean", "--tmx", "two.txt", "--languages", "a,b", "--out-tsv", "o"], "is not well-formed XML"),
        (["corpus", "clean", "-s", "two.txt", "-t", "two.txt"], "say where the result goes"),
        (["corpus", "clean", "--tsv", "one.txt", "--out-tsv", "o"], "one.txt, line 1: expected two columns"),
        (["corpus", "split", "-s", "two.txt", "-t", "two.txt", "-o", "d"], "use smaller sizes"),
        (["corpus", "tokenize", "-l", "klingon"], "not a language code"),
        (["corpus", "synth"], "--out"),
        (["corpus", "synth", "-o", "x", "--noise", "7"], "--noise"),
        (["corpus", "nonsense"], "nonsense"),
        (["nonsense"], "nonsense"),
    ],
)
def test_bad_input_is_status_two_with_a_clear_message(dragoman, tmp_path, words, message):
    (tmp_path / "bad.txt").write_bytes(b"fine\n\xff\n")
    (tmp_path / "two.txt").write_text("a\nb\n")
    (tmp_path / "one.txt").write_text("a\n")
    outcome = dragoman(*words, status=2)
    assert message in " ".join(outcome.err.replace("│", " ").split())
    assert outcome.out == ""
    assert not (tmp_path / "o").exists()


def test_an_unwritable_place_is_status_one(dragoman, tmp_path):
    (tmp_path / "file").write_text("a\n")
    dragoman("corpus", "synth", "-n", 5, "--dev", 1, "--test", 1, "-o", "file/inside", status=1)


def test_corpus_text_on_the_terminal_is_not_markup(dragoman, tmp_path):
    (tmp_path / "[red] [np,1]").write_text("a\n")
    assert "[red] [np,1]" in dragoman("corpus", "stats", "[red] [np,1]").out
    hostile = "\x1b[31m[/b][np,1]"
    assert "\x1b" not in dragoman("corpus", "stats", hostile, status=2).err


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["corpus"],
        ["corpus", "synth"],
        ["corpus", "clean"],
        ["corpus", "stats"],
        ["corpus", "split"],
        ["score"],
        ["demo"],
    ],
)
def test_every_command_has_help(dragoman, words):
    text = dragoman(*words, "--help").out
    assert "Usage" in text
    if words[-1:] not in ([], ["corpus"]):
        for option in ("--json", "--quiet"):
            assert option in text


def test_options_that_would_do_nothing_are_not_offered(inside):
    assert "--seed" not in inside("rerank", "--help").out
    assert "--threads" not in inside("corpus", "stats", "--help").out
    assert "--seed" in inside("corpus", "synth", "--help").out
    assert "--threads" in inside("score", "--help").out


def test_version(dragoman):
    from dragoman import __version__

    assert dragoman("--version").out == f"dragoman {__version__}\n"


def test_classes_of_words(dragoman, tmp_path):
    dragoman("corpus", "synth", "-n", 300, "--dev", 0, "--test", 0, "-o", "c", "-q")
    words = ("corpus", "classes", "-i", "c/train.en", "-n", 5, "-n", 30)
    done = dragoman(*words, "-o", "one", "--threads", 1, "--json").json
    n_types = dragoman("corpus", "stats", "c/train.en", "--json").json["sides"][0]["n_types"]
    assert done["n_types"] == n_types
    assert [level["n_classes"] for level in done["levels"]] == [5, 30]
    for level in done["levels"]:
        assert level["converged"]
        assert level["start_likelihood"] < level["likelihood"] < 0
    assert done["levels"][1]["perplexity"] < done["levels"][0]["perplexity"]
    assert done["cpu_s"] > 0
    lines = (tmp_path / "one").read_text().splitlines()
    assert lines[0] == "# word\t5\t30"
    assert len(lines) == 1 + n_types
    assert "perplexity" in dragoman(*words, "-o", "two", "--threads", 2).out
    assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()
    both = ("-i", "c/train.en", "-i", "c/train.de")
    stopped = dragoman("corpus", "classes", *both, "-n", 9, "--iterations", 1, "-o", "-")
    assert stopped.out.startswith("# word\t9\n")
    assert "words still moved" in stopped.err


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["-n", 0], "from 1 to 2048, not 0"),
        (["-n", 2, "-n", 2], "2 classes are asked for more than once"),
        (["-n", 2, "-n", 5], "t: 5 classes of 4 different words"),
        (["-n", 2, "--iterations", 0], "iterations"),
        (["-n", 2, "-i", "missing"], "missing"),
        (["-n", 2, "-o", "t"], "would be overwritten"),
        (["-n", 2, "-o", "-", "--json"], "standard output holds the JSON object"),
        ([], "--classes"),
    ],
)
def test_classes_that_cannot_be_learned(dragoman, tmp_path, options, why):
    (tmp_path / "t").write_text("a b c d\n")
    out = [] if "-o" in options else ["-o", "out"]
    failed = dragoman("corpus", "classes", "-i", "t", *out, *options, status=2)
    assert why in failed.err
    assert (tmp_path / "t").read_text() == "a b c d\n"
    assert not (tmp_path / "out").exists()
