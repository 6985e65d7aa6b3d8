"""The scale of agreement: as good as the best of a fine grid, by correlations that are computed anew here."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.kit.mbr_twin import PEERS, expected_by_hand

from dragoman.candidates import read_nbest, with_metric
from dragoman.candidates.features import learn_agreement_scale, with_learned_scales, with_scales_of
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import Bleu, Smoothing

METRIC = Bleu(smoothing=Smoothing.NONE)
FACTOR = 3.0


def made(tmp_path, noise, factor=FACTOR):
    """Lists whose score is what a candidate shares with the reference, with noise, divided by a factor."""
    rng = np.random.default_rng(4)
    refs, lines = [], []
    for s in range(30):
        words = [f"w{rng.integers(25)}" for _ in range(9)]
        refs.append([" ".join(words)])
        for _ in range(8):
            kept = rng.random(len(words)) < rng.choice([0.4, 0.7, 0.95])
            text = [word if keep else f"x{rng.integers(4)}" for word, keep in zip(words, kept, strict=True)]
            score = (kept.sum() + noise * rng.normal()) / factor
            lines.append({"id": s, "text": " ".join(text), "features": {"m": float(score)}, "total": float(-score)})
    path = tmp_path / "list.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return lines, refs, with_metric(read_nbest(path), METRIC, refs)


def worth(lines, refs, scale):
    """The mean correlation within lists, one list after the other."""
    found = []
    for name in ("bleu", "chrf"):
        expected, gains = [], []
        for s in range(len(refs)):
            own = [line for line in lines if line["id"] == s]
            texts = [line["text"] for line in own]
            mass = np.exp(scale * np.array([line["features"]["m"] for line in own]))
            utility = expected_by_hand(PEERS[name][1], texts, [0, len(texts)], mass / mass.sum())
            gain = METRIC.segment_gains(METRIC.text_statistics(texts, [refs[s] for _ in texts]))
            expected.append(utility - np.mean(utility))
            gains.append(gain - gain.mean())
        found.append(np.corrcoef(np.concatenate(expected), np.concatenate(gains))[0, 1])
    return np.mean(found)


def test_a_learned_scale_is_the_best_of_a_grid(tmp_path):
    lines, refs, pool = made(tmp_path, noise=1.5)
    learned = learn_agreement_scale(pool, "m")
    assert learned.correlation == pytest.approx(worth(lines, refs, learned.scale), abs=1e-6)
    assert learned.uniform == pytest.approx(worth(lines, refs, 0), abs=1e-6)
    best = max(worth(lines, refs, scale) for scale in np.geomspace(0.02, 20, 13))
    assert learned.correlation > max(best - 0.002, learned.uniform + 0.02)
    assert learned == learn_agreement_scale(pool, "m", n_threads=3)
    assert learned.told == f"agreement=m:{learned.scale:g}"


def test_a_score_in_other_units_has_another_scale(tmp_path):
    scales = [learn_agreement_scale(made(tmp_path, noise=1.5, factor=f)[2], "m").scale for f in (FACTOR, 10 * FACTOR)]
    assert scales[1] == pytest.approx(10 * scales[0], rel=0.03)


def test_a_score_that_misleads_is_not_used(tmp_path):
    """Totals have the wrong sign."""
    learned = learn_agreement_scale(made(tmp_path, noise=0)[2], "total")
    assert (learned.scale, learned.correlation) == (0, learned.uniform)


def test_scales_in_the_place_of_learned(tmp_path):
    _, _, pool = made(tmp_path, noise=1.5)
    told, learned = with_learned_scales(["length", "agreement=m:learned", "agreement"], pool)
    assert told == ["length", learned[0].told, "agreement"]
    weights = Weights.from_dict({f"agree_m_{learned[0].scale:g}_bleu": 1.0, "agree_bleu": 2.0})
    assert with_scales_of(["length", "agreement=m:learned", "agreement"], weights) == told
    with pytest.raises(InputError, match="but have none; say the scale"):
        with_scales_of(["agreement=other:learned"], weights)
    several = Weights.from_dict({"agree_m_0.5_1": 1.0, "agree_m_2_chrf": 1.0})
    with pytest.raises(InputError, match=r"but have 0\.5, 2;"):
        with_scales_of(["agreement=m:learned"], several)
    with pytest.raises(InputError, match="no feature 'other'"):
        learn_agreement_scale(pool, "other")
