"""Two translators that know nothing of grammar, as a floor for everything else."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from dragoman.text import split_tokens

__all__ = ["Translator", "nearest_sentence", "word_by_word"]

Translator = Callable[[str], str]
Pairs = Sequence[tuple[str, str]]


def word_by_word(pairs: Pairs) -> Translator:
    """Replace each word by the target word that goes with it most exclusively (the Dice coefficient), in order."""
    together: defaultdict[str, Counter[str]] = defaultdict(Counter)
    n_source: Counter[str] = Counter()
    n_target: Counter[str] = Counter()
    for source, target in pairs:
        f_words, e_words = set(split_tokens(source)), set(split_tokens(target))
        n_source.update(f_words)
        n_target.update(e_words)
        for f in f_words:
            together[f].update(e_words)
    dictionary = {f: _closest(counts, n_source[f], n_target) for f, counts in together.items() if counts}
    return lambda line: " ".join(dictionary.get(word, word) for word in split_tokens(line))


def _closest(counts: Counter[str], n_source: int, n_target: Counter[str]) -> str:
    return max(counts, key=lambda e: (2 * counts[e] / (n_source + n_target[e]), e))


def nearest_sentence(pairs: Pairs) -> Translator:
    """Answer with the translation of the training sentence that shares most of its words."""
    postings: defaultdict[str, list[int]] = defaultdict(list)
    sizes = []
    for i, (source, _) in enumerate(pairs):
        words = set(split_tokens(source))
        sizes.append(len(words))
        for word in words:
            postings[word].append(i)

    def translate(line: str) -> str:
        words = set(split_tokens(line))
        shared: Counter[int] = Counter()
        for word in words:
            shared.update(postings.get(word, ()))
        if not shared:
            return ""
        best = max(shared, key=lambda i: (shared[i] / (len(words) + sizes[i] - shared[i]), -i))
        return pairs[best][1]

    return translate
