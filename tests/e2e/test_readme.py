"""The commands of README, as they stand there, on a small corpus and on lists of a toy decoder."""

from __future__ import annotations

import re
import urllib.request

from tests.kit.pages import ROOT, blocks_of, run_shell, write_lists, write_programs
from tests.kit.served import serving

PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [code for code, _ in blocks_of("README.md", "sh")]
TEXT = "dragoman corpus synth -n 200 --dev 20 --test 10 -o synthetic -q; cp synthetic/* ."
TRAINED = f"{TEXT}; dragoman train -s train.de -t train.en -o system -q"


def block(begin):
    """The block that begins so, without `dragoman serve`, which does not end by itself."""
    (found,) = [code for code in BLOCKS if code.startswith(begin)]
    return re.sub("^dragoman serve .*\n", "", found, flags=re.M)


def written(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_every_block_is_tested():
    tested = re.findall(r'block\("([^"]+)"\)', (ROOT / "tests" / "e2e" / "test_readme.py").read_text(encoding="utf-8"))
    assert all(any(code.startswith(begin) for begin in tested) for code in BLOCKS)


def test_targets_of_make_exist():
    targets = set(re.findall("^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert set(re.findall("^make ([a-z]+)", block("make demo"), re.M)) <= targets


def test_parallel_text(tmp_path):
    run_shell(TEXT, tmp_path)
    printed = run_shell(block("dragoman train -s train.de -t train.en -o system"), tmp_path)
    assert "bleu, test.out:" in printed
    assert len((tmp_path / "test.out").read_text(encoding="utf-8").splitlines()) == 10
    with serving(tmp_path, ("tuned",)) as address, urllib.request.urlopen(address) as page:
        assert b"Dragoman" in page.read()


def test_lists_of_a_decoder(tmp_path):
    write_lists(tmp_path)
    run_shell(block("dragoman tune --nbest run1.nbest.gz"), tmp_path)
    assert len((tmp_path / "test.out").read_text(encoding="utf-8").splitlines()) == 12
    assert (tmp_path / "weights.tsv").exists()


def test_a_decoder_command_and_moses(tmp_path):
    write_lists(tmp_path)
    write_programs(tmp_path)
    run_shell(block("dragoman tune --decoder"), tmp_path)
    assert {"weights.tsv", "run/trace.jsonl"} <= written(tmp_path)
    (command,) = re.findall("`(dragoman mert-moses [^`]+)`", PAGE)
    run_shell(command, tmp_path)
    assert (tmp_path / "mert-work" / "moses.ini").exists()


def test_features_of_ours(tmp_path):
    run_shell(f"{TRAINED}; mv system SYSTEM; cp dev.de dev.src; cp dev.en dev.ref", tmp_path)
    for name in ("dev", "test"):
        run_shell(
            f"dragoman translate SYSTEM -i {name}.de --nbest 8 --distinct --format jsonl -o {name}.jsonl", tmp_path
        )
    samples = [f"{sentence} is number {n % 7} of {n % 3}\n" for sentence in range(4) for n in range(64)]
    (tmp_path / "samples.txt").write_text("".join(samples), encoding="utf-8")
    run_shell(block("dragoman tune --nbest dev.jsonl"), tmp_path)
    assert {"weights.tsv", "out/report.html", "out/test.out", "test.out"} <= written(tmp_path)


def test_a_recipe(tmp_path):
    recipe = (ROOT / "recipes" / "quickstart.toml").read_text(encoding="utf-8")
    size, small = "train = 8000, dev = 5000, test = 2000", "train = 200, dev = 20, test = 20"
    assert size in recipe
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "quickstart.toml").write_text(recipe.replace(size, small), encoding="utf-8")
    printed = run_shell(block("dragoman run recipes/quickstart.toml"), tmp_path)
    assert "mira" in printed
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_training_text(tmp_path):
    run_shell(TEXT, tmp_path)
    run_shell(block("dragoman train -s train.de -t train.en --folds 10"), tmp_path)
    assert {"extended.tsv", "extended/system.json", "learned/system.json"} <= written(tmp_path)
    assert "reorder_" in (tmp_path / "learned" / "weights.tsv").read_text(encoding="utf-8")


def test_more_commands(tmp_path):
    run_shell(f"{TRAINED}; mv system tuned; cp dev.en ref.0; cp dev.en ref.1", tmp_path)
    run_shell("dragoman translate tuned -i dev.de -o better.en; sed 's/ the / a /' better.en > baseline.en", tmp_path)
    printed = run_shell(block("dragoman score baseline.en"), tmp_path)
    assert "chrf " in printed
    assert {"lm.svg", "corpus/dev.en.3", "classes.en"} <= written(tmp_path)
