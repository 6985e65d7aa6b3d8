"""Errors of translations by kind, from the edits of TER: words dropped, in excess or wrong, and word order.

An automatic version of the error analysis of Eidelman et al. 2013 (section 6), who counted such errors by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from dragoman.metric import EditStep, Ter, references_by_sentence

__all__ = ["ERROR_KINDS", "error_profile", "function_words_of"]

ERROR_KINDS = {
    "function_dropped": "function words dropped",
    "content_dropped": "content words dropped",
    "function_excess": "function words in excess",
    "content_excess": "content words in excess",
    "function_substituted": "function words substituted",
    "content_substituted": "content words substituted",
    "punctuation": "punctuation (all edits)",
    "shifts": "order: blocks shifted",
    "shifted_words": "order: words in shifted blocks",
    "ter": "TER (all but the row above)",
}
"""What `error_profile` counts, and how tables call it."""

_FUNCTION, _CONTENT, _PUNCTUATION = range(3)


def function_words_of(lines: Iterable[str], *, share: float = 0.5, limit: int = 100) -> frozenset[str]:
    """The most frequent words: as few as cover `share` of all running words, and at most `limit`.

    Words are lowercased and split at whitespace, as TER does; tokens without a letter or digit do not count.
    """
    counts = Counter(word for line in lines for word in line.lower().split() if not _is_punctuation(word))
    covered, total = 0, counts.total()
    found: list[str] = []
    for word, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if covered >= share * total or len(found) == limit:
            break
        covered += count
        found.append(word)
    return frozenset(found)


def error_profile(
    output: Sequence[str],
    references: Sequence[Sequence[str | None]],
    *,
    function_words: Collection[str] | None = None,
    n_threads: int = 1,
) -> dict[str, float]:
    """Errors of `output` per 100 reference words by kind; the keys are those of ERROR_KINDS.

    `references` has one sequence of lines per reference (None: no reference for this sentence). The edits are those to
    the nearest reference, per mean length of the references, as in TER, so all kinds but `shifted_words` sum to `ter`.
    A substituted word has the class of the reference word. `function_words` are by default `function_words_of` the
    references.
    """
    by_sentence = references_by_sentence(references, len(output))
    if function_words is None:
        function_words = function_words_of(line for lines in by_sentence for line in lines)
    edits = Ter().edits(output, by_sentence, n_threads=n_threads)
    known = {word.lower() for word in function_words}
    classes = np.array(
        [
            _PUNCTUATION if _is_punctuation(word) else _FUNCTION if word in known else _CONTENT
            for word in edits.vocabulary
        ],
        dtype=np.int64,
    )
    n_words = sum(np.mean([len(line.split()) for line in lines]) for lines in by_sentence)
    per_cent = 100.0 / (float(n_words) or 1.0)
    of_step = np.where(edits.steps == EditStep.EXCESS, edits.words, edits.reference_words)
    wrong = edits.steps != EditStep.MATCH

    def rate(step: EditStep, word_class: int) -> float:
        chosen = edits.steps == step
        return per_cent * int(np.count_nonzero(classes[of_step[chosen]] == word_class))

    return {
        "function_dropped": rate(EditStep.DROPPED, _FUNCTION),
        "content_dropped": rate(EditStep.DROPPED, _CONTENT),
        "function_excess": rate(EditStep.EXCESS, _FUNCTION),
        "content_excess": rate(EditStep.EXCESS, _CONTENT),
        "function_substituted": rate(EditStep.SUBSTITUTED, _FUNCTION),
        "content_substituted": rate(EditStep.SUBSTITUTED, _CONTENT),
        "punctuation": per_cent * int(np.count_nonzero(classes[of_step[wrong]] == _PUNCTUATION)),
        "shifts": per_cent * int(edits.n_shifts.sum()),
        "shifted_words": per_cent * int(edits.is_shifted.sum()),
        "ter": per_cent * int(edits.counts().sum()),
    }


def _is_punctuation(word: str) -> bool:
    return not any(character.isalnum() for character in word)
