"""The page of a tuned system: what tuning did, as the scores, the weights and the translations themselves say."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace

import pytest
from tests.kit.html_pages import HOSTILE, read
from tests.kit.small_systems import make_systems, sentences_of

from dragoman.analysis import LEVEL, SystemOutput, compare_systems
from dragoman.errors import InputError
from dragoman.features import read_weights
from dragoman.files.store import Format, seal, unseal
from dragoman.metric import Tokenizer, by_name
from dragoman.optim import Pro
from dragoman.system import System
from dragoman.tuning import DEVELOPMENT, RESULT, TEST, TUNE_RECORD, BeforeAfter, LoopSettings, TuneConfig, tune_system
from dragoman.view.report.samples import sentence_scores
from dragoman.view.report.tuned import TestFiles, is_tuned, load_tuned, write_tuned_page
from dragoman.view.serve.recorded import read_recorded


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = make_systems(tmp_path_factory.mktemp("tuned"))
    config = TuneConfig(k=20, loop=LoopSettings(max_rounds=2))
    for kind in ("phrase", "hiero"):
        tune_system(
            folder / kind,
            folder / "dev.de",
            [folder / "dev.en"],
            folder / f"tuned-{kind}",
            optimiser=Pro(),
            config=config,
        )
    return folder


def lines(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def files(made):
    return TestFiles(source=made / "dev.de", references=[made / "dev.en"])


def test_tuning_keeps_the_development_set_before_and_after(made):
    tuned = made / "tuned-phrase"
    kept = BeforeAfter.load(tuned / TUNE_RECORD / DEVELOPMENT)
    assert kept.source == lines(made / "dev.de")
    assert kept.references == [lines(made / "dev.en")]
    start, end = System.load(made / "phrase"), System.load(tuned)
    assert kept.before == list(start.translate(kept.source))
    assert kept.after == list(end.translate(kept.source))
    assert BeforeAfter.load(tuned / TUNE_RECORD / TEST) is None


@pytest.mark.parametrize("kind", ["phrase", "hiero"])
def test_the_page_says_what_tuning_did(made, kind, tmp_path):
    tuned = made / f"tuned-{kind}"
    found = load_tuned(tuned, files(made), n_trials=200)
    assert [one.name for one in found.sets] == ["test set", "development set"]
    before, after = (list(System.load(made / name).translate(sentences_of(made))) for name in (kind, tuned.name))
    outputs = [SystemOutput(name=name, runs=(text,)) for name, text in (("b", before), ("a", after))]
    metrics = [by_name("bleu"), by_name("chrf"), by_name("ter")]
    scores = compare_systems(outputs, [lines(made / "dev.en")], metrics, n_bootstrap=0, n_trials=200)
    for one in found.sets:
        for ours, theirs in zip(one.scores, scores, strict=True):
            assert [s.score for s in ours.scores] == [s.score for s in theirs.scores]
            assert [s.p_randomisation for s in ours.scores] == [s.p_randomisation for s in theirs.scores]
        _, (first, second, change) = one.table()
        assert float(change[1].text) == pytest.approx(float(second[1].text) - float(first[1].text), abs=0.011)
    bleu = [100 * system.scores[0].score for system in scores]
    (said, _) = found.headlines
    assert f"BLEU went from {bleu[0]:.2f} to {bleu[1]:.2f}" in said
    assert ("may be chance" in said) == (scores[1].scores[0].p_randomisation >= LEVEL)
    page = read(write_tuned_page(found, tmp_path / "page.html"))
    assert said in page.text
    ids = {attrs.get("id") for _, attrs in page.tags}
    assert {"scores", "learning", "weights", "set-1", "set-2", "settings"} <= ids
    for link in page.named("a"):
        assert link["href"].removeprefix("#") in ids
    drawn = "Tree over the source" if kind == "hiero" else "Phrases of the source"
    assert drawn in page.text
    assert (tmp_path / "page.html").stat().st_size < 1_000_000


def test_weights_before_and_after_are_those_of_both_systems(made):
    found = load_tuned(made / "tuned-phrase", n_trials=20)
    start, end = (read_weights(System.load(made / name).file("weights")) for name in ("phrase", "tuned-phrase"))
    shown = {change.name: change for change in found.weights}
    ratio = {change.before / start[name] for name, change in shown.items() if start[name]}
    assert max(ratio) == pytest.approx(min(ratio))
    ratio = {change.after / end[name] for name, change in shown.items() if end[name]}
    assert max(ratio) == pytest.approx(min(ratio))
    sizes = [abs(change.after - change.before) for change in found.weights[:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert (found.weights[-1].name, found.weights[-1].bar) == ("unknown", "")  # it would flatten the others
    assert all(change.bar for change in found.weights[:-1])
    assert found.n_changed > len(shown)
    assert "No test set was translated" in found.notes[-1]


def test_sentences_that_changed_most_come_first(made):
    (dev,) = load_tuned(made / "tuned-hiero", n_trials=20).sets
    shown = dev.samples()
    gaps = [sample.best - sample.worst for sample in shown]
    assert gaps == sorted(gaps, reverse=True)
    assert sum(bool(translation.derivations) for translation in shown[0].translations) == len(shown[0].translations)


def test_sentences_say_whether_they_became_better_or_worse(made, tmp_path):
    found = load_tuned(made / "tuned-hiero", n_trials=20)
    (dev,) = found.sets
    scores = sentence_scores([dev.pair.before, dev.pair.after], dev.pair.references)
    shown = dev.samples()
    for sample in shown:
        assert sample.change == pytest.approx(scores[:, sample.number - 1].tolist())
    page = read(write_tuned_page(found, tmp_path / "page.html"))
    changed = next(sample for sample in shown if sample.best > sample.worst)
    assert f"{100 * changed.change[0]:.1f} → {100 * changed.change[1]:.1f}" in page.text
    assert {"gain", "loss", "difference"} <= {option.get("value") for option in page.named("option")}
    assert "between systems" not in page.text


def test_notes_of_rounds_stand_once(made):
    notes = [f"round {n}: 1 feature never differs" for n in (1, 2, 3, 7)] + ["round 2: <b>", "no round: x"]
    folder = made / "tuned-noted"
    shutil.copytree(made / "tuned-phrase", folder)
    path = folder / TUNE_RECORD / RESULT
    path.write_text(json.dumps(seal({**unseal(json.loads(path.read_text("utf-8")), "run"), "notes": notes})), "utf-8")
    shown = load_tuned(folder, files(made), n_trials=20).notes
    assert shown == ["rounds 1-3, 7: 1 feature never differs", "round 2: <b>", "no round: x"]


def test_what_tune_recorded_of_a_test_set_is_shown_and_hostile_text_stays_text(made, tmp_path):
    folder = made / "tuned-phrase" / TUNE_RECORD / TEST
    try:
        hostile = [text.replace("\u2028", " ").replace("\u2029", " ") for text in HOSTILE] + ["[/b] [red]x"]
        BeforeAfter(
            source=hostile, references=[hostile[::-1]], before=hostile, after=hostile[::-1], tokenizer=Tokenizer.T13A
        ).save(folder)
        found = load_tuned(made / "tuned-phrase", n_trials=20)
        assert found.sets[0].pair.tokenizer is Tokenizer.T13A
        out = write_tuned_page(found, tmp_path / "page.html")
        page = read(out)
        assert len(page.scripts) == 1
        for tag, attrs in page.tags:
            assert tag not in {"img", "link", "iframe"}
            assert not [name for name in attrs if name.startswith("on") or name == "src"]
        for text in (HOSTILE[0], HOSTILE[1], "[/b] [red]x"):
            assert text in page.text
        assert not re.search("[\u202a-\u202e\x1b]", out.read_text(encoding="utf-8"))
    finally:
        for path in folder.iterdir():
            path.unlink()


def edited(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def resealed(folder, counting):
    """As `save` would write it, but for what it says."""
    Format("dragoman-before-after", 1, "record of a tuning", "set.json").write(
        folder, [path.name for path in folder.glob("*.txt")], {"counting": counting}
    )


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "set.json").write_text("{}"), "set.json: lists no checksums"),
        (
            lambda folder: (folder / "set.json").write_text('{"tokenizer": "none", "lowercase": false}'),
            "set.json: lists no checksums: it was made by an older version",
        ),
        (lambda folder: resealed(folder, {"lowercase": False}), "lacks 'tokenizer'"),
        (lambda folder: resealed(folder, {"tokenizer": "x", "lowercase": False}), "no tokenizer"),
        (lambda folder: edited(folder / "set.json", "false", "true"), "set.json: does not match its checksum"),
        (lambda folder: edited(folder / "after.txt", "b", "x"), "after.txt: does not match its checksum"),
        (lambda folder: edited(folder / "source.txt", "b", "bb"), "source.txt: has 5 bytes, 4 were expected"),
        (lambda folder: (folder / "reference.0.txt").unlink(), "reference.0.txt: cannot be read"),
    ],
)
def test_a_damaged_record_is_named(tmp_path, damage, message):
    pair = BeforeAfter(source=["a", "b"], references=[["a", "b"]], before=["a", "b"], after=["b", "a"])
    pair.save(tmp_path)
    assert BeforeAfter.load(tmp_path) == BeforeAfter(
        source=["a", "b"], references=[["a", "b"]], before=["a", "b"], after=["b", "a"]
    )
    damage(tmp_path)
    with pytest.raises(InputError, match=message):
        BeforeAfter.load(tmp_path)


def test_a_folder_without_a_tuning_is_refused(made):
    assert is_tuned(made / "tuned-phrase")
    assert not is_tuned(made / "phrase")
    with pytest.raises(InputError, match="no tuned system"):
        load_tuned(made / "phrase")
    short = TestFiles(source=made / "dev.de", references=[made / "train.en"])
    with pytest.raises(InputError, match=r"dev\.de has 10 lines but the references have 200"):
        load_tuned(made / "tuned-phrase", short)


def test_a_tuning_that_changed_nothing_says_so(made, tmp_path):
    folder = made / "same"
    shutil.copytree(made / "tuned-phrase", folder)
    kept = BeforeAfter.load(folder / TUNE_RECORD / DEVELOPMENT)
    replace(kept, after=kept.before).save(folder / TUNE_RECORD / DEVELOPMENT)
    found = load_tuned(folder, n_trials=20)
    (dev,) = found.sets
    assert dev.n_changed == 0
    assert dev.said("bleu").startswith("On the development set no translation changed: BLEU is ")
    assert "No translation changed." in read(write_tuned_page(found, tmp_path / "page.html")).text


def test_edited_translations_and_weights_are_not_reported(made, tmp_path):
    """The headline rests on them: of a page, and of what `serve --run` shows."""
    for name, old, new in (
        (f"{DEVELOPMENT}/after.txt", " ", "  x "),
        ("rounds/0001/round.json", "0.", "0.9"),
        ("rounds/0002/weights.tsv", "\t", "\t1"),
        ("result.json", "0.", "0.9"),
    ):
        folder = tmp_path / name.replace("/", "-")
        shutil.copytree(made / "tuned-phrase", folder / "tuned", symlinks=True)
        (folder / "phrase").symlink_to(made / "phrase")
        load_tuned(folder / "tuned")
        read_recorded(folder / "tuned")
        edited(folder / "tuned" / TUNE_RECORD / name, old, new)
        with pytest.raises(InputError, match=f"{name}: (has|does not match)"):
            read_recorded(folder / "tuned")
        if not name.startswith("rounds"):
            with pytest.raises(InputError, match=f"{name}: (has|does not match)"):
                load_tuned(folder / "tuned")
