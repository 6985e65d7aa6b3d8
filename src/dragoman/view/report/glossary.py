"""Words of the page for a newcomer: on hover in the headers of tables, and in a list at its end."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["GLOSSARY", "Glossary"]

GLOSSARY: Mapping[str, str] = MappingProxyType(
    {
        "system": "translation model with its tables: phrase-based (phrase) or hierarchical (hiero), or as named",
        "features": "feature set: what the model scores translations by, beside its dense features",
        "optimiser": "method that learned the weights of the features",
        "runs": "tuning runs with different random seeds; 1 of 3: three runs gave one output",
        "start": "score of the weights that tuning began with",
        "dev": "development set: the sentences that weights are learned from or chosen on",
        "dev, start": "score of the initial weights on the development set",
        "test": "sentences that nothing was learned from",
        "test, start": "score of the initial weights on the test set",
        "p": "probability of such a difference if the systems were equally good, corrected for the number of "
        "comparisons; below 0.05 it counts as real",
        "length": "words of the translations to those of the closest references",
        "BLEU": "share of n-grams of one to four words that a reference has too, with a penalty for brevity; 0 to 100",
        "chrF": "agreement in character n-grams with a reference; 0 to 100",
        "TER↓": "edits to turn the translation into a reference, per reference word; less is better",
        "rounds": "rounds of decoding the development set and learning from the candidates",
        "best round": "round whose weights were kept",
        "candidates": "different translations of the tuning sentences that were learned from",
        "active features": "features whose weight is not zero",
        "possible": "features that a weight could have been learned of",
        "without a class": "dense features, whose names have no colon",
        "made": "stages that were computed in this run",
        "found ready": "stages that another run of the recipe had computed",
        "peak MiB": "largest memory of any stage",
        "together, CPU s": "processor time of decoding, metric statistics and learning",
    }
)
"""By the name of a column."""


class Glossary:
    """The words that a page has used so far."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def meaning(self, name: str) -> str | None:
        """What a column shows; None where the name says it."""
        if name in GLOSSARY:
            self._used.add(name)
        return GLOSSARY.get(name)

    def used(self) -> dict[str, str]:
        """What was looked up, in the order of the glossary."""
        return {name: said for name, said in GLOSSARY.items() if name in self._used}
