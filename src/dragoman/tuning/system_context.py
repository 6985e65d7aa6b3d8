"""A system and its development set, for methods that learn from search spaces or while they decode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from dragoman.candidates import Pool, compacted
from dragoman.errors import MismatchError
from dragoman.features import Weights
from dragoman.forest import Forest
from dragoman.optim import LearningContext, LearnsFrom
from dragoman.optim.context import LiveDecoder as AnyLiveDecoder
from dragoman.optim.learner_pass import Ground, Learners, LearningTask, threads
from dragoman.settings import takes_text
from dragoman.system import LiveDecoder, Preset, SystemView
from dragoman.tuning.decoder import Decoder
from dragoman.tuning.learner_job import EngineLearners, LearnerJob, LearningWorkers, features_of
from dragoman.tuning.mixing import LocalLearners
from dragoman.work.engine import Engine

__all__ = ["LiveMeasuring", "SystemContext"]


class SystemContext(LearningContext):
    """A system and a development set, as methods that learn from more than lists want them.

    With an `engine` its workers decode and learn; this process then knows features and words but keeps no options.
    """

    offers = (LearnsFrom.LISTS, LearnsFrom.FORESTS, LearnsFrom.DECODING)

    @takes_text
    def __init__(
        self,
        view: SystemView,
        sentences: Sequence[str],
        references: Sequence[Sequence[str]],
        *,
        k: int = 30,
        distinct: bool = True,
        preset: Preset = Preset.DEFAULT,
        engine: Engine | None = None,
    ) -> None:
        if len(sentences) != len(references):
            raise MismatchError(f"{len(sentences)} sentences but references of {len(references)}")
        self._view = view
        self._sentences = sentences
        self._references = references
        self._preset = preset
        self._engine = engine
        self._decoder: LiveDecoder | None = None
        self._workers: LearningWorkers | None = None
        self.k = k
        self.distinct = distinct

    @property
    def references(self) -> Sequence[Sequence[str]]:
        return self._references

    @property
    def dense(self) -> Sequence[str]:
        return self._view.translator.dense()

    def forests(self, weights: Weights, *, n_threads: int) -> Iterator[Forest]:
        on_index = weights.on(self._view.index)
        return self._view.forests(self._sentences, on_index, preset=self._preset, n_threads=n_threads)

    def live_decoder(self) -> LiveDecoder:
        """Options of all sentences are built once, in this process or by the workers."""
        if self._decoder is None:
            index = self._view.index
            known = index.lines(0, len(index))
            engine = self._engine
            self._decoder = LiveDecoder(self._view, self._sentences, preset=self._preset, searches=engine is None)
            if engine is not None:
                job = LearnerJob(
                    view=self._view,
                    sentences=self._sentences,
                    references=self._references,
                    preset=self._preset,
                    known=known,
                    features=features_of(index),
                )
                self._workers = LearningWorkers(engine, job, len(index))
        return self._decoder

    def learners(self, task: LearningTask, decoder: AnyLiveDecoder) -> Learners:
        """Threads of this process, or the workers."""
        ground = Ground.of(task, decoder, self._references)
        return LocalLearners(ground) if self._workers is None else EngineLearners(self._workers, ground)

    def translate(self, weights: Weights, *, n_threads: int = 1) -> Pool:
        """The best translation of every sentence, from options that are built once.

        The pool knows its own features and those with a weight that any candidate can have.
        """
        decoder = self.live_decoder()
        known = decoder.index.find_all(weights.index, weights.ids())
        values = weights.on(decoder.index).values
        everything = range(len(decoder))
        if self._workers is not None:
            found = self._workers.decode(everything, values, 1, distinct=False)
        else:
            with threads(n_threads) as each:
                found = list(each(partial(decoder.kbest, weights=values, k=1), everything))
        return compacted(decoder.pool_of(found), also=known[known >= 0])


class LiveMeasuring(Decoder):
    """The decoder of a loop that only measures: the decoder that its learners have."""

    def __init__(self, context: SystemContext, *, n_threads: int = 1) -> None:
        self._context = context
        self._n_threads = n_threads

    def decode(self, weights: Weights) -> Pool:
        """The best translation of every sentence."""
        return self._context.translate(weights, n_threads=self._n_threads)
