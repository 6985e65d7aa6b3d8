"""`dragoman translate` and a line of more words than a search takes."""

from __future__ import annotations

import pytest
from tests.kit.small_systems import make_systems, sentences_of

from dragoman.system import KINDS, System


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_systems(tmp_path_factory.mktemp("made"))


@pytest.mark.parametrize("kind", KINDS)
def test_translations_are_of_parts_and_the_rest_names_the_line(made, inside, tmp_path, kind):
    most = System.load(made / kind).translator.max_words
    line = " ".join((" ".join(sentences_of(made)).split() * most)[: most + 1])
    (tmp_path / "long.de").write_text(f"der hund\n{line}\n\n", encoding="utf-8")
    (tmp_path / "long.en").write_text("the dog\nx\n\n", encoding="utf-8")
    words = ("translate", made / kind, "-i", "long.de", "--fast")
    done = inside(*words, "--out", "long.out")
    told = " ".join(done.err.split())
    assert f"warning: line 2 has a sentence of more than {most:,} words; it was cut into parts" in told
    assert [bool(found) for found in (tmp_path / "long.out").read_text(encoding="utf-8").split("\n")[:-1]] == [1, 1, 0]
    assert "cut" not in inside("translate", made / kind, "-i", made / "dev.de", "--out", "dev.out").err
    for more in (("--nbest", 3), ("--forest", "f"), ("--explain",), ("--explain", "--target", "long.en")):
        told = " ".join(inside(*words, *more, status=2).err.split())
        assert f"long.de, line 2: has a sentence of {most + 1:,} words; at most {most:,} are searched" in told, more
