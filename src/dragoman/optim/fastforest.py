"""Learning from forests around references: Xiao, Liu, Liu and Lin 2011, *Fast Generation of Translation Forest for
Large-Scale SMT Discriminative Training*.

A sentence pair (f, e, a) has the reference derivations RT that its alignment a allows, and the non-reference ones NT
that differ from one of RT in one rule (section 3). With Z the sum of exp(w.h) over both (equation 6),

    L = sum_n log p(e_n | f_n) - |w|^2 / (2 sigma^2)        p(e | f) = sum over RT of exp(w.h) / Z        (equation 4)
    dL/dw = E over RT [h] - E over RT and NT [h] - w / sigma^2                                            (equation 7)

One sentence at a time, w moves by eta_i = N / (i + i_0) times its part of the gradient, of the prior's the share 1/N
(Algorithm 2); the result is the average of all w.

Symbols: N `n_sentences`, M `max_epochs`, sigma^2 `variance`, N / i_0 `rate`, the initial rate, which is calibrated if
it is not given: of a few on a part of the sentences, that with the highest likelihood.

Deviations. The whole of RT and NT is summed by default, not the part that greedy moves find (Algorithm 1, `form=list`,
whose derivations are kept between epochs; sentences held out are measured by whole forests in any case): a derivation
with one rule replaced differs from the reference's string inside one span, so the change of the language model's score
belongs to the replacing rule, and sums over both are exact in one pass over the forest (docs/optimisers/fastforest.md).
MERT's weights have no scale: that at which the likelihood of the references is highest multiplies them while w is
learned, and what was learned is divided by it. By default it is not equation 4 that is lowered: `expected-gain` is -log
of expected sentence BLEU (`soft-ramp` the soft ramp of HOLS, `relative-margin` the loss of RM), and each rule competes
with those in its place alone (`contest`). What weights say of source sides is taken off (`centred`). BLEU and
likelihood want other dense weights (fewer words, above all), and sparse features may learn to make up for it: with
`dense=aside` dense weights are learned beside them, and set aside for those of the start in the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dragoman import _core
from dragoman.errors import FailedError, InputError
from dragoman.optim.base import Optimiser, Trace
from dragoman.optim.centring import centred
from dragoman.optim.context import LearnFrom, LearnsFrom, Material
from dragoman.optim.epochs import Split, Stopping, run_epochs
from dragoman.optim.neighbours import Contest, DenseWeights, Form, NeighbourLearner, NeighbourLoss
from dragoman.settings import about, takes_text
from dragoman.types import Float64Array, Int64Array

__all__ = ["FastForest", "ForestsLearned"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForestsLearned:
    """Weights by feature, and how they came about."""

    values: Float64Array
    trace: Trace
    notes: tuple[str, ...]
    loss_before: float
    """Mean loss of the watched sentences."""
    loss_after: float
    share_before: float
    """Mean probability of the reference there, of all derivations."""
    share_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FastForest(Optimiser):
    """The defaults are what gained on real corpora (docs/experiments/fastforest.md); the paper's are
    `objective=likelihood form=list centred=false`.
    """

    name = "fastforest"
    learns_from: ClassVar[LearnsFrom] = LearnsFrom.TRAINING_TEXT
    default_learn_from = LearnFrom.LISTS
    material = Material.FORESTS
    objective: NeighbourLoss = NeighbourLoss.EXPECTED_GAIN
    """What a step lowers."""
    contest: Contest | None = field(default=None, metadata=about(resolved="rules; derivations where form=list"))
    """What competes with what."""
    form: Form = Form.WHOLE
    """Sums over the whole forest, or over the list of Algorithm 1."""
    max_epochs: int = 5
    """M: passes over all sentences at most; the one that is best on the sentences held out is kept."""
    variance: float = 1.0
    """Sigma squared of the prior of weights."""
    rate: float | None = field(default=None, metadata=about(resolved="the best of a few on a part of the sentences"))
    """Initial rate N / i_0 of steps."""
    batch: int = 1
    """Sentences of a step; only a batch is shared by threads."""
    scale: float | None = field(default=None, metadata=about(resolved="that of the highest likelihood"))
    """Multiplies the dense weights while it learns."""
    held_out: float = 0.1
    """Share of the sentences that is watched, not learned from: whole folds."""
    dense: DenseWeights = DenseWeights.FIXED
    """Whether dense weights are learned, and kept."""
    dense_rate: float = 0.1
    """Their rate, in that of the others, divided by the mean square of the feature."""
    averaged: bool = True
    """Return the average over all steps."""
    centred: bool = True
    """In the end, shift weights of features that differ in target words alone to a mean of 0 (`centred`)."""
    cost_scale: float = 5.0
    """Weight of 1 - BLEU in the soft ramp and in relative margins."""
    bound: float = 1.0
    """Of relative margins: how far the scores of competitors may be from each other, in units of `cost_scale`."""
    added: bool = True
    """Use added rules of the grammar, where it has them: forests begin with the minimal tree."""
    holes: bool = True
    """Learn from all pairs: minimal rules that the tables lack are supplied. Else from those that can be derived."""
    wide: bool = False
    """Whether a replacement may have another source side than the rule it replaces."""
    tight: bool | None = field(default=None, metadata=about(resolved="as the grammar was extracted"))
    """Whether nodes neither begin nor end with unaligned words."""
    max_wrong: int = 20
    """Replacements of a rule at most, the best by estimate; 0: all."""
    prior: float = 1.0
    """Weight of log(occurrences) of rules among derivations of the reference; 0: none, and giant rules win."""
    beam: float = 4.0
    """Derivations of the reference this much worse than the best are left out."""
    wrong_beam: float = 6.0
    """So are those with a replacement."""

    def _check(self) -> None:
        for name, value in (
            ("variance", self.variance),
            ("rate", self.rate),
            ("scale", self.scale),
            ("dense_rate", self.dense_rate),
        ):
            if value is not None and not (0 < value < math.inf):
                raise InputError(f"{name} must be positive, not {value}")
        for name, least in (("max_epochs", 1), ("batch", 1), ("max_wrong", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}, not {getattr(self, name)}")
        for name, value in (("cost_scale", self.cost_scale), ("bound", self.bound)):
            if not 0 < value < math.inf:
                raise InputError(f"{name} must be positive, not {value}")
        if not (math.isfinite(self.prior) and self.beam >= 0 and self.wrong_beam >= 0):
            raise InputError("prior must be finite, beam and wrong_beam not negative")
        if self.form is Form.LIST and self.contest is Contest.RULES:
            raise InputError("Algorithm 1 lists derivations; leave out contest or form")
        if self.objective is NeighbourLoss.RELATIVE_MARGIN and not self.by_rule:
            raise InputError("relative margins are those of rules; leave out contest and form, or choose soft-ramp")
        if self.form is Form.LIST and self.wide:
            raise InputError("Algorithm 1 replaces rules by those with the same source side; leave out wide or form")
        self.stopping()

    @property
    def by_rule(self) -> bool:
        """Whether each rule competes with those in its place only."""
        return (self.contest or (Contest.RULES if self.form is Form.WHOLE else Contest.DERIVATIONS)) is Contest.RULES

    def stopping(self) -> Stopping:
        return Stopping(max_epochs=self.max_epochs, tolerance=0.0, held_out=self.held_out, keep_best=True)

    def model(self) -> _core.ReferenceModel:
        return self.model_of(self.objective)

    @takes_text
    def model_of(self, loss: NeighbourLoss) -> _core.ReferenceModel:
        return _core.ReferenceModel(
            loss.value,
            prior_weight=self.prior,
            cost_scale=self.cost_scale,
            by_rule=self.by_rule,
            bound=self.bound * self.cost_scale,
        )

    def learn_forests(
        self,
        store: _core.ReferenceStore,
        start: Float64Array,
        dense: Sequence[int],
        frozen: Sequence[int],
        *,
        positions: Int64Array,
        folds: Int64Array | None,
        seed: int,
        groups: Int64Array | None = None,
        n_threads: int = 1,
    ) -> ForestsLearned:
        """Weights from sentences of the store, beginning with `start`, scaled; those of `frozen` features stay, and in
        the end those of `dense` ones unless they are free.

        `folds` are those of the sentences, if they have any; `groups` those of the features, as `source_groups` has
        them, without which nothing is centred. Raises FailedError where steps are too long, or where
        there is nothing to learn from.
        """
        if not len(positions):
            raise FailedError("no sentence has a rule that could be replaced; there is nothing to learn from")
        free, of_dense = np.ones(store.n_features), np.asarray(dense, np.int32)
        # A mean square far below 1 is that of a feature few replacements have.
        free[of_dense] = self.dense_rate / np.maximum(store.mean_squares(of_dense), 1.0)
        if self.dense is DenseWeights.FIXED:
            free[of_dense] = 0
        free[np.asarray(frozen, np.int64)] = 0
        if self.by_rule:
            store.weigh_references(self.model(), start, n_threads)
        split = Split.draw(positions, self.stopping(), key=(seed,), folds=folds)
        learning = NeighbourLearner(self, store, start, free, seed=seed, n_threads=n_threads)
        rate = self.rate or learning.calibrate(split)
        learning.begin(len(split.learned), rate)
        before = learning.watch(split.watched, start, {})
        found = run_epochs(learning, split, self.stopping(), start=(start, before.merit))
        watched = f"{split.n_held_out:,} sentences held out" if split.n_held_out else "the sentences learned from"
        notes = [f"initial rate {rate:g}{'' if self.rate else ', calibrated'}", *found.notes]
        if not found.best:
            notes.append(f"no epoch has a lower loss than the start on {watched}: these are the starting weights")
        else:
            notes.append(f"epoch {found.best} of {len(found.trace)} is the best on {watched}")
        values, counts = found.values.copy(), store.counts().astype(np.float64)
        stays = counts == 0
        stays[np.asarray(frozen, np.int64)] = True
        if self.centred and groups is not None and found.best:
            values = centred(values, np.where(stays, -1, groups), counts)
        values[stays] = start[stays]  # averages are rounded
        if self.dense is not DenseWeights.FREE:
            values[of_dense] = start[of_dense]
        model, n = self.model(), max(1, len(split.watched))
        losses = [store.value(model, split.watched, each, n_threads) for each in (start, values)]
        if self.dense is DenseWeights.ASIDE:
            aside = store.value(model, split.watched, found.values, n_threads)[0] / n
            notes.append(f"with the dense weights that are set aside the mean loss was {aside:.4f}")
        return ForestsLearned(
            values=values,
            trace=found.trace,
            notes=tuple(notes),
            loss_before=losses[0][0] / n,
            loss_after=losses[1][0] / n,
            share_before=losses[0][1],
            share_after=losses[1][1],
        )
