"""Every feature for candidates equals its slow twin, whole and in blocks, for any number of threads."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tests.kit import rescoring_twin as twin
from tests.kit.small_raw import write_raw_splits
from tests.kit.small_text import write_lines

from dragoman.candidates import model_totals, read_nbest
from dragoman.candidates.features import CANDIDATE_FEATURES, add, add_candidate_features, describe_candidates
from dragoman.errors import InputError, MismatchError
from dragoman.features import Weights
from dragoman.grammar import Reordering
from dragoman.lm import EstimateConfig, LanguageModel
from dragoman.system import PhraseSettings, SystemSettings, TrainConfig, train

FOREIGN = ["das", "haus", "ist", "alt", "3", "(", ")", ".", "neu", "kiko", "7"]
OWN = ["the", "house", "is", "old", "3", "(", ")", ".", "new", "kiko", "Tom", "42"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Lists, their source, and a system on text with a known alignment."""
    folder = tmp_path_factory.mktemp("rescoring")
    rng = np.random.default_rng(5)
    sources, targets, links = [], [], []
    for _ in range(60):
        n, m = rng.integers(1, 7, size=2)
        sources.append(" ".join(rng.choice(FOREIGN[:8], size=n)))
        targets.append(" ".join(rng.choice(OWN[:9], size=m)))
        pairs = {(int(rng.integers(n)), int(rng.integers(m))) for _ in range(rng.integers(0, 5))}
        links.append(" ".join(f"{i}-{j}" for i, j in sorted(pairs)))
    for name, lines in (("f", sources), ("e", targets), ("a", links)):
        write_lines(folder / name, lines)
    config = TrainConfig(settings=SystemSettings(model=PhraseSettings()), lm=EstimateConfig(order=2))
    train(folder / "f", folder / "e", folder / "system", alignment=folder / "a", config=config)
    tests = [" ".join(rng.choice(FOREIGN, size=rng.integers(0, 6))) for _ in range(9)]
    write_lines(folder / "source", tests)
    lines = []
    for s in range(len(tests)):
        for _ in range(rng.integers(1, 7)):
            text = " ".join(rng.choice(OWN, size=rng.integers(0, 9)))
            features = {"l2r": round(float(-rng.random() * 9), 3)}
            scores = {"qe": None if rng.random() < 0.4 else float(rng.integers(9))}
            lines.append(json.dumps({"id": s, "text": text, "features": features, "scores": scores, "total": -1.5}))
    write_lines(folder / "list", lines)
    return folder


def lists(folder):
    rows = [json.loads(line) for line in (folder / "list").read_text().splitlines()]
    sources = (folder / "source").read_text().split("\n")[:-1]
    return rows, sources


def by_hand(folder, function):
    rows, sources = lists(folder)
    result = []
    for row in rows:
        texts = [other["text"] for other in rows if other["id"] == row["id"]]
        same = [i for i, other in enumerate(rows) if other["id"] == row["id"]]
        result.append(function(sources[row["id"]], texts, same.index(rows.index(row))))
    return np.array(result, dtype=float)


def added(folder, told, n_threads=1):
    """The columns that a feature adds to each candidate, in the order of the list."""
    _, sources = lists(folder)
    pool = add_candidate_features(read_nbest(folder / "list"), [told], sources, n_threads=n_threads)
    names = [name for name in pool.dense_names() if name != "l2r"]
    return names, np.stack([model_totals(pool, Weights.from_dict({name: 1.0}))[0] for name in names], axis=1)


def every(folder, told, n_threads=1):
    """All features of each candidate but the list's own, by name."""
    _, sources = lists(folder)
    pool = add_candidate_features(read_nbest(folder / "list"), [told], sources, n_threads=n_threads)
    (shard,) = pool.shards
    found = []
    for c in range(shard.n_candidates):
        row = slice(*shard.feature_rows[c : c + 2])
        names = pool.index.names(shard.feature_ids[row])
        values = shard.feature_values[row].tolist()
        found.append({name: value for name, value in zip(names, values, strict=True) if name != "l2r"})
    return found


def translations(folder):
    text = [(folder / name).read_text().split("\n")[:-1] for name in "fea"]
    return twin.Translations(*text)


