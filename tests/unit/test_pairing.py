"""Whether the sides of a bitext belong together: from synthetic text of all sizes, right and shifted, and real text."""

from __future__ import annotations

import pytest
from tests.kit.small_text import write_lines, write_splits

from dragoman.align import AlignConfig, align_files
from dragoman.system import Silent, System, SystemSettings, TrainConfig, train, unknown_source
from dragoman.text import read_lines


def both(folder, source, target, n):
    """The sides, the second one also shifted by a line."""
    source, target = source[:n], target[:n]
    write_lines(folder / "s", source)
    write_lines(folder / "right", target)
    write_lines(folder / "shifted", [*target[1:], target[0]])
    return [align_files(folder / "s", folder / name) for name in ("right", "shifted")]


@pytest.mark.parametrize("n", [20, 120, 500, 3000])
def test_text_that_is_shifted_by_a_line_is_doubted_and_good_text_is_not(tmp_path, n):
    examples = write_splits(tmp_path, n, 1, 1, seed=3).train
    right, shifted = both(tmp_path, [e.source for e in examples], [e.references[0] for e in examples], n)
    assert right.doubt is None
    assert right.pairing is None
    assert shifted.agreement.f1 < 0.55 < right.agreement.f1
    assert f"agree on {100 * shifted.pairing.own:.1f} % (70 to 83 % are usual)" in shifted.doubt
    assert f"on {100 * shifted.pairing.other:.1f} % where each" in shifted.doubt


def test_pairs_that_are_aligned_are_compared_on_any_number_of_threads(tmp_path):
    examples = write_splits(tmp_path, 500, 1, 1, seed=3).train
    both(tmp_path, [e.source for e in examples], [e.references[0] for e in examples], 500)
    one, two = (
        align_files(tmp_path / "s", tmp_path / "shifted", AlignConfig(max_length=20), n_threads=n) for n in (1, 2)
    )
    assert one.pairing == two.pairing
    assert one.n_too_long > 0
    assert 100 < one.pairing.n_pairs <= one.n_pairs - one.n_empty - one.n_too_long


def test_nothing_to_compare_is_no_doubt(tmp_path):
    for n, words in ((0, ""), (1, "a b c"), (300, "a b c")):
        write_lines(tmp_path / "s", [words] * n)
        write_lines(tmp_path / "t", [f"x{i} y" for i in range(n)])
        assert align_files(tmp_path / "s", tmp_path / "t").pairing is None


class Heard(Silent):
    def __init__(self):
        self.said = []

    def say(self, text):
        self.said.append(text)


def test_training_warns_and_records_the_agreement(tmp_path):
    examples = write_splits(tmp_path, 300, 20, 1, seed=3).train
    write_lines(tmp_path / "shifted", [e.references[0] for e in [*examples[1:], examples[0]]])
    agreements = {}
    for name in ("train.en", "shifted"):
        heard = Heard()
        config = TrainConfig(settings=SystemSettings(), raw=False)
        system = train(tmp_path / "train.de", tmp_path / name, tmp_path / f"of-{name}", config=config, monitor=heard)
        warnings = [text for text in heard.said if text.startswith("warning: the directions of the word alignment")]
        assert len(warnings) == (name == "shifted")
        agreements[name] = System.load(system.folder).manifest.about["alignment"]
    assert agreements["train.en"].keys() == {"agreement"}
    assert agreements["train.en"]["agreement"] > 0.7 > 0.55 > agreements["shifted"]["agreement"]
    assert agreements["shifted"]["of_other_pairs"] > 0.3


def test_a_small_training_text_may_be_why_words_are_unknown(tmp_path):
    write_splits(tmp_path, 60, 1, 1, seed=3)
    config = TrainConfig(raw=False)
    system = train(tmp_path / "train.de", tmp_path / "train.en", tmp_path / "system", config=config)
    found = unknown_source(system, ["zwiebeln wachsen nirgendwo schneller"], system.lines())
    assert found.warning("dev.de").endswith("than the training text, or the training text is small (60 pairs)")


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("corpus", "source", "target"),
    [
        ("multi30k", "de", "en"),
        ("enja", "en", "ja"),
        ("debian-fr-en", "fr", "en"),
        ("tatoeba-zh-en", "zh", "en"),
        ("bible-mref", "heb", "en.0"),
    ],
)
def test_real_text(data, tmp_path, corpus, source, target):
    """Agreement alone would not do: right Hebrew has less than shifted Chinese."""
    sides = [list(read_lines(data / corpus / f"train.{side}.xz"))[:5000] for side in (source, target)]
    for n in (200, 5000):
        right, shifted = both(tmp_path, *sides, n)
        assert right.doubt is None
        assert shifted.doubt is not None
