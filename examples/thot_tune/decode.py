"""Thot's decoder as a command for `dragoman tune --decoder`.

    python decode.py MODEL SOURCE WEIGHTS NBEST K

Reads weights as `name<TAB>value` and writes the K best derivations of each sentence in Moses' form. The features are
the eight components of Thot's log-linear model, as its library reports them for every translation: a translation's
score is their weighted sum, up to a constant for the sentence (a test checks it).
"""

from __future__ import annotations

import sys
from pathlib import Path

import thot.alignment as ta
import thot.translation as tt

COMPONENTS = (
    "WordPenalty",
    "LanguageModel",
    "TargetPhraseLength",
    "Jump",
    "SourcePhraseLength",
    "PhraseTargetGivenSource",
    "PhraseSourceGivenTarget",
    "SentenceLength",
)
"""In the order of the library's weights."""


def read_weights(path: Path) -> list[float]:
    """The weights in Thot's order; a component that the file does not name weighs 0."""
    lines = path.read_text(encoding="utf-8").splitlines()
    weights = dict(line.rsplit("\t", 1) for line in lines if line and not line.startswith("#"))
    return [float(weights.get(name, 0.0)) for name in COMPONENTS]


def load(folder: Path, weights: list[float]) -> tt.SmtDecoder:
    """The model with these weights; the limits of search are those that sil-machine sets for Thot."""
    model = tt.SmtModel(ta.AlignmentModelType.FAST_ALIGN)
    if not (model.load_translation_model(str(folder / "tm")) and model.load_language_model(str(folder / "lm"))):
        sys.exit(f"{folder} holds no model of Thot; make one with train.py")
    model.w, model.a, model.e, model.heuristic, model.non_monotonicity = 0.4, 10, 2, 6, 0
    model.weights = weights
    decoder = tt.SmtDecoder(model)
    decoder.s, decoder.is_breadth_first = 10, True
    return decoder


def main() -> None:
    """Decode."""
    model, source, weights, nbest = map(Path, sys.argv[1:5])
    k = int(sys.argv[5])
    decoder = load(model, read_weights(weights))
    with nbest.open("w", encoding="utf-8") as output:
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines()):
            for found in decoder.translate_n(" ".join(line.split()), k):
                pairs = zip(COMPONENTS, found.score_components, strict=True)
                features = " ".join(f"{name}= {value!r}" for name, value in pairs)
                output.write(f"{number} ||| {' '.join(found.target)} ||| {features} ||| {found.score!r}\n")


if __name__ == "__main__":
    main()
