"""A Moses rule table, its weights and a corpus as a chart decoder takes them: for benches and tests."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import numpy as np

from dragoman.corpus import UNK, Vocab
from dragoman.search import RuleBatch
from dragoman.text import read_lines

GAP = "[X][X]"
MOSES_NAMES = ("lm", "words", "rules", "p_f_e", "lex_f_e", "p_e_f", "lex_e_f", "glue")
GLUE = 0.999896
"""What Moses' glue grammar gives a concatenation; it has one more than there are between items."""


class MosesRules:
    """The rules and weights of a folder, and the options of sentences."""

    def __init__(self, folder: Path) -> None:
        lines: dict[str, list[list[str]]] = {}
        for line in read_lines(folder / "rule-table.test100.xz"):
            source, rest = line.split(" ||| ", 1)
            lines.setdefault(source, []).append(rest.split(" ||| ", 3)[:3])
        self.lines = {tuple(source.split()[:-1]): rows for source, rows in lines.items()}
        words = {word for rows in self.lines.values() for target, *_ in rows for word in target.split()}
        self.vocab = Vocab.of([" ".join(sorted(words - {GAP, "[X]"}))])
        self.ids = {word: self.vocab.id(word) for word in words}
        self.own: dict[str, int] = {}
        self.weights = self._weights(folder)

    @staticmethod
    def _weights(folder: Path) -> dict[str, float]:
        given = {}
        for line in read_lines(folder / "weights.ini"):
            if match := re.match(r"(\w+)= (.*)", line):
                given[match[1]] = [float(x) for x in match[2].split()]
        p_f_e, lex_f_e, p_e_f, lex_e_f = given["TranslationModel0"]
        rule = given["PhrasePenalty0"][0]
        return {
            "lm": given["LM0"][0],
            "p_e_f": p_e_f,
            "p_f_e": p_f_e,
            "lex_e_f": lex_e_f,
            "lex_f_e": lex_f_e,
            "words": -given["WordPenalty0"][0],
            "rules": rule,
            # Glue rules and unknown words are rules to Moses.
            "glue": rule + GLUE * given["TranslationModel1"][0],
            "unknown": rule - 100 * given["UnknownWordPenalty0"][0],
        }

    def constant(self) -> float:
        """What Moses' score has in addition: sentence marks are words, and there are three glue rules at least."""
        w = self.weights
        return 2 * w["words"] + 2 * w["rules"] + w["glue"]

    def options(self, sources: list[list[str]], limit: int | None = None) -> RuleBatch:
        """All rules whose words stand in the sentences in their order, or the best of a source side by p(e|f)."""
        source_ids: dict[str, int] = {}
        for word in (word for source in sources for word in source):
            source_ids.setdefault(word, len(source_ids))
        rules: dict[tuple[str, ...], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        first_pattern, symbols, found_rules = [0], [], []
        for source in sources:
            known = {GAP, *source}
            found = [
                ([-1 if s == GAP else source_ids[s] for s in pattern], pattern)
                for pattern in self.lines
                if known.issuperset(pattern) and _may_match(pattern, source)
            ]
            for row, pattern in sorted(found):
                if pattern not in rules:
                    rules[pattern] = self._rules(pattern, limit)
                symbols.append(row)
                found_rules.append(rules[pattern])
            first_pattern.append(len(symbols))
        passed = []
        for word in (word for source in sources for word in source):
            id_ = self.vocab.id(word)
            passed.append(self.own.setdefault(word, len(self.vocab) + len(self.own)) if id_ == UNK else id_)
        lengths = np.concatenate([lengths for _, lengths, _ in found_rules])
        n = len(lengths)
        return RuleBatch.from_arrays(
            sentence_offsets=_offsets(sources),
            words=np.array([source_ids[word] for source in sources for word in source], np.int32),
            pass_through=np.array(passed, np.int32),
            first_pattern=np.array(first_pattern, np.int64),
            symbol_offsets=_offsets(symbols),
            symbols=np.array([s for row in symbols for s in row], np.int32),
            first_rule=_offsets([lengths for _, lengths, _ in found_rules]),
            lhs=np.zeros(n, np.int32),
            target_offsets=np.concatenate([[0], np.cumsum(lengths)]),
            targets=np.concatenate([targets for targets, *_ in found_rules]),
            rules=np.arange(n, dtype=np.int64),
            scores=np.ascontiguousarray(np.concatenate([scores for *_, scores in found_rules])),
            feature_offsets=np.zeros(n + 1, np.int64),
            feature_ids=np.zeros(0, np.int32),
            feature_values=np.zeros(0, np.float32),
            labels=["X"],
            own_words=list(self.own),
        )

    def _rules(self, pattern: tuple[str, ...], limit: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Target sides, their lengths, and log scores in the order of our features."""
        gaps = [str(i) for i, symbol in enumerate(pattern) if symbol == GAP]
        targets: list[int] = []
        lengths, values = [], []
        rows = self.lines[pattern]
        if limit is not None:
            rows = sorted(rows, key=lambda row: -float(row[1].split()[2]))[:limit]
        for target, scores, links in rows:
            words = target.split()[:-1]
            pairs = dict(reversed(pair.split("-")) for pair in links.split() if pair.split("-")[0] in gaps)
            targets += [
                -1 - gaps.index(pairs[str(j)]) if word == GAP else self.ids[word] for j, word in enumerate(words)
            ]
            lengths.append(len(words))
            values.append([float(x) for x in scores.split()])
        logs = np.log(np.array(values))[:, [2, 0, 3, 1]].astype(np.float32)
        return np.array(targets, np.int32), np.array(lengths, np.int64), logs

    def text(self, tokens: np.ndarray) -> str:
        """A translation's words."""
        return self.vocab.extended(self.own).decode(tokens.tolist())


def first_lines(path: Path, n: int) -> list[list[str]]:
    """The first sentences of a corpus."""
    return [line.split() for line in islice(read_lines(path), n)]


def _offsets(rows: list) -> np.ndarray:
    return np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)


def _may_match(pattern: tuple[str, ...], source: list[str]) -> bool:
    """Whether gaps of one word or more can be put so that the pattern matches somewhere."""
    ends = set(range(len(source)))
    for symbol in pattern:
        if symbol == GAP:
            ends = set(range(min(ends) + 1, len(source) + 1)) if ends else ends
        else:
            ends = {end + 1 for end in ends if end < len(source) and source[end] == symbol}
    return bool(ends)
