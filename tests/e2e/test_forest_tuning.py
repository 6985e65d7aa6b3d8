"""`tune --forest`, `oracle --forest`, `forest lists` on search spaces that some decoder left."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.foreign_forests import GRAPH

from dragoman.errors import InputError
from dragoman.features import read_weights
from dragoman.features.moses_order import moses_order

WORDS = list("abcdefgh")


def lattices(folder, n=30):
    """Hypergraphs as Moses writes them, with two words to choose at each place, and what a teacher says."""
    rng = np.random.default_rng(3)
    teacher = np.array([1.0, -0.8, 0.5])
    lines = []
    folder.mkdir()
    for number in range(n):
        length = 6 + number % 3
        head = "# target ||| features ||| source-covered\n"
        text = [f"{head}{length + 1} {3 * length + 1}\n# node 0\n1\n<s> |||  ||| 0\n"]
        best = []
        for place in range(length):
            values = rng.normal(size=(3, 3)).round(3)
            words = rng.choice(WORDS, 3, replace=False)
            best.append(words[np.argmax(values @ teacher)])
            text.append(f"# node {place + 1}\n3\n")
            for word, row in zip(words, values, strict=True):
                features = " ".join(f"{name}={x}" for name, x in zip(("LM0", "TM0_1", "TM0_2"), row, strict=True))
                text.append(f"[{place}] {word}  ||| {features} ||| {place + 1}\n")
        (folder / str(number)).write_text("".join(text))
        lines.append(" ".join(best))
    return lines


@pytest.fixture
def space(tmp_path):
    lines = lattices(tmp_path / "hg")
    (tmp_path / "hg" / "weights").write_text("LM0 0\n")
    (tmp_path / "ref").write_text("\n".join(lines) + "\n")
    (tmp_path / "w").write_text("LM0= 1\nTM0= 0.1\nTM0= 0.2\n")
    return lines


TUNE = "tune --forest hg -r ref --weights w -o tuned --rounds 3 --json"
AFTERWARDS = [
    "forest lists hg -w tuned -k 1 -o best.jsonl --json",
    "oracle --nbest best.jsonl -r ref --json",  # of one candidate of each sentence
    "oracle --forest hg -r ref --json -o reached",
]


@pytest.mark.parametrize(
    "method", ["forest-mert", "mert", "pro --k 20 --set interpolation=0.5", "mira --online", "rm --online --distinct"]
)
def test_methods_learn_from_search_spaces(inside, space, tmp_path, method):
    result = inside(*f"{TUNE} --method {method}".split()).json
    assert result["score_after"] > result["score_before"] + 3
    kept = result["rounds"][result["best_round"] - 1]
    lists, alone, space_oracle = (line.split() for line in AFTERWARDS)
    assert inside(*lists).json["n_candidates"] == len(space)
    again = inside(*alone).json
    assert again["score"] == pytest.approx(kept["score"], abs=1e-9) == pytest.approx(result["score_after"])
    oracle = inside(*space_oracle).json
    assert oracle["score"] >= again["score"]
    assert oracle["score"] == pytest.approx(100)
    assert (tmp_path / "reached").read_text().splitlines() == space


def test_a_run_goes_on(inside, space, tmp_path):
    whole = inside(*f"{TUNE} --method forest-mert --run whole".split()).json
    one = f"{TUNE} --method forest-mert --run part".replace("--rounds 3", "--rounds 1")
    inside(*one.split())
    rest = inside(*f"{TUNE} --method forest-mert --run part --resume".split()).json
    assert rest["score_after"] == whole["score_after"]
    (tmp_path / "hg" / "3").write_text((tmp_path / "hg" / "4").read_text())
    changed = inside(*f"{TUNE} --method forest-mert --run part --resume".split(), status=2)
    assert "was started with other" in changed.err


def test_what_does_not_fit(inside, space, tmp_path):
    def refused(words):
        return inside(*words.split(), status=2).err

    (tmp_path / "hg" / "5").unlink()
    assert "the first is line 6" in refused(TUNE)
    assert "have no search space with a derivation" in refused("oracle --forest hg -r ref")
    assert inside(*f"{TUNE} --allow-missing --method forest-mert".split()).json["n_sentences"] == len(space) - 1
    assert inside(*f"{TUNE} --allow-missing --method mira --online".split()).json["n_sentences"] == len(space) - 1
    (tmp_path / "short").write_text("one\n")
    assert "the references have only 1 lines" in refused(TUNE.replace("-r ref", "-r short"))
    assert "from 0, but the references have 1 lines" in refused("oracle --forest hg -r short")
    assert "has 1 lines, but there is a search space of sentence 29" in refused(f"{TUNE} --source short")
    assert "no references" in refused("tune --forest hg -o x")
    assert "--external cannot be used with --forest" in refused(f"{TUNE} --external comet")
    assert "make lists by `forest lists`" in refused(f"{TUNE} --method all")
    assert "learns from the training text" in refused(f"{TUNE} --method hols")
    (tmp_path / "other").write_text("lm 1\n")
    assert "the weights have 'lm'" in refused(TUNE.replace("--weights w", "--weights other --allow-missing"))
    assert "--format is for lists" in refused("oracle --forest hg -r ref --format moses")
    assert "compare their tokens" in refused("oracle --forest hg -r ref --lowercase")
    assert "--list-format is one of" in refused("forest lists hg -w w -o x --list-format text")
    assert "stored search spaces with --forest" in refused("tune --nbest ref -r ref -o x --method forest-mert")


INI = """[feature]
UnknownWordPenalty
PhraseDictionaryMemory name=TM0 num-features=1
{more}
[weight]
TM0= 0.5
UnknownWordPenalty0= 1
"""


def test_search_graphs_get_the_names_of_the_ini(inside, tmp_path):
    (tmp_path / "graphs").write_text(GRAPH)
    (tmp_path / "moses.ini").write_text(INI.format(more=""))
    done = inside("forest", "best", "graphs", "-w", "moses.ini", "--json")
    [first, second] = done.json["best"]
    assert (first["sentence"], first["text"]) == (0, "the house")
    assert first["score"] == pytest.approx(-1 - 2 + 0.5 * (2 + 0.5))
    assert second["score"] == pytest.approx(-1 + 0.5 * 2)
    assert done.json["notes"] == ["1 feature has no weight (tm_a)"]
    inside("forest", "lists", "graphs", "-w", "moses.ini", "-o", "lists", "--list-format", "moses")
    assert "UnknownWordPenalty0= -3" in (tmp_path / "lists").read_text()
    (tmp_path / "moses.ini").write_text(
        INI.format(more="").replace("PhraseDictionaryMemory name=TM0 num-features=1\n", "")
    )
    refused = inside("forest", "best", "graphs", "-w", "moses.ini", status=2)
    assert "moses.ini: the search graphs have 2 dense features, but 1 have a name" in refused.err


def test_the_order_of_moses_features(tmp_path):
    ini = tmp_path / "moses.ini"
    ini.write_text(
        INI.format(more="Distortion\nDistortion\nTarget name=x num-features=0 # none\nReordering num-features=3")
    )
    reordering = [f"Reordering0_{place}" for place in (1, 2, 3)]
    assert moses_order(ini) == ["UnknownWordPenalty0", "TM0", "Distortion0", "Distortion1", *reordering]
    ini.write_text("[weight]\nTM0= 1\n")
    assert moses_order(ini) is None
    ini.write_text("[feature]\nX num-features=many\n[weight]\nTM0= 1\n")
    with pytest.raises(InputError, match="num-features=many"):
        moses_order(ini)


def test_moses_gets_its_formats_back(inside, space, tmp_path):
    inside(*f"{TUNE} --method mert --weights-format moses-dense".split())
    assert (tmp_path / "tuned").read_text().count("TM0= ") == 2
    assert read_weights(tmp_path / "tuned")["LM0"] != 1
