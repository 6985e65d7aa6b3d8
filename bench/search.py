"""Phrase-based search: Moses' exported model at the presets, and long candidate lists with sparse features."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.harness import ANCHORS, DATA, Case, Workload
from dragoman.align import read_pharaoh
from dragoman.corpus import Bitext
from dragoman.features import FeatureIndex, Weights, parse_templates
from dragoman.forest import KBest
from dragoman.grammar import PhraseExtraction, extract_phrases
from dragoman.grammar.phrase_tables import read_tables
from dragoman.lm import EstimateConfig, LanguageModel, TrainingText, estimate
from dragoman.search import PhraseConfig, PhraseDecoder, PhraseOptionBuilder
from dragoman.text import read_lines

_MODEL = ANCHORS / "moses-enja" / "phrase"
_ORIENTATIONS = ("bwd_m", "bwd_s", "bwd_d", "fwd_m", "fwd_s", "fwd_d")


def _language_model() -> LanguageModel:
    text = TrainingText()
    text.add_file(DATA / "enja" / "train.en.xz")
    return estimate(text, EstimateConfig(order=5)).model


def _weights() -> dict[str, float]:
    given = {}
    for line in read_lines(_MODEL / "weights.ini"):
        if match := re.match(r"(\w+)0= (.*)", line):
            given[match[1]] = [float(x) for x in match[2].split()]
    [lm], [words], [phrases], [unknown], [distortion] = (
        given[name] for name in ("LM", "WordPenalty", "PhrasePenalty", "UnknownWordPenalty", "Distortion")
    )
    scores = dict(zip(("p_f_e", "lex_f_e", "p_e_f", "lex_e_f"), given["TranslationModel"], strict=True))
    orientations = zip(_ORIENTATIONS, given["LexicalReordering"], strict=True)
    # Moses' word penalty is minus the words, and an unknown word counts as a phrase and as -100.
    dense = {"lm": lm, "words": -words, "phrases": phrases, "unknown": phrases - 100 * unknown}
    return dense | scores | {"distortion": distortion} | {f"reorder_{name}": value for name, value in orientations}


def _decode(config: PhraseConfig, scale: float) -> Workload:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "grammar"
        tables = _MODEL / "phrase-table.test.gz", _MODEL / "reordering-table.test.xz"
        view = read_tables(tables[0], folder, reordering=tables[1]).view()
    index = FeatureIndex()
    lines = list(read_lines(DATA / "enja" / "test.ja.xz"))
    lines = lines[: int(len(lines) * scale)]
    builder = PhraseOptionBuilder(view, index)
    decoder = PhraseDecoder(config, view.target_vocab, index, lm=_language_model())
    weights = Weights.from_dict(_weights(), index)

    def run() -> KBest:
        options = builder.build(lines)
        return decoder.kbest(options, weights, 1)

    return Workload(n_items=len(lines), ours=run, repeats=3, note=lambda: f"mean model score {run().totals.mean():.3f}")


def _lists(scale: float) -> Workload:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, language in (("s", "ja"), ("t", "en")):
            lines = read_lines(DATA / "enja" / f"train.{language}.xz")
            (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        bitext = Bitext.build(folder / "s", folder / "t", folder / "bitext")
        alignment = read_pharaoh(ANCHORS / "moses-enja" / "train.align.xz")
        view = extract_phrases(bitext, alignment, folder / "grammar", PhraseExtraction(n_threads=2)).view()
    lines = list(read_lines(DATA / "enja" / "dev.ja.xz"))
    lines = lines[: int(len(lines) * scale)]
    lm = _language_model()
    found = ""

    def run() -> None:
        nonlocal found
        index = FeatureIndex()
        builder = PhraseOptionBuilder(view, index, templates=parse_templates(["extended"]))
        options = builder.build(lines, n_threads=2)
        decoder = PhraseDecoder(PhraseConfig(), view.target_vocab, index, lm=lm)
        lists = decoder.kbest(options, Weights.from_dict(_weights(), index), 1000, n_threads=2)
        found = f"{len(lists):,} candidates, {len(lists.feature_ids) / len(lists):.0f} features each"

    return Workload(n_items=len(lines), ours=run, repeats=3, note=lambda: found)


def _preset(name: str, make: Callable[[], PhraseConfig], target: str) -> Case:
    return Case(
        name=f"Moses' model, {name}, enja test",
        area="search",
        unit="sentences",
        prepare=partial(_decode, make()),
        target=target,
        needs_data=True,
    )


CASES = [
    _preset("fast", PhraseConfig.fast, "≤ 5 ms at -16.199 (Moses' cube pruning: 9.8 ms)"),
    _preset("default", PhraseConfig, ""),
    _preset("accurate", PhraseConfig.accurate, "≤ 30 ms at -16.187 (Moses' stacks: 88 ms, -16.177)"),
    Case(
        name="options and 1000-best with the extended features, enja dev, two threads (wall)",
        area="search",
        unit="sentences",
        prepare=_lists,
        target="≤ 20 s",
        needs_data=True,
        wall=True,
    ),
]
