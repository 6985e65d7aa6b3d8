"""Systems: training, loading, damage, folds, tuned systems, Moses' files."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from tests.kit.small_text import write_lines, write_splits

from dragoman.align import read_pharaoh, write_pharaoh
from dragoman.align.links import Alignment
from dragoman.corpus import Bitext
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.lm import EstimateConfig
from dragoman.system import (
    REORDERING,
    PhraseSettings,
    Silent,
    System,
    SystemSettings,
    TextSettings,
    TrainConfig,
    TranslationJob,
    export_system,
    import_system,
    reordering_by_name,
    save_tuned,
    train,
)

N_FOLDS = 3


def settings(**changes):
    languages = TextSettings(source_language="de", target_language="en", lowercase=True)
    return SystemSettings(text=languages, **changes)


def config(**changes):
    return TrainConfig(settings=settings(**changes), lm=EstimateConfig(order=3))


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    write_splits(folder, 400, 20, 20, seed=1)
    return folder


@pytest.fixture(scope="module")
def built(text, tmp_path_factory):
    out = tmp_path_factory.mktemp("systems") / "system"
    return train(text / "train.de", text / "train.en", out, config=config(n_folds=N_FOLDS), n_threads=2)


@pytest.fixture
def system(built, tmp_path):
    """A copy that a test may damage."""
    shutil.copytree(built.folder, tmp_path / "system")
    return System.load(tmp_path / "system")


@pytest.fixture(scope="module")
def sources(text):
    return (text / "test.de").read_text(encoding="utf-8").splitlines()


def test_translates_line_by_line_and_keeps_empty_lines(built, sources):
    lines = ["", sources[0], "  ", "qwertz", sources[1]]
    found = list(built.translate(lines))
    assert len(found) == len(lines)
    assert found[0] == found[2] == ""
    assert found[3] == "qwertz"
    assert [found[1], found[4]] == list(built.translate(sources[:2], n_threads=2))
    assert len(set(found[1].split()) & {"the", "a", "."}) >= 1


def test_nothing_of_the_training_is_left_but_its_record(built):
    assert sorted(path.name for path in built.folder.iterdir()) == sorted(
        [
            "source.counts",
            "target.counts",
            "grammar",
            "lm.bin",
            *(f"lm.fold-{k}.bin" for k in range(N_FOLDS)),
            "system.json",
            "train",
            "training",
            "weights.tsv",
        ]
    )
    assert {path.name for path in (built.folder / "train").iterdir()} == {"lock", "run.json", "trace.jsonl"}
    names = [stage["name"] for stage in built.manifest.about["stages"]]
    assert names[:4] == ["corpus", "alignment", "grammar", "language model"]
    assert all(stage["peak_bytes"] > 1 << 20 for stage in built.manifest.about["stages"])


@pytest.mark.parametrize("stop_at", ["alignment", "grammar", "language model"])
def test_a_stopped_training_goes_on_to_the_same_system(text, built, tmp_path, stop_at):
    class StoppedError(Exception):
        pass

    class Killer(Silent):
        def say(self, message):
            if message.startswith(f"{stop_at}:"):
                raise StoppedError

    files = text / "train.de", text / "train.en", tmp_path / "s"
    with pytest.raises(StoppedError):
        train(*files, config=config(n_folds=N_FOLDS), monitor=Killer())
    (tmp_path / "s" / ".grammar.left").mkdir()
    (tmp_path / "s" / "grammar").mkdir(exist_ok=True)  # made, but not logged, when the kill came
    (tmp_path / "s" / ".training.left").mkdir()
    (tmp_path / "s" / "training" / ".links.zst.left").touch()
    with pytest.raises(InputError, match="`resume=True`"):
        train(*files, config=config(n_folds=N_FOLDS))
    with pytest.raises(InputError, match="other settings .settings.n_folds."):
        train(*files, config=config(n_folds=2), resume=True)
    said = []

    class Watcher(Silent):
        def say(self, message):
            said.append(message)

    resumed = train(*files, config=config(n_folds=N_FOLDS), resume=True, monitor=Watcher())
    assert f"{stop_at}: done before" in said
    mine = {name: record.blake2b for name, record in resumed.manifest.files.items()}
    assert mine == {name: record.blake2b for name, record in built.manifest.files.items()}
    assert not [*(tmp_path / "s").glob(".*"), *(tmp_path / "s").glob("work")]
    again = train(*files, config=config(n_folds=N_FOLDS), resume=True)
    assert again.manifest == resumed.manifest


def test_an_occupied_place_is_refused(text, tmp_path, built):
    with pytest.raises(InputError, match="holds a system"):
        train(text / "train.de", text / "train.en", built.folder)
    write_lines(tmp_path / "mine.txt", ["mine"])
    with pytest.raises(InputError, match="not empty"):
        train(text / "train.de", text / "train.en", tmp_path)
    with pytest.raises(InputError, match="folder"):
        train(text / "train.de", text / "train.en", tmp_path / "mine.txt")


@pytest.mark.parametrize(
    "name",
    [
        *("lm.bin", "weights.tsv", "source.counts", "grammar/manifest.json", "grammar/events", "lm.fold-1.bin"),
        *("training/manifest.json", "training/source.ids", "training/folds", "training/links.zst"),
    ],
)
def test_a_cut_file_is_noticed_when_loading(system, name):
    path = system.folder / name
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(InputError, match=r"damaged"):
        System.load(system.folder)


@pytest.mark.parametrize(
    "name", ["lm.bin", "grammar/events", "grammar/target.vocab", "training/target.ids", "training/links.zst"]
)
def test_verify_notices_a_changed_byte(system, name):
    assert len(System.verify(system.folder)) > 30
    path = system.folder / name
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="damaged"):
        System.verify(system.folder)


def test_what_is_not_a_system(system, tmp_path):
    with pytest.raises(InputError, match="not a system"):
        System.load(tmp_path / "nowhere")
    manifest = system.folder / "system.json"
    good = json.loads(manifest.read_text(encoding="utf-8"))
    bad = [
        "{",
        "[]",
        json.dumps(good | {"version": 99}),
        json.dumps(good | {"settings": {"model": "dream"}}),
        json.dumps(good | {"files": {"lm": {}}}),
        json.dumps({**good, "files": {**good["files"], "lm": {**good["files"]["lm"], "path": "/etc/passwd"}}}),
    ]
    for content in bad:
        manifest.write_text(content, encoding="utf-8")
        with pytest.raises(InputError):
            System.load(system.folder)


def test_a_fold_is_as_if_its_sentences_had_never_been_there(text, built, sources, tmp_path):
    bitext = Bitext.build(text / "train.de", text / "train.en", tmp_path / "b", n_folds=N_FOLDS, seed=0)
    assert set(bitext.folds.tolist()) == set(range(N_FOLDS))
    whole = train(
        text / "train.de", text / "train.en", tmp_path / "whole", alignment=diagonal(bitext, tmp_path / "all"),
        config=config(n_folds=N_FOLDS),
    )  # fmt: skip
    kept = np.flatnonzero(bitext.folds != 1).tolist()
    pairs = list(bitext)
    for side, name in enumerate(("de", "en")):
        write_lines(tmp_path / f"part.{name}", [pairs[i][side] for i in kept])
    links = list(read_pharaoh(tmp_path / "all"))
    write_pharaoh(tmp_path / "part", Alignment.of([links[i] for i in kept]))
    part = train(
        tmp_path / "part.de", tmp_path / "part.en", tmp_path / "p", alignment=tmp_path / "part", config=config()
    )
    view = whole.view(1)
    assert list(view.translate(sources)) == list(part.translate(sources)) != list(whole.translate(sources))
    for sentence in sources[:5]:
        mine, other = (v.explain(sentence).features for v in (view, part))
        assert [item.name for item in mine] == [item.name for item in other]
        assert np.allclose([item.value for item in mine], [item.value for item in other], atol=1e-4)
    with pytest.raises(InputError, match="no fold 3"):
        whole.view(3)
    with pytest.raises(InputError, match="`n_folds`"):
        part.view(0)


def diagonal(bitext, path):
    rows = [[(i, i) for i in range(min(len(bitext.source[k]), len(bitext.target[k])))] for k in range(len(bitext))]
    write_pharaoh(path, Alignment.of(rows))
    return path


def test_an_explanation_adds_up_to_the_score(built, sources):
    for sentence in [*sources[:6], "qwertz"]:
        found = built.explain(sentence)
        pool = built.kbest([sentence], 1)
        assert found.score == pytest.approx(pool.shards[0].totals[0], abs=1e-4)
        assert sum(item.contribution for item in found.features) == pytest.approx(found.score)
        assert sum(piece.score for piece in found.pieces) == pytest.approx(found.score, abs=1e-6)
        assert found.text == next(built.translate([sentence]))
        words = [word for piece in found.pieces for word in piece.target.split()]
        assert " ".join(words) == found.text
        covered = sorted(i for piece in found.pieces for i in range(*piece.span))
        assert covered == list(range(len(sentence.split())))
        assert all(s < len(sentence.split()) and t < len(words) for s, t in found.alignment)
        assert json.loads(json.dumps(found.to_json()))["text"] == found.text
        assert any(found.text in line for line in found.lines())
    assert built.explain(" ") is None


def test_decode_reads_a_live_buffer(built, sources):
    def n_words():
        return sum(len(built.decode(sentence, buffer).best(buffer).tokens()) for sentence in sources[:5])

    buffer = built.weights.values.copy()
    first = n_words()
    buffer[built.index.find("words")] = 8.0
    assert n_words() > first
    buffer[:] = built.weights.values
    assert n_words() == first


def test_kbest_is_a_pool_with_words_passed_through(built, sources):
    pool = built.kbest([sources[0], "", "qwertz äöü"], 10, round_number=2, first_sentence=7)
    (shard,) = pool.shards
    assert shard.sentence_ids.tolist() == [7, 8, 9]
    assert shard.source_lengths.tolist() == [len(sources[0].split()), 0, 2]
    assert set(shard.rounds.tolist()) == {2}
    texts = [pool.text(shard, c) for c in range(int(shard.sentences[2]), shard.n_candidates)]
    assert "qwertz äöü" in texts
    assert set(pool.dense_names()) >= {"lm", "words", "distortion", "reorder_fwd_d"}


def test_a_tuned_system_shares_its_parents_tables(system, sources, tmp_path):
    weights = Weights.from_dict(dict(system.weights.items()) | {"words": -3.0})
    tuned = save_tuned(system, tmp_path / "deep" / "tuned", weights, about={"method": "hand"})
    assert sorted(path.name for path in tuned.folder.iterdir()) == ["system.json", "weights.tsv"]
    assert list(tuned.translate(sources)) == list(system.translate(sources, weights=weights))
    second = save_tuned(tuned, tmp_path / "second", system.weights)
    assert list(second.translate(sources)) == list(system.translate(sources))
    assert len(System.verify(tuned.folder)) > 30
    with pytest.raises(InputError, match="holds a system"):
        save_tuned(system, tuned.folder, weights)
    with pytest.raises(InputError, match="not finite"):
        save_tuned(system, tmp_path / "nan", Weights.from_dict({"lm": float("nan")}))
    # Both may move together.
    (tmp_path / "elsewhere").mkdir()
    for name in ("system", "deep"):
        (tmp_path / name).rename(tmp_path / "elsewhere" / name)
    moved = System.load(tmp_path / "elsewhere" / "deep" / "tuned")
    assert list(moved.translate(sources[:3])) == list(tuned.translate(sources[:3]))
    with pytest.raises(InputError, match="parent system is gone"):
        System.load(tmp_path / "second")
    parent = tmp_path / "elsewhere" / "system" / "lm.bin"
    parent.write_bytes(parent.read_bytes() + b"x")
    with pytest.raises(InputError, match="parent system has changed"):
        System.load(moved.folder)


def test_moses_files_there_and_back(built, sources, tmp_path):
    export_system(built, tmp_path / "moses")
    back = import_system(tmp_path / "moses", tmp_path / "back")
    assert back.settings.model.distortion_limit == built.settings.model.distortion_limit
    assert dict(back.weights.items()) == pytest.approx(dict(built.weights.items()))
    assert list(back.translate(sources)) == list(built.translate(sources))
    ini = (tmp_path / "moses" / "moses.ini").read_text(encoding="utf-8")
    assert "type=hier-msd-bidirectional-fe-allff" in ini
    (tmp_path / "moses" / "reordering-table.gz").unlink()
    with pytest.raises(InputError, match="LexicalReordering|folds"):
        import_system(tmp_path / "moses", tmp_path / "plain").view(0)
    (tmp_path / "moses" / "phrase-table.gz").unlink()
    with pytest.raises(InputError, match="phrase-table"):
        import_system(tmp_path / "moses", tmp_path / "none")


@pytest.mark.parametrize("name", REORDERING)
def test_reordering_models_translate(text, sources, tmp_path, name):
    links = diagonal(Bitext.build(text / "train.de", text / "train.en", tmp_path / "b"), tmp_path / "links")
    files = text / "train.de", text / "train.en", tmp_path / "s"
    system = train(*files, alignment=links, config=config(model=PhraseSettings(reordering=reordering_by_name(name))))
    found = system.explain(sources[0])
    used = {item.name for item in found.features if item.name.startswith(("reorder_", "hrm_"))}
    assert bool(used) == (name != "none")
    assert {item.split("_")[0] for item in used} == (
        {"reorder", "hrm"} if name == "msd+hrm" else {"reorder"} if used else set()
    )


def test_a_system_of_tokens_takes_raw_text_as_moses_does(text, built, tmp_path):
    raw = built.lines(raw=True)
    assert raw.prepare("Der Hund, sieht's!") == "der hund , sieht ' s !"
    assert raw.restore("the dog , sees it .", "Der Hund, sieht's.") == "The dog, sees it."
    assert raw.restore("open firefox , der", "Der GNOME öffnet Firefox.") == "Open Firefox, der"
    (found,) = TranslationJob(view=built, weights=built.weights, raw=True).open(1)(
        ['Der Hund sieht http://a.b/?c=1, <i class="x y">%s</i> und /etc/fstab.']
    )
    for span in ("http://a.b/?c=1", '<i class="x y">', "%s", "</i>", "/etc/fstab"):
        assert found.count(span) == 1
    unnamed = train(text / "train.de", text / "train.en", tmp_path / "t")
    assert not unnamed.settings.text.raw
    with pytest.raises(InputError, match="`languages=de-en`"):
        unnamed.lines(raw=True)
    assert unnamed.lines(raw=True, languages="de-en").prepare("Gut, ja!") == "Gut , ja !"
    with pytest.raises(InputError, match="`lowercase` belongs to raw text"):
        config = TrainConfig(settings=SystemSettings(text=TextSettings(lowercase=True)))
        train(text / "train.de", text / "train.en", tmp_path / "u", config=config)


def test_a_training_that_fails_at_once_leaves_nothing(text, tmp_path):
    write_lines(tmp_path / "short", ["one line"])
    with pytest.raises(InputError, match="400"):
        train(text / "train.de", tmp_path / "short", tmp_path / "s")
    assert not (tmp_path / "s").exists()
    with pytest.raises(InputError, match="cannot be read"):
        train(text / "train.de", tmp_path / "missing", tmp_path / "s")


def test_sparse_features_are_chosen_at_training(text, sources, tmp_path):
    with pytest.raises(InputError, match="unknown template"):
        train(text / "train.de", text / "train.en", tmp_path / "s", config=config(features=("wishes",)))
    assert not (tmp_path / "s").exists()
    chosen = config(features=("word_pair(top=5)",))
    system = train(text / "train.de", text / "train.en", tmp_path / "s", config=chosen)
    names = {item.name for item in system.explain(sources[0]).features}
    assert any(name.startswith("word_pair:") for name in names)
    words = {word for name in names if name.startswith("word_pair:") for word in name[10:].split(",")}
    assert len(words - {"<other>", "<unaligned>"}) <= 10


def test_folds_need_our_own_language_models(text, tmp_path):
    with pytest.raises(InputError, match="folds"):
        train(text / "train.de", text / "train.en", tmp_path / "s", lm="x.arpa", config=config(n_folds=2))