def test_lengths(made):
    assert added(made, "length")[1] == pytest.approx(by_hand(made, twin.length), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("space", ["\u00a0", "\u3000", "\u2028", "\x0b", "\x85"])
def test_words_of_sources_end_at_ascii_spaces_alone(made, space):
    """Other spaces are letters of a word, as everywhere else: an unknown word of the source counts once."""
    pool = read_nbest(made / "list")
    told = ["length", "copies", *(f"{name}={made / 'system'}" for name in ("system", "word-pairs", "contexts"))]
    _, sources = lists(made)
    found = []
    for joint in (space, "_"):
        joined = [f"das haus{joint}3 Tom{joint}ist\t{source} " for source in sources]
        added = add_candidate_features(pool, told, joined)
        (shard,) = added.shards
        values = shard.feature_values.tolist()
        found.append(list(zip(added.index.names(shard.feature_ids), values, strict=True)))
    assert found[0] == found[1]
    assert {"length_ratio", "copied", "numbers_dropped", "m1_f_e"} <= {name for name, _ in found[0]}


def test_copies(made):
    names, values = added(made, "copies")
    assert names == ["copied", "numbers_added", "numbers_dropped"]
    expected = by_hand(made, twin.copies)
    assert np.array_equal(values, expected)
    assert (expected.max(axis=0) > 0).all()


def test_repeats(made):
    assert np.array_equal(added(made, "repeats")[1], by_hand(made, twin.repeats))


def test_word_translations(made):
    names, values = added(made, f"system={made / 'system'}")
    assert names == ["m1_e_f", "m1_e_f_best", "m1_f_e", "m1_f_e_best", "unlinked_e", "unlinked_f"]
    assert values == pytest.approx(by_hand(made, translations(made)), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("n", [3, 200])
@pytest.mark.parametrize(("name", "features"), [("word-pairs", twin.word_pairs), ("contexts", twin.contexts)])
def test_sparse_features_of_links(made, name, features, n):
    rows, sources = lists(made)
    table = translations(made)
    known = table.most_linked(n)
    expected = [dict(features(sources[row["id"]].split(), row["text"].split(), table, known)) for row in rows]
    assert every(made, f"{name}={made / 'system'}:{n}") == expected
    assert len({feature for found in expected for feature in found}) > 5
    assert any("<other>" in feature for found in expected for feature in found) or n == 200
    assert any("<unaligned>" in feature for found in expected for feature in found) or name == "contexts"
    if n == 200:
        assert every(made, f"{name}={made / 'system'}") == expected  # fewer words than either default


def test_sparse_features_are_tuned_and_written(made, tmp_path):
    _, sources = lists(made)
    told = [f"word-pairs={made / 'system'}", f"contexts={made / 'system'}", "length"]
    pool = add_candidate_features(read_nbest(made / "list"), told, sources)
    assert set(pool.dense_names()) == {"l2r", "length", "length_ratio", "length_ratio_squared"}
    done = describe_candidates(made / "list", tmp_path / "out", told, sources)
    assert {"linked…", "linked_context…", "length"} <= set(done.names)
    written = [json.loads(line)["features"] for line in (tmp_path / "out").read_text().splitlines()]
    both = [every(made, told[0]), every(made, told[1])]
    for row, *parts in zip(written, *both, strict=True):
        sparse = {name: value for name, value in row.items() if name.startswith("linked")}
        assert sparse == parts[0] | parts[1]
    weights = {name: 1.0 for part in both for row in part for name in row}
    again = read_nbest(tmp_path / "out")
    assert np.array_equal(
        model_totals(again, Weights.from_dict(weights))[0], model_totals(pool, Weights.from_dict(weights))[0]
    )
    with pytest.raises(InputError, match="'word-pairs' can be added once"):
        add_candidate_features(pool, [told[0], told[0]], sources)
    with pytest.raises(InputError, match="already have a feature 'linked"):
        add_candidate_features(pool, told[:1], sources)
    with pytest.raises(InputError, match="contexts|linked_context: needs a system"):
        add_candidate_features(pool, ["contexts"], sources)


def test_raw_lists_are_tokenised_as_the_system_was(tmp_path, monkeypatch):
    """Features of raw text by a raw system are those of its tokens by the same tables."""
    write_raw_splits(tmp_path, 150, 4, 4, seed=2)
    system = train(tmp_path / "train.de", tmp_path / "train.en", tmp_path / "raw", config=TrainConfig(raw=True))
    text = system.lines()
    raw = {
        "e": (tmp_path / "dev.de").read_text(encoding="utf-8").splitlines()[:2],
        "f": (tmp_path / "dev.en").read_text(encoding="utf-8").splitlines(),
    }
    tokens = [text.prepare(line) for line in raw["e"]]

    def written(name, lines):
        rows = [json.dumps({"id": i % 2, "text": line, "features": {"m": 1.0}}) for i, line in enumerate(lines)]
        return write_lines(tmp_path / name, sorted(rows, key=lambda row: json.loads(row)["id"]))

    told = [f"{name}={tmp_path / 'raw'}" for name in ("system", "lm", "word-pairs")]
    pool = add_candidate_features(read_nbest(written("list", raw["f"])), told, raw["e"])
    plain = written("tokens", [text.prepare_target(line) for line in raw["f"]])
    expected = add_candidate_features(read_nbest(plain), [f"lm={tmp_path / 'raw' / 'lm.bin'}"], tokens)
    names = expected.dense_names()
    assert [model_totals(pool, Weights.from_dict({n: 1.0}))[0].tolist() for n in names] == [
        model_totals(expected, Weights.from_dict({n: 1.0}))[0].tolist() for n in names
    ]
    assert (
        model_totals(expected, Weights.from_dict({"lm_score": 1.0}))[0].tolist()
        != model_totals(
            add_candidate_features(read_nbest(tmp_path / "list"), [f"lm={tmp_path / 'raw' / 'lm.bin'}"], raw["e"]),
            Weights.from_dict({"lm_score": 1.0}),
        )[0].tolist()
    )
    for module in ("translation", "linked_words", "system_text"):
        monkeypatch.setattr(f"dragoman.candidates.features.{module}.tokens_of", lambda system, block: block)
    again = add_candidate_features(read_nbest(plain), told, tokens)
    assert model_totals(pool, Weights.from_dict({"m1_e_f": 1.0}))[0].tolist() == pytest.approx(
        model_totals(again, Weights.from_dict({"m1_e_f": 1.0}))[0].tolist()
    )


def test_forced_derivations(made, tmp_path):
    settings = SystemSettings(model=PhraseSettings(reordering=(Reordering(),)))  # the twin has no blocks
    config = TrainConfig(settings=settings, lm=EstimateConfig(order=2))
    system = train(made / "f", made / "e", tmp_path / "system", alignment=made / "a", config=config)
    rows, sources = lists(made)
    own = [dict(rows[0], id=s, text=text) for s, text in enumerate(system.translate_tokens(sources))]
    rows = sorted([row for row in rows if len(row["text"].split()) < 6] + own, key=lambda row: row["id"])
    write_lines(tmp_path / "list", map(json.dumps, rows))
    write_lines(tmp_path / "source", sources)
    names, values = added(tmp_path, f"forced={tmp_path / 'system'}")
    forced = twin.Forced(system)
    assert values == pytest.approx(by_hand(tmp_path, forced), rel=1e-4, abs=1e-3)
    unreachable = values[:, names.index("forced_unreachable")]
    assert 0 < unreachable.mean() < 1
    assert ((values[:, -4:-1].sum(axis=1) > 0) == unreachable).all()


def test_language_model(made):
    lm = LanguageModel.load(made / "system" / "lm.bin")
    expected = by_hand(made, lambda source, texts, c: [lm.score(texts[c]), len(unknown(lm, texts[c]))])
    for path in (made / "system" / "lm.bin", made / "system"):
        assert added(made, f"lm={path}")[1] == pytest.approx(expected, rel=1e-5)


def unknown(lm, text):
    return [score for score in lm.full_scores(text) if score.oov]


def test_agreement(made):
    names, values = added(made, "agreement")
    assert names == [f"agree_{what}" for what in (1, 2, 3, 4, "bleu", "chrf")]
    assert values == pytest.approx(by_hand(made, twin.agreement), rel=1e-5, abs=1e-6)


def test_agreement_under_a_posterior(made):
    rows, _ = lists(made)

    def weighted(source, texts, c):
        own = [row for row in rows if [other["text"] for other in rows if other["id"] == row["id"]] == texts]
        mass = [math.exp(0.5 * row["features"]["l2r"]) for row in own]
        return twin.agreement(source, texts, c, [m / sum(mass) for m in mass])

    names, values = added(made, "agreement=l2r:0.5")
    assert names[0] == "agree_l2r_0.5_1"
    assert values == pytest.approx(by_hand(made, weighted), rel=1e-4, abs=1e-5)
    uniform = added(made, "agreement=total:2")[1]  # all totals are equal
    assert uniform == pytest.approx(added(made, "agreement")[1], rel=1e-6)


def test_named_scores(made):
    rows, _ = lists(made)

    def by_list(row):
        known = [r["scores"]["qe"] for r in rows if r["id"] == row["id"] and r["scores"]["qe"] is not None]
        score = row["scores"]["qe"]
        return [sum(known) / max(1, len(known)) if score is None else score, score is None]

    names, values = added(made, "score=qe")
    assert names == ["qe", "qe:absent"]
    assert values == pytest.approx(np.array([by_list(row) for row in rows], dtype=float), rel=1e-6)
    assert 0 < values[:, 1].sum() < len(rows)
    with pytest.raises(InputError, match="no score 'comet'; they have: qe"):
        added(made, "score=comet")


MARKS = [
    ("wo ?", "where ?", (0, 0, 0)),
    ("wo ?", "where .", (2, 1, 0)),
    ("那里 。", "there .", (0, 0, 0)),
    ("( a ) b", "( a b", (1, 0, 1)),
    ("a", ") b (", (2, 1, 2)),
    ("「 a 」", '" a "', (0, 0, 0)),
    ("a", "", (0, 0, 0)),
]


@pytest.mark.parametrize(("source", "text", "expected"), MARKS)
def test_punctuation(tmp_path, source, text, expected):
    write_lines(tmp_path / "list", [json.dumps({"id": 0, "text": text, "features": {"l2r": -1.0}})])
    write_lines(tmp_path / "source", [source])
    assert tuple(added(tmp_path, "punctuation")[1][0]) == expected


@pytest.mark.parametrize("name", CANDIDATE_FEATURES)
def test_blocks_and_threads_change_nothing(made, name, monkeypatch):
    of_system = {"forced", "lm", "system", "word-pairs", "contexts"}
    told = f"{name}={made / 'system'}" if name in of_system else {"score": "score=qe"}.get(name, name)
    whole = every(made, told)
    monkeypatch.setattr(add, "_BLOCK", 3)
    assert whole == every(made, told, n_threads=3)


def test_a_second_model_has_another_name(made):
    _, sources = lists(made)
    pool = add_candidate_features(read_nbest(made / "list"), [f"lm={made / 'system'}"] * 2, sources)
    assert pool.dense_names() == ["l2r", "lm_score", "lm_unknown", "lm_score_2", "lm_unknown_2"]


def test_files_are_streamed(made, tmp_path):
    """Line by line what a pool in memory has, though sentences end within blocks."""
    _, sources = lists(made)
    told = ["agreement", "length", f"system={made / 'system'}"]
    n = len((made / "list").read_text().splitlines())
    write_lines(tmp_path / "mine", ["mine\tcomet", *(f"{i}\t{-i / 2}" for i in range(n))])
    done = describe_candidates(made / "list", tmp_path / "out", told, sources, scores=[tmp_path / "mine"])
    assert (done.n_candidates, done.n_sentences, done.names[-2:]) == (n, 9, ("mine", "comet"))
    rows = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [row["text"] for row in rows] == [row["text"] for row in lists(made)[0]]
    assert [row["features"]["comet"] for row in rows] == [-i / 2 for i in range(n)]
    assert [row["total"] for row in rows] == [-1.5] * n
    assert [row["features"]["length"] for row in rows] == added(made, "length")[1][:, 0].tolist()


def test_what_does_not_fit_is_refused(made, tmp_path):
    _, sources = lists(made)
    pool = read_nbest(made / "list")
    for told, message in (
        ("nonsense", "there is no feature for candidates 'nonsense'; expected one of agreement"),
        ("lm", "lm needs a language model"),
        ("system", "system needs a system"),
        ("forced", "forced needs a system"),
        ("length=3", "length takes no argument"),
        ("agreement=l2r:x", "expected a feature and a scale"),
        ("agreement=nothing:1", "no feature 'nothing'"),
    ):
        with pytest.raises(InputError, match=message):
            add_candidate_features(pool, [told], sources)
    with pytest.raises(MismatchError, match="do they belong together"):
        add_candidate_features(pool, ["length"], sources[:3])
    with pytest.raises(InputError, match="already have a feature 'length'"):
        add_candidate_features(add_candidate_features(pool, ["length"], sources), ["length"], sources)
    for lines, message in (
        (["qe", "1"], "ends after 1 candidates"),
        (["qe", "x"], "line 2: expected 1 number"),
        ([], "is empty"),
        (["a b", "1"], "is the header missing"),
        (["qe", *["1"] * 999], "has more lines than"),
        (["qe", "nan"] + ["1"] * 99, "expected a finite"),
    ):
        write_lines(tmp_path / "bad", lines)
        with pytest.raises(InputError, match=message):
            describe_candidates(made / "list", tmp_path / "out", [], sources, scores=[tmp_path / "bad"])
        assert not (tmp_path / "out").exists()
    text = (made / "list").read_text().splitlines()
    write_lines(tmp_path / "mixed", [*text[-1:], *text])
    with pytest.raises(InputError, match="sentence numbers must ascend"):
        describe_candidates(tmp_path / "mixed", tmp_path / "out", ["length"], sources)
    with pytest.raises(InputError, match="no feature to add"):
        describe_candidates(made / "list", tmp_path / "out", [], sources)
