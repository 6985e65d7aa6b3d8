"""The training text of a system with folds, and its lists: each line by a system that has not seen it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.small_text import write_lines, write_splits

from dragoman.align import write_pharaoh
from dragoman.align.links import Alignment
from dragoman.candidates import with_metric
from dragoman.errors import InputError, MismatchError
from dragoman.features import FeatureIndex, Weights
from dragoman.lm import EstimateConfig, TrainingText, estimate
from dragoman.metric import Bleu, Tokenizer, by_name
from dragoman.system import (
    SHARD_LINES,
    FoldDecoder,
    HieroSettings,
    LiveDecoder,
    PhraseSettings,
    Preset,
    System,
    SystemSettings,
    TrainConfig,
    reordering_by_name,
    save_tuned,
    shards,
    train,
)

K = 20
FOLD = 1
MODELS = {
    "phrase": PhraseSettings(reordering=reordering_by_name("hrm")),
    "hiero": HieroSettings(),
}


FEATURES = {
    "phrase": (
        "rule_id",
        "discount",
        "source_length",
        "joint_length",
        "word_pair(top=1000000)",
        "word_context(top=0)",
        "reorder_local(top=1000000)",
    ),
    "hiero": ("rule_id", "discount", "rule_shape", "structural_distortion", "word_context(top=0)"),
}


def config(kind, n_folds=1):
    settings = SystemSettings(model=MODELS[kind], n_folds=n_folds, features=FEATURES[kind])
    return TrainConfig(settings=settings, lm=EstimateConfig(order=3))


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    write_splits(folder, 300, 1, 1, seed=3)
    for side in ("de", "en"):  # words of one line alone, the last one the same on both sides
        path = folder / f"train.{side}"
        lines = path.read_text(encoding="utf-8").splitlines()
        write_lines(path, [f"{line} nur{side}{i} hapax{i}" if i % 7 == 0 else line for i, line in enumerate(lines)])
    write_lines(folder / "domains", ["mo" if i % 3 else "news" for i in range(300)])
    write_lines(folder / "mono.en", ["hapax7 is here .", "the other text has words of its own ."] * 3)
    return folder


@pytest.fixture(scope="module", params=MODELS)
def built(request, text, tmp_path_factory):
    """A system with folds, and one trained afresh without the lines of a fold, on the same alignment."""
    base = tmp_path_factory.mktemp(request.param)
    kind = request.param
    files = text / "train.de", text / "train.en"
    more = {"lm_text": [text / "mono.en"]} if kind == "phrase" else {}
    system = train(*files, base / "s", domains=text / "domains", config=config(kind, 3), n_threads=2, **more)
    lines = system.training
    kept = np.flatnonzero(lines.folds != FOLD).tolist()
    write_lines(base / "de", [lines.source(i) for i in kept])
    write_lines(base / "en", [lines.target(i) for i in kept])
    links = list(lines.links)
    write_pharaoh(base / "links", Alignment.of([links[i] for i in kept]))
    lm_text = [text / "mono.en", base / "en"] if more else []
    fresh = train(
        base / "de", base / "en", base / "fresh", alignment=base / "links", lm_text=lm_text, config=config(kind)
    )
    return system, fresh


def candidates(pool):
    """Of every sentence: words, total and features by name of each candidate, the best first."""
    shard, found = pool.shards[0], []
    for s in range(shard.n_sentences):
        found.append([])
        for c in range(shard.sentences[s], shard.sentences[s + 1]):
            row = slice(shard.feature_rows[c], shard.feature_rows[c + 1])
            names = pool.index.names(shard.feature_ids[row])
            features = dict(sorted(zip(names, shard.feature_values[row].tolist(), strict=True)))
            found[-1].append((pool.text(shard, c), float(shard.totals[c]), features))
    return found


def test_lists_of_a_fold_are_those_of_a_system_trained_without_it(built):
    system, fresh = built
    lines = np.flatnonzero(system.training.folds == FOLD)[:40]
    pool = FoldDecoder(system).kbest(lines, system.weights, K)
    assert pool.shards[0].sentence_ids.tolist() == lines.tolist()
    theirs = fresh.kbest([system.training.source(i) for i in lines.tolist()], K)
    mine, other = candidates(pool), candidates(theirs)
    assert mine == other
    alone = [place for place, line in enumerate(lines.tolist()) if line % 7 == 0]
    assert alone, "no line of the fold has words of its own"
    for place in alone:
        assert all(f"hapax{lines[place]}" in text for text, _, _ in mine[place])
        assert all(features["unknown"] >= 2 for _, _, features in mine[place])


def test_a_shard_is_in_line_order_whoever_decoded_it(built):
    system, _ = built
    decoder, lines = FoldDecoder(system), np.arange(40, dtype=np.int64)
    assert len(set(system.training.folds[lines].tolist())) == 3
    pool = decoder.kbest(lines, system.weights, 5, distinct=True, n_threads=3, derivations=True)
    shard = pool.shards[0]
    assert shard.sentence_ids.tolist() == lines.tolist()
    assert shard.source_lengths.tolist() == [len(system.training.source(i).split()) for i in range(40)]
    assert shard.derivations is not None
    mine = candidates(pool)
    for line in (0, 1, 17, 39):
        view = system.view(int(system.training.folds[line]))
        assert [text for text, _, _ in mine[line]] == [
            text for text, _, _ in candidates(view.kbest([system.training.source(line)], 5, distinct=True))[0]
        ]
    # The same whatever was decoded before, and however many threads there are.
    fresh = FoldDecoder(System.load(system.folder)).kbest(lines, system.weights, 5, distinct=True)
    assert candidates(fresh) == mine
    assert [fresh.words.word(i) for i in range(len(fresh.words))] == [
        pool.words.word(i) for i in range(len(pool.words))
    ]
    assert np.array_equal(fresh.shards[0].tokens, shard.tokens)


METRICS = [
    *(by_name(name) for name in ("bleu", "ter", "chrf", "chrf++", "0.5*bleu - 0.5*ter")),
    Bleu(tokenizer=Tokenizer.T13A),
    Bleu(lowercase=True),
]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.signature(1))
def test_statistics_are_those_against_the_text(built, metric):
    system, _ = built
    decoder, lines = FoldDecoder(system, preset=Preset.FAST), np.array([0, 3, 7, 21, 22])
    pool = decoder.kbest(lines, system.weights, 10)
    mine = decoder.measured(pool, metric, n_threads=2)
    references = [[system.training.target(i)] for i in range(len(system.training))]
    theirs = with_metric(pool, metric, references, allow_missing=True)
    assert mine.metric == metric
    assert np.array_equal(mine.shards[0].stats, theirs.shards[0].stats)
    assert mine.shards[0].stats.shape == (pool.n_candidates, metric.n_stats)


def test_who_has_seen_a_line_translates_it_better(built):
    system, _ = built
    lines, bleu = np.arange(30, dtype=np.int64), by_name("bleu")
    scores = []
    for all_data in (False, True):
        decoder = FoldDecoder(system, all_data=all_data, preset=Preset.FAST)
        pool = decoder.measured(decoder.kbest(lines, system.weights, 1), bleu)
        scores.append(float(bleu.score_of(pool.shards[0].stats.sum(axis=0))))
    assert scores[1] > scores[0] + 0.1


def test_the_training_text_is_kept(built, text):
    system, fresh = built
    lines = system.training
    assert len(lines) == 300 == len(lines.folds)
    for side, of in (("de", lines.source), ("en", lines.target)):
        assert (text / f"train.{side}").read_text(encoding="utf-8").splitlines() == [of(i) for i in range(300)]
    assert len(lines.links) == 300
    assert lines.source_ids.vocab is system.grammar.source_vocab
    about = system.manifest.about
    assert (about["n_lines"], about["domains"]) == (300, {"news": 100, "mo": 200})
    assert about["fold_lines"] == np.bincount(lines.folds).tolist()
    with pytest.raises(InputError, match="`n_folds`"):
        _ = fresh.training
    with pytest.raises(InputError, match="`n_folds`"):
        FoldDecoder(fresh)


def test_words_of_one_fold(built):
    lines = built[0].training
    found = lines.only_fold
    expected: dict[int, set[int]] = {word: set() for word in range(len(found))}
    for i in range(len(lines)):
        for word in lines.source_ids[i].tolist():
            expected[word].add(int(lines.folds[i]))
    assert found.tolist() == [folds.pop() if len(folds) == 1 else 255 for folds in expected.values()]


def test_lines_are_selected_by_domain_and_number(built):
    lines = built[0].training
    assert lines.select().tolist() == list(range(300))
    assert lines.select(where="news", limit=4).tolist() == [0, 3, 6, 9]
    assert lines.select(where="!news", limit=4).tolist() == [1, 2, 4, 5]
    with pytest.raises(InputError, match="no domain 'sport'; it has: news, mo"):
        lines.select(where="sport")
    with pytest.raises(InputError, match="at least 1"):
        lines.select(limit=0)
    assert [len(block) for block in shards(np.arange(2 * SHARD_LINES + 1))] == [SHARD_LINES, SHARD_LINES, 1]


def test_a_tuned_system_has_its_parent_s_training_text(built, tmp_path):
    system, _ = built
    weights = Weights.from_dict({**dict(system.weights.items()), "lm": 2.0})
    tuned = save_tuned(system, tmp_path / "tuned", weights)
    assert not (tmp_path / "tuned" / "training").exists()
    assert tuned.training.source(7) == system.training.source(7)
    assert len(System.verify(tuned.folder)) == len(System.verify(system.folder))


def test_other_text_joins_the_language_model_of_every_fold(text, tmp_path):
    system = train(
        text / "train.de", text / "train.en", tmp_path / "s", lm_text=[text / "mono.en"], config=config("phrase", 2)
    )
    lines = system.training
    for fold in (None, 0, 1):
        expected = TrainingText()
        expected.add_file(text / "mono.en")
        expected.add_lines(lines.target(i) for i in range(300) if lines.folds[i] != fold)
        theirs, mine = estimate(expected, EstimateConfig(order=3)).model, system.lm(fold)
        assert mine.n_ngrams == theirs.n_ngrams
        sentences = [lines.target(i) for i in range(20)] + ["hapax7 is of its own ."]
        assert [mine.score(s) for s in sentences] == [theirs.score(s) for s in sentences]
    assert "hapax7" in system.lm(int(lines.folds[7])).vocab
    assert "hapax14" not in system.lm(int(lines.folds[14])).vocab


def test_wrong_domains_are_refused(text, tmp_path):
    files = text / "train.de", text / "train.en"
    with pytest.raises(MismatchError, match=r"train.de has 300, .*short has 2"):
        train(*files, tmp_path / "a", domains=write_lines(tmp_path / "short", "ab"), config=config("phrase", 2))
    with pytest.raises(InputError, match="line 2: .* but the line is empty"):
        train(
            *files,
            tmp_path / "b",
            domains=write_lines(tmp_path / "e", ["a", "", *"a" * 298]),
            config=config("phrase", 2),
        )
    with pytest.raises(InputError, match="but '!a' begins with an exclamation mark"):
        train(*files, tmp_path / "c", domains=write_lines(tmp_path / "f", ["!a"] * 300), config=config("phrase", 2))
    with pytest.raises(InputError, match="`n_folds`"):
        train(*files, tmp_path / "d", domains=text / "domains", config=config("phrase"))


def test_a_fold_must_leave_something(tmp_path):
    files = write_lines(tmp_path / "de", ["ein haus"] * 5), write_lines(tmp_path / "en", ["a house"] * 5)
    with pytest.raises(InputError, match="all 5 training lines are in fold"):
        train(*files, tmp_path / "s", config=config("phrase", 2))
    assert not (tmp_path / "s").exists()


def test_lines_without_words(tmp_path):
    lines = ["", "ein haus", "das haus", "ein hund", "der hund", ""]
    files = write_lines(tmp_path / "de", lines), write_lines(tmp_path / "en", [line.upper() for line in lines])
    system = train(*files, tmp_path / "s", config=config("phrase", 2))
    decoder = FoldDecoder(system)
    for chosen in ([0], [0, 1, 5], [4]):
        pool = decoder.measured(decoder.kbest(np.array(chosen), system.weights, 3), by_name("bleu"))
        assert pool.shards[0].sentence_ids.tolist() == chosen
        assert (pool.text(pool.shards[0], 0) == "") == (chosen[0] == 0)
    assert decoder.kbest(np.zeros(0, np.int64), system.weights, 3).n_sentences == 0


def test_lines_are_drawn_evenly_from_all_folds(built):
    training = built[0].training
    n, n_folds = len(training), training.n_folds
    assert training.evenly().tolist() == list(range(n)) == training.evenly(n + 1).tolist()
    sizes = np.bincount(training.folds, minlength=n_folds)
    for limit in range(1, n, 7):
        lines = training.evenly(limit)
        assert len(lines) == limit == len(np.unique(lines))
        drawn = np.bincount(training.folds[lines], minlength=n_folds)
        share = next(d for d in range(n + 1) if np.minimum(sizes, d + 1).sum() > limit)
        assert ((np.minimum(sizes, share) <= drawn) & (drawn <= np.minimum(sizes, share + 1))).all()
    with pytest.raises(InputError, match="at least 1"):
        training.evenly(0)


def test_lines_of_a_fold_are_drawn_by_seed(built):
    training = built[0].training
    lines = np.flatnonzero(training.folds == FOLD)
    assert training.of_fold(FOLD).tolist() == lines.tolist() == training.of_fold(FOLD, len(lines)).tolist()
    drawn = training.of_fold(FOLD, 4, seed=1)
    assert len(np.unique(drawn)) == 4
    assert np.isin(drawn, lines).all()
    assert (np.diff(drawn) > 0).all()
    assert len({tuple(training.of_fold(FOLD, 4, seed=seed)) for seed in range(5)}) > 1
    with pytest.raises(InputError, match=f"has {len(lines)} lines; {len(lines) + 1} cannot be drawn"):
        training.of_fold(FOLD, len(lines) + 1)


def test_a_live_decoder_of_lines_finds_what_the_fold_decoder_does(built):
    system, _ = built
    lines = np.flatnonzero(system.training.folds == FOLD)[:8]
    wanted = FoldDecoder(system).kbest(lines, system.weights, K)
    view = system.view_on(FeatureIndex(), FOLD)
    live = LiveDecoder(view, [system.training.encoded(lines[i : i + 1], FOLD) for i in range(len(lines))])
    values = view.weights.on(live.index).values
    found = live.pool_of([live.kbest(i, values, K) for i in range(len(lines))])
    assert live.lengths.tolist() == [len(system.training.source(line).split()) for line in lines.tolist()]
    assert candidates(found) == candidates(wanted)
