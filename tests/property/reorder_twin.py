"""Features of orientation templates of a sequence of phrases, by definition."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from orientation_twin import backward_by_blocks, gap_words, top_block

from dragoman.features import feature_name


@dataclass(frozen=True)
class Words:
    """One side: its vocabulary, how frequent words are, and a word's class by the size of the clustering."""

    counts: dict[str, int]
    classes: dict[int, dict[str, int]]

    def forms(self, word, top, classes):
        """Arguments of features: the word if it is among the `top` most frequent (0: all), its classes."""
        if word == "<s>":
            return [("<s>",)]
        if word not in self.counts:
            return []
        ranked = sorted(self.counts.items(), key=lambda item: (-item[1], item[0].encode()))
        frequent = {word for word, count in ranked[: top or None] if count or not top}
        found = [(word,)] if word in frequent else []
        if classes:
            found += [(f"c{size}", by_word[word]) for size, by_word in self.classes.items() if word in by_word]
        return found


def ends(words):
    return (("first", words[:1]), ("last", words[-1:]))


def reordering(phrases, sentence, sides, templates, collapsed=None):
    """Of (span, rule, target words) in target order; `templates` has the settings of each by name.

    `collapsed` names all orientations, if given.

    A word that passes through (rule < 0) is a phrase where the source side knows it, and its target side where both do.
    """
    result = Counter()
    spans, targets = [], []
    for span, rule, target in phrases:
        source = sentence[slice(*span)]
        if rule < 0:
            source = [word for word in source if word in sides[0].counts]
            target = [word for word in source if word in sides[1].counts]
        orientation = collapsed or backward_by_blocks(spans, span)

        def add(name, side, words, *arguments, orientation=orientation):
            for word in words:
                for form in sides[side].forms(word, *templates[name]):
                    result[feature_name(name, orientation, *arguments, *form)] += 1

        if spans:
            block, n = top_block(spans)
            edges = [ends(sentence[slice(*block)]), (("first", targets[-n][:1]), ("last", targets[-1][-1:]))]
        else:
            block, edges = (0, 0), [ends(["<s>"])] * 2
        for side, words in enumerate((source, target)):
            for place, word in ends(words) if "reorder_local" in templates else ():
                add("reorder_local", side, word, f"{'fe'[side]}_{place}")
            for place, word in edges[side] if "reorder_stack" in templates else ():
                add("reorder_stack", side, word, f"{'fe'[side]}_{place}")
        if "reorder_gap" in templates:
            add("reorder_gap", 0, [sentence[p] for p in gap_words(block, span)])
        if "reorder_phrase" in templates:
            for kind, *words in (("f", source), ("e", target), ("pair", source, target)):
                if all(words):
                    result[feature_name("reorder_phrase", orientation, kind, *(" ".join(side) for side in words))] += 1
        spans.append(span)
        targets.append(target)
    return result
