"""References of other sentences are noticed; right ones are not doubted, however short or far from the candidates."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.small_text import write_lines, write_splits

from dragoman.candidates import MeasuredObjective, doubt_of_references, read_nbest, with_metric
from dragoman.features import Weights
from dragoman.metric import Smoothing, by_name
from dragoman.optim import Mert
from dragoman.optim.base import finish
from dragoman.text import read_lines
from dragoman.tuning import tune_pool

BLEU = by_name("bleu", smoothing=Smoothing.NONE)


def pool_of(folder, references, *, noise):
    """Three candidates of each sentence, in which a share of the words is replaced by other words of the text."""
    rng = np.random.default_rng(1)
    words = np.array([word for line in references for word in line.split()])
    lines = []
    for s, line in enumerate(references):
        for c in range(3):
            own = [rng.choice(words) if rng.random() < noise + 0.1 * c else word for word in line.split()]
            lines.append(f"{s} ||| {' '.join(own)} ||| lm= {-c - rng.random():.3f} words= {len(own)}.0 ||| 0")
    return read_nbest(write_lines(folder / "list", lines))


def doubt(pool, references):
    return doubt_of_references(pool, [[line] for line in references])


def moved(references):
    shuffled = [references[i] for i in np.random.default_rng(2).permutation(len(references))]
    return {"next": [*references[1:], references[0]], "before": [references[-1], *references[:-1]], "mixed": shuffled}


@pytest.mark.parametrize("noise", [0.2, 0.7])
@pytest.mark.parametrize("n", [25, 150])
def test_references_of_other_sentences_are_noticed(tmp_path, n, noise):
    references = [e.references[0] for e in write_splits(tmp_path, n, 1, 1, seed=5).train]
    pool = pool_of(tmp_path, references, noise=noise)
    assert doubt(pool, references) is None
    for name, wrong in moved(references).items():
        said = doubt(pool, wrong)
        assert said.startswith("the references seem to belong to other sentences: the first candidates have a")
        if name != "mixed":
            assert ("the line before" if name == "next" else "the next line") in said
    assert doubt(pool, references) is None


def test_short_segments_are_not_doubted(tmp_path):
    """Without four-grams BLEU is 0, whatever the references."""
    examples = write_splits(tmp_path, 80, 1, 1, seed=5).train
    references = [" ".join(e.references[0].split()[:3]) for e in examples]
    pool = pool_of(tmp_path, references, noise=0.3)
    assert doubt(pool, references) is None
    start = Weights.from_dict({"lm": 1.0, "words": 0.1})
    right, wrong = (
        finish(with_metric(pool, BLEU, [[line] for line in lines]), start, start, n_threads=1)
        for lines in (references, moved(references)["mixed"])
    )
    assert right.gain_after == wrong.gain_after == 0
    assert not [note for note in right.notes if "references" in note]
    assert wrong.warnings == ("hardly anything of the candidates is in the references; are these the right ones?",)


def test_a_few_sentences_or_empty_ones_tell_nothing(tmp_path):
    references = [f"word{i} other{i}" for i in range(19)]
    pool = pool_of(tmp_path, references, noise=0.1)
    assert doubt(pool, moved(references)["next"]) is None
    pool = pool_of(tmp_path, ["" for _ in range(30)], noise=0.1)
    assert doubt(pool, ["x"] * 30) is None


def test_it_is_a_warning_of_a_tuning(tmp_path):
    references = [e.references[0] for e in write_splits(tmp_path, 60, 1, 1, seed=5).train]
    wrong = [[line] for line in moved(references)["mixed"]]
    pool = with_metric(pool_of(tmp_path, references, noise=0.1), by_name("chrf"), wrong)
    start = Weights.from_dict({"lm": 1.0, "words": 0.1})
    record = tune_pool(pool, Mert(n_starts=1), start, seed=1, objective=MeasuredObjective.of(pool, wrong))
    (warning,) = [text for text in record.warnings if "seem to belong to other sentences" in text]
    assert warning in record.notes
    assert not tune_pool(pool, Mert(n_starts=1), start, seed=1).warnings


@pytest.mark.realdata
@pytest.mark.parametrize(("corpus", "side"), [("multi30k", "en"), ("enja", "ja"), ("bible-mref", "en.0")])
def test_real_references(tmp_path, data, corpus, side):
    references = list(read_lines(data / corpus / f"dev.{side}.xz"))[:500]
    for noise in (0.3, 0.8):
        pool = pool_of(tmp_path, references, noise=noise)
        assert doubt(pool, references) is None
        assert all(doubt(pool, wrong) for wrong in moved(references).values())
