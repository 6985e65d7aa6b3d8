"""Hierarchical derivations outside search: built rule by rule, edited, and scored as the chart decoder scores them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dragoman._core import LmPiece, unescape_word
from dragoman.errors import InputError
from dragoman.forest import Application, Derivation, Derivations
from dragoman.grammar import Rule, RuleView, nonterminal_of
from dragoman.lm import LanguageModel
from dragoman.search.chart_config import ChartConfig, ChartFeatures
from dragoman.search.derivation_features import DerivationFeatures
from dragoman.search.sentences import Sentence, encode_sentences

__all__ = ["RuleRescorer"]

_BEGIN, _END = "<s>", "</s>"


class RuleRescorer:
    """Makes derivations from a grammar's rules and gives each application the features that a forest's edge has.

    Build with `apply`, `unknown` and `sentence`; edit with `Derivation.replaced`; `rescore` computes the dense features
    of everything anew, language model included. Features of templates, which depend on the words of the sentence, are
    computed by `rescore` with a sentence, if the rescorer has `templates` (over the view's grammar); without one they
    stay as they are on an application whose rule and place have not changed.
    """

    def __init__(
        self,
        view: RuleView,
        features: ChartFeatures,
        lm: LanguageModel | None = None,
        *,
        goal: str = ChartConfig().goal,
        templates: DerivationFeatures | None = None,
    ) -> None:
        self._view = view
        self._features = features
        self._lm = lm
        self._goal = goal
        self._templates = templates
        self._dense = frozenset(features.names())
        self._columns = [(name, view.score_names.index(name)) for name in features.scores]

    def apply(self, rule: Rule, begin: int, children: Sequence[Derivation] = ()) -> Derivation:
        """A rule at the source word `begin`, over derivations for its nonterminals in the order of the source side.

        Raises InputError when they do not fit in number, label or place.
        """
        at, gaps = begin, iter(children)
        for symbol in rule.source.split(" "):
            if (nonterminal := nonterminal_of(symbol)) is None:
                at += 1
                continue
            child = next(gaps, None)
            if child is None:
                raise InputError(f"the rule has more nonterminals than the {len(children)} derivations given for them")
            root = child.applications[0]
            if root.label != nonterminal[0] or root.source[0] != at:
                raise InputError(
                    f"{symbol} of the rule wants a derivation of {nonterminal[0]} from source word {at}, "
                    f"not of {root.label} from {root.source[0]}"
                )
            at = root.source[1]
        if next(gaps, None) is not None:
            raise InputError(f"the rule has fewer nonterminals than the {len(children)} derivations given for them")
        symbols = tuple(_symbol(token) for token in rule.target.split(" "))
        root = _open(symbols, rule=rule.rule, label=rule.lhs, source=(begin, at))
        return self.rescore(Derivation.join(root, children))

    def unknown(self, word: str, place: int, label: str = "X") -> Derivation:
        """A copied out-of-vocabulary word; `word` in its stored form."""
        return self.rescore(Derivation.join(_open((word,), label=label, source=(place, place + 1)), ()))

    def sentence(self, parts: Sequence[Derivation]) -> Derivation:
        """A whole sentence from derivations of neighbouring pieces, glued from left to right."""
        if not parts:
            raise InputError("a sentence needs at least one derivation")
        at = 0
        for part in parts:
            if part.applications[0].source[0] != at:
                raise InputError(f"a derivation should begin at source word {at}, not {part.applications[0].source[0]}")
            at = part.applications[0].source[1]
        # In pre-order: the end, glue from the last part to the second, the beginning; then the parts one after another.
        ends = [part.applications[0].source[1] for part in parts]
        last = len(parts) - 1
        row = [_open((0, _END), label=self._goal, source=(0, ends[last]))]
        row += [_open((0, 1), label=self._goal, source=(0, ends[i])) for i in range(last, 0, -1)]
        row.append(_open((_BEGIN, 0), label=self._goal, source=(0, ends[0])))
        applications = list(row)
        for i, part in enumerate(parts):
            own = len(applications)
            place = len(row) - 1 - i  # of what the part is the last child of
            applications[place] = replace(row[place], children=(own,) if i == 0 else (place + 1, own))
            applications += part.moved(own)
        return self.rescore(Derivation(tuple(applications)))

    def rescore(self, derivation: Derivation, sentence: Sentence | None = None) -> Derivation:
        """The same tree with the dense features recomputed as in the decoder.

        With the source sentence, which the derivation must cover, features of templates too. Raises InputError where it
        is not the derivation's.
        """
        pieces: dict[int, LmPiece] = {}
        sparse = None if sentence is None else self._sparse(derivation, sentence)
        scored = list(derivation.applications)
        for place in range(len(scored) - 1, -1, -1):  # children come after their parents
            application = scored[place]
            if sparse is None:
                features = {name: value for name, value in application.features.items() if name not in self._dense}
            else:
                features = sparse.get(place, {})
            features |= self._local(application)
            if self._lm is not None:
                inside = [pieces.pop(child) for child in application.children]
                items = [
                    inside[symbol] if isinstance(symbol, int) else _text(symbol)
                    for symbol in application.symbols
                    if symbol not in (_BEGIN, _END)
                ]
                piece = self._lm.join(items, bos=_BEGIN in application.symbols, eos=_END in application.symbols)
                pieces[place] = piece
                if added := piece.score - sum(child.score for child in inside):
                    features[self._features.lm] = added
            scored[place] = replace(application, features=features)
        return Derivation(tuple(scored))

    def _sparse(self, derivation: Derivation, sentence: Sentence) -> dict[int, dict[str, float]]:
        """Features of templates by place, of rules and words that pass through."""
        if self._templates is None:
            raise InputError("the rescorer has no templates, so it cannot compute their features")
        applied = [
            (place, a)
            for place, a in enumerate(derivation.applications)
            if a.rule >= 0 or (not a.children and a.symbols not in {(_BEGIN, _END)})
        ]
        n = len(applied)
        fold = self._view.config.excluded_fold
        batch = self._templates.batch(
            encode_sentences([sentence], self._view.source_vocab),
            np.array([-1 if fold is None else fold], np.int16),
            np.array([0, 1], np.int64),
            Derivations(
                np.array([0, n], np.int64),
                np.array([a.rule for _, a in applied], np.int64),
                np.array([a.source[0] for _, a in applied], np.int32),
                np.array([a.source[1] for _, a in applied], np.int32),
                np.array([0, n], np.int64),
                np.arange(n, dtype=np.int32),
            ),
        )
        rows, ids, values = self._templates.steps(batch)
        names = self._templates.index.names(ids)
        found: dict[int, dict[str, float]] = {}
        for (place, _), begin, end in zip(applied, rows[:-1].tolist(), rows[1:].tolist(), strict=True):
            here = found[place] = {}
            for name, value in zip(names[begin:end], values[begin:end].tolist(), strict=True):
                here[name] = here.get(name, 0.0) + value  # a block's value has two parts
        return found

    def _local(self, application: Application) -> dict[str, float]:
        """All dense features except those that depend on the subtrees."""
        names, symbols = self._features, application.symbols
        words = [s for s in symbols if isinstance(s, str) and s not in (_BEGIN, _END)]
        found = {names.words: float(len(words))}
        if names.lm_oov is not None and self._lm is not None:
            found[names.lm_oov] = float(sum(_text(word) not in self._lm.vocab for word in words))
        if application.rule >= 0:
            rule = self._view.rule(application.rule)
            if rule is None:
                raise InputError(f"rule {application.rule} does not occur in this view of the grammar")
            arity = len(application.children)
            if names.rules is not None:
                found[names.rules] = 1.0
            if arity < len(names.arities):
                found[names.arities[arity]] = 1.0
            found |= {name: rule.scores[column] for name, column in self._columns}
        elif symbols == (0, 1):
            found[names.glue] = 1.0
        elif words and names.unknown is not None:
            found[names.unknown] = 1.0
        return {name: value for name, value in found.items() if value}


def _open(symbols: tuple[str | int, ...], *, label: str, source: tuple[int, int], rule: int = -1) -> Application:
    """An application whose children are numbered but not yet attached."""
    n_children = sum(isinstance(symbol, int) for symbol in symbols)
    return Application(symbols=symbols, children=tuple(range(1, n_children + 1)), rule=rule, label=label, source=source)


def _symbol(token: str) -> str | int:
    nonterminal = nonterminal_of(token)
    return token if nonterminal is None else nonterminal[1] - 1


def _text(word: str) -> str:
    return unescape_word(word.encode()).decode()
