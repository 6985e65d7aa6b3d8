"""Features of templates by their definitions, on rules as views show them; slow and plain."""

from __future__ import annotations

import re
from collections import Counter

from dragoman.features import feature_name

_NONTERMINAL = re.compile(r"\[([^\[\]\s,]+),(\d+)\]")
_BINS = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, 1000)]


def parsed(side):
    """Words as they are stored, and nonterminals as (label, number)."""
    matches = [(word, _NONTERMINAL.fullmatch(word)) for word in side.split()]
    return [(match[1], int(match[2])) if match else word for word, match in matches]


def capped(n, most):
    return str(n) if n <= most else f"{most + 1}+"


def kept(word, frequent):
    """`frequent` None: all."""
    return word if frequent is None or word in frequent or word in ("<s>", "</s>") else "<other>"


class RuleTwin:
    """The frequent words of both sides (None: all), those of word contexts, the longest length by its own name."""

    def __init__(self, *, top=(None, None), context_top=(None, None), most=2):
        self.top = top
        self.context_top = context_top
        self.most = most

    def local(self, rule):
        """What the rule alone decides."""
        source, target = parsed(rule.source), parsed(rule.target)
        words = [[w for w in side if isinstance(w, str)] for side in (source, target)]
        found = Counter()

        def add(template, *arguments):
            found[feature_name(template, *arguments)] += 1

        def text(side):
            return " ".join(w if isinstance(w, str) else f"[{w[0]}]" if side is source else f"[{w[1]}]" for w in side)

        def shape(side):
            marks = " ".join("w" if isinstance(w, str) else f"[{w[1]}]" for w in side)
            return re.sub("w( w)*", "w", marks)

        add("rule_id", f"[{rule.lhs}]", text(source), text(target))
        add("rule_shape", shape(source), shape(target))
        add("node_count", f"[{rule.lhs}]")
        for symbol in source:
            if not isinstance(symbol, str):
                add("rule_overlap", f"[{symbol[0]}]")
        f_names, e_names = ({w: kept(w, top) for w in side} for top, side in zip(self.top, words, strict=True))
        links = [(s, t) for s, t in rule.alignment if isinstance(source[s], str)]
        for s, t in links:
            add("word_pair", f_names[source[s]], e_names[target[t]])
        for place, word in enumerate(source):
            if isinstance(word, str) and all(place != s for s, _ in links):
                add("source_deletion", f_names[word])
                add("word_pair", f_names[word], "<unaligned>")
        for place, word in enumerate(target):
            if isinstance(word, str) and all(place != t for _, t in links):
                add("target_insertion", e_names[word])
                add("word_pair", "<unaligned>", e_names[word])
        lengths = [capped(len(side), self.most) for side in words]
        add("source_length", lengths[0])
        add("target_length", lengths[1])
        add("joint_length", *lengths)
        for low, high in _BINS:
            if low <= rule.count <= high:
                add("discount", f"{low}-{high}" if low < high else low)
        return found

    def placed(self, rule, spans, sentence):
        """What the place decides: `spans` (begin, end) are those of the source side's symbols."""
        source, target = parsed(rule.source), parsed(rule.target)
        around = ["<s>", *sentence, "</s>"]
        found = Counter()
        links = {(s, t) for s, t in rule.alignment if isinstance(source[s], str)}
        gaps = {(s, t) for s, x in enumerate(source) for t, y in enumerate(target) if not isinstance(x, str) and x == y}
        for s, t in sorted(links):
            f, e = source[s], target[t]
            names = kept(f, self.context_top[0]), kept(e, self.context_top[1])
            for step, place in (("-1", spans[s][0]), ("+1", spans[s][0] + 2)):
                word = kept(around[place], self.context_top[0])
                found[feature_name("word_context", *names, step, word)] += 1
        for s, t in gaps:
            is_reordered = any((s - i) * (t - j) < 0 for i, j in links | gaps)
            length = capped(spans[s][1] - spans[s][0], self.most)
            found[feature_name("structural_distortion", "reordered" if is_reordered else "monotone", length)] += 1
        return found
