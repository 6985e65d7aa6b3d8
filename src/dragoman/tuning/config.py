"""What can be chosen about tuning a system, and which methods can learn so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dragoman.candidates import Objective
from dragoman.errors import InputError
from dragoman.metric import Metric, Smoothing, Tokenizer
from dragoman.optim import LearnFrom, LearnsFrom, Material, Optimiser, make_loss
from dragoman.settings import Record, takes_text
from dragoman.system import Preset
from dragoman.tuning.loop import LoopSettings
from dragoman.tuning.phi import PhiSettings

__all__ = ["FEWEST", "TuneConfig"]

FEWEST = 50
"""With fewer lines that judge, a difference is chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneConfig(Record):
    """What can be chosen about tuning a system, besides the method."""

    metric: Metric | str = "bleu"
    """Its name, or itself with all of its settings."""
    tokenizer: Tokenizer = Tokenizer.NONE
    """Of BLEU, where the system's tokens are not what it should count."""
    lowercase: bool = False
    """Ignore case in BLEU and chrF."""
    k: int | None = None
    """Candidates of a sentence and round; None: as many as the method wants (100; mira and rm online 30)."""
    distinct: bool | None = None
    """Candidates with different words only; None: as the method wants (mira and rm online)."""
    loop: LoopSettings = field(default_factory=LoopSettings)
    features: tuple[str, ...] | None = None
    """Sparse features; None: those that the system was trained with."""
    frozen: tuple[str, ...] = ()
    """Features, or groups of them, whose weights stay as they are."""
    preset: Preset = Preset.DEFAULT
    fold: int | None = None
    """Decode as if this fold had not been in the training."""
    learn_from: LearnFrom = LearnFrom.DEVELOPMENT
    """What is learned from; the development set measures the rounds in any case."""
    limit: int | None = None
    """Lines of the training text to learn from, evenly over folds; None: all."""
    phi: PhiSettings = field(default_factory=PhiSettings)
    """Weights learned from lists of the training text, or given."""
    judge_lines: int = 1000
    """Lines of the training text's last fold at most, and at most a quarter of it, that judge what hols or a method for
    lists learned from the others."""

    def _check(self) -> None:
        if self.learn_from is not LearnFrom.DEVELOPMENT and self.fold is not None:
            raise InputError("every line of the training text is decoded without its own fold; leave out the fold")
        if self.limit is not None and self.limit < 1:
            raise InputError(f"the limit of training lines must be at least 1, not {self.limit}")
        if self.judge_lines < FEWEST:
            raise InputError(f"judge_lines must be at least {FEWEST}, or chance would judge; it is {self.judge_lines}")

    @takes_text
    def objective(
        self, references: Sequence[Sequence[str]] = (), *, smoothing: Smoothing = Smoothing.NONE
    ) -> Objective:
        """What is maximised, once references are known; `smoothing` is of BLEU by name."""
        return Objective(
            self.metric, references, tokenizer=self.tokenizer, lowercase=self.lowercase, smoothing=smoothing
        )

    def named_metric(self) -> str:
        """The name of the metric, which lists on disk keep. Raises InputError for one that is given itself."""
        if isinstance(self.metric, str):
            return self.metric
        raise InputError(
            f"the metric {self.metric.name} is given with its settings, but lists of the training text only keep the "
            "name of theirs; name a metric, such as 'bleu'"
        )

    def check(self, method: Optimiser, *, n_sentences: int | None = None, n_folds: int | None = None) -> None:
        """Raise InputError for a method that cannot learn from what was chosen, as far as that is known.

        The development set has `n_sentences`, the training text `n_folds`.
        """
        if (plan := method.text_plan()) is not None:
            make_loss(plan.loss, Objective(self.named_metric()).metric, plan.loss_settings)
        by_itself = method.learns_from is LearnsFrom.TRAINING_TEXT
        reads_training = by_itself or self.learn_from is not LearnFrom.DEVELOPMENT
        if self.limit is not None and not reads_training:
            raise InputError("a limit is for lines of the training text; learn from it, or leave out the limit")
        if self.learn_from is LearnFrom.DEVELOPMENT:
            method.check_development(n_sentences)
            return
        if self.learn_from is LearnFrom.LISTS:
            if method.material is Material.FORESTS:
                return
            if by_itself:
                raise InputError(f"{method.name} reads the training text by itself; it learns from no stored lists")
            self.named_metric()  # raises
            if method.learns_from is not LearnsFrom.LISTS:
                raise InputError(f"{method.name} learns from {method.learns_from}, not from lists of the training text")
            return
        method.check_folds(None if n_folds is None else min(n_folds, self.limit or n_folds))
