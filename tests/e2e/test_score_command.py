"""`dragoman score` beside sacrebleu."""

from __future__ import annotations

import pytest
import sacrebleu

from dragoman.analysis import error_profile, holm

HYP = ["the cat sat on the mat", "a dog barks", "", "he reads a book today"]
OTHER = ["the cat is on a mat", "a dog is barking", "nothing", "he reads a book today"]
REFS = [
    ["the cat sat on the mat", "the dog barks", "yes", "today he reads a book"],
    ["a cat sat on a mat", "a dog barked", "no", "he reads a book"],
]


@pytest.fixture
def files(tmp_path):
    for name, lines in (("hyp", HYP), ("other", OTHER), ("ref0", REFS[0]), ("ref1", REFS[1]), ("short", HYP[:2])):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))


def test_equals_sacrebleu(dragoman, files):
    (system,) = dragoman("score", "hyp", "-r", "ref0", "-r", "ref1", "--json").json["systems"]
    bleu = sacrebleu.BLEU(tokenize="none")
    assert system["bleu"] == pytest.approx(bleu.corpus_score(HYP, REFS).score, abs=1e-9)
    assert system["chrf"] == pytest.approx(sacrebleu.corpus_chrf(HYP, REFS).score, abs=1e-9)
    assert system["ter"] == pytest.approx(sacrebleu.corpus_ter(HYP, REFS).score, abs=1e-9)
    theirs = bleu.corpus_score(HYP, REFS).format(signature="", width=2)
    assert theirs.endswith(system["details"]["bleu"]["breakdown"])
    assert system["details"]["bleu"]["precisions"] == pytest.approx(bleu.corpus_score(HYP, REFS).precisions, abs=1e-9)
    assert system["details"]["bleu"]["brevity_penalty"] == pytest.approx(bleu.corpus_score(HYP, REFS).bp, abs=1e-12)
    assert system["details"]["ter"]["breakdown"] is None
    assert system["name"] == "hyp"
    assert system["signature"]["bleu"].startswith("nrefs:2|bs:1000|seed:12345|case:mixed|eff:no|tok:none|smooth:exp|")
    assert system["length_ratio"] == pytest.approx(14 / 14, abs=0.2)


def test_several_systems_are_tested_against_the_first(dragoman, files):
    systems = dragoman(
        "score", "hyp", "other", "-r", "ref0", "-m", "bleu", "--trials", 200, "--bootstrap", 100, "--json"
    )
    first, second = systems.json["systems"]
    assert first["details"]["bleu"]["p_randomisation"] is None
    assert 0 < second["details"]["bleu"]["p_randomisation"] <= 1
    assert 0 < second["details"]["bleu"]["p_bootstrap"] <= 1
    shown = dragoman("score", "hyp", "other", "-r", "ref0", "-m", "bleu")
    assert "p (AR)" in shown.out
    assert "version:dragoman" in shown.err
    assert "bleu, other: " in shown.out
    assert "(BP = " in shown.out


def test_direction_and_empty_references(inside, files, tmp_path):
    (tmp_path / "gaps").write_text("the cat sat on the mat\n\n\nhe reads\n")
    shown = inside("score", "hyp", "-r", "gaps", "-m", "(ter-bleu)/2", "-m", "chrf", "--trials", 0, "--bootstrap", 0)
    assert "0.5*ter - 0.5*bleu ↓" in shown.out
    assert "chrf ↓" not in shown.out
    assert "warning: gaps: 2 of 4 lines are empty, the first is line 2" in shown.err


def test_several_runs_have_mean_and_deviation(dragoman, files):
    words = ["--run", "ours=hyp", "--run", "ours=other", "-r", "ref0", "-m", "chrf", "-m", "bleu", "--json"]
    (system,) = dragoman("score", *words).json["systems"]
    details = system["details"]["chrf"]
    assert len(details["runs"]) == 2
    assert system["chrf"] == pytest.approx(sum(details["runs"]) / 2)
    assert details["std"] == pytest.approx(abs(details["runs"][0] - details["runs"][1]) / 2**0.5)
    precisions = [sacrebleu.BLEU(tokenize="none").corpus_score(run, REFS[:1]).precisions for run in (HYP, OTHER)]
    means = [sum(of_order) / 2 for of_order in zip(*precisions, strict=True)]
    assert system["details"]["bleu"]["precisions"] == pytest.approx(means)


def test_errors_by_kind(inside, files, tmp_path):
    words = ["score", "--run", "ours=hyp", "--run", "ours=other", "-r", "ref0", "-m", "ter", "--errors"]
    words += ["--bootstrap", 0, "--trials", 0]
    found = inside(*words, "--json").json
    (system,) = found["systems"]
    assert system["errors"]["ter"] == pytest.approx(system["ter"])
    both = [error_profile(run, REFS[:1]) for run in (HYP, OTHER)]
    assert system["errors"] == pytest.approx({kind: (both[0][kind] + both[1][kind]) / 2 for kind in both[0]})
    assert "the" in found["function_words"]
    assert "function words dropped" in inside(*words).out
    (tmp_path / "words").write_text("Cat\ndog\n")
    (listed,) = inside(*words, "--function-words", "words", "--json").json["systems"]
    assert listed["errors"]["ter"] == system["errors"]["ter"]
    assert listed["errors"]["function_substituted"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["hyp"], "give at least one with -r"),
        (["-r", "ref0"], "nothing to score"),
        (["short", "-r", "ref0"], "reference 1 has 4 lines but the hypotheses have 2"),
        (["hyp", "short", "-r", "ref0"], "short has 2 lines but hyp has 4"),
        (["hyp", "-r", "ref0", "-m", "meteor"], "'meteor' is not a metric"),
        (["hyp", "-r", "absent"], "absent: cannot be read"),
        (["--run", "hyp", "-r", "ref0"], "expected NAME=FILE"),
        (["hyp", "-r", "ref0", "--function-words", "other"], "is for --errors"),
        (["hyp", "-r", "ref0", "--tokenize", "words"], "--tokenize"),
    ],
)
def test_mistakes(dragoman, files, words, message):
    assert message in " ".join(dragoman("score", *words, status=2).err.replace("│", " ").split())


def test_empty_files_are_not_a_score(dragoman, tmp_path):
    (tmp_path / "empty").touch()
    assert "no sentence" in dragoman("score", "empty", "-r", "empty", status=2).err


def test_runs_that_gave_one_output_and_several_systems(dragoman, files):
    runs = ["base=hyp", "base=hyp", "base=hyp", "new=other", "new=hyp", "third=other"]
    words = [word for run in runs for word in ("--run", run)]
    few = ["-r", "ref0", "-m", "bleu", "--trials", 200, "--bootstrap", 100]
    shown = dragoman("score", *words, *few)
    rows = [line for line in shown.out.splitlines() if line.startswith("bleu ")]
    assert ["1 of 3" in row for row in rows] == [True, False, False]
    assert shown.out.count("Holm") == 2
    systems = dragoman("score", *words, *few, "--json").json["systems"]
    assert [system["n_distinct"] for system in systems] == [1, 2, 1]
    details = [system["details"]["bleu"] for system in systems[1:]]
    for kind in ("randomisation", "bootstrap"):
        p_values = [one[f"p_{kind}"] for one in details]
        assert [one[f"holm_{kind}"] for one in details] == list(holm(dict(enumerate(p_values))).values())
    once = dragoman("score", "hyp", "other", *few, "--json").json["systems"][1]["details"]["bleu"]
    assert details[1]["p_randomisation"] == once["p_randomisation"]
    assert "Holm" not in dragoman("score", "hyp", "other", *few).out
