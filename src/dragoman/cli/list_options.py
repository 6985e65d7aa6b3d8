"""What commands on candidate lists share: options of the lists and of their metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from dragoman.candidates import (
    FIELDS,
    ExternalObjective,
    MixedObjective,
    NbestFormat,
    Objective,
    Pool,
    has_segmentation,
    load_pool,
    merge_pools,
    mixes_metrics,
    read_nbest,
    read_pool,
    read_references,
    read_text_lists,
    summed_names,
)
from dragoman.cli.scoring import Lowercase, Tokenize, warn_of_empty_references, warn_of_raw_text, warn_of_subwords
from dragoman.cli.session import Session
from dragoman.errors import InputError
from dragoman.features import Weights
from dragoman.metric import ReferenceLength, Tokenizer
from dragoman.settings import Record
from dragoman.text import read_lines

__all__ = ["CandidateOptions", "FeatureOptions", "ListOptions", "MetricOptions", "added_files", "score_file"]

_candidates = partial(typer.Option, rich_help_panel="Candidates")
_metric = partial(typer.Option, rich_help_panel="Metric")


def added_files(add: Sequence[str] | None) -> list[str]:
    """What `--add NAME=FILE` reads."""
    named = [text.partition("=")[2] for text in add or ()]
    return [name for name in named if name and Path(name).exists()]


def score_file(told: str) -> str:
    """The file of `--scores FILE` or `--scores NAME=FILE`."""
    name, equals, file = told.partition("=")
    return file if equals and name and not Path(told).exists() else told


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateOptions(Record):
    """How lists are read; a command's own options are fields of a subclass."""

    format_: Annotated[
        NbestFormat | None, _candidates("--format", help="Format of the lists; detected unless given.")
    ] = None
    per_sentence: Annotated[
        int | None,
        _candidates(min=1, metavar="N", help="The lists are plain text with this number of lines for each sentence."),
    ] = None
    fields: Annotated[
        str | None,
        _candidates(
            metavar="NAMES",
            help=f"Order of a line's parts, for Joshua's templates: {','.join(FIELDS)}; an empty name skips a part.",
        ),
    ] = None
    allow_missing: Annotated[
        bool,
        _candidates(
            "--allow-missing",
            help="A feature that a line lacks is 0, a score the mean of its list; references may have no candidates.",
        ),
    ] = False

    def field_order(self) -> tuple[str, ...] | None:
        return None if self.fields is None else tuple(name.strip() for name in self.fields.split(","))

    def read_files(
        self, session: Session, paths: Sequence[str], *, dense: list[str] | None = None, distinct: bool = True
    ) -> Pool:
        """One pool of all lists, without duplicate candidates unless not `distinct`."""
        if self.per_sentence is not None and self.format_ is not None:
            raise InputError("--per-sentence is for plain text; leave out --format")
        session.say(f"reading {len(paths)} candidate list{'s' if len(paths) > 1 else ''}")
        if len(paths) == 1 and Path(paths[0]).is_dir():
            return load_pool(paths[0])
        reading: dict[str, Any] = {
            "format_": self.format_,
            "fields": self.field_order(),
            "dense": dense,
            "allow_missing": self.allow_missing,
        }
        if self.per_sentence is not None:
            n = self.per_sentence
            parts = [read_text_lists(path, n, round_number=number) for number, path in enumerate(paths)]
            pool = merge_pools(parts, distinct=distinct, n_threads=session.n_threads)
        elif any(Path(path).is_dir() for path in paths):
            parts = [
                load_pool(path) if Path(path).is_dir() else read_nbest(path, round_number=number, **reading)
                for number, path in enumerate(paths)
            ]
            pool = merge_pools(parts, distinct=distinct, n_threads=session.n_threads)
        else:
            pool = read_pool(paths, distinct=distinct, n_threads=session.n_threads, **reading)
        session.say(
            f"{pool.n_candidates:,} {'distinct ' * distinct}candidates of {pool.n_sentences:,} sentences, "
            f"{pool.n_features:,} features"
        )
        if has_segmentation(pool.words):
            session.warn("the candidates contain segmentation marks such as |0-0|, which count as words")
        return pool


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOptions(CandidateOptions):
    """How candidates are measured."""

    reference: Annotated[
        list[str] | None,
        _metric("--reference", "-r", metavar="FILE", help="References, one sentence per line; repeat for several."),
    ] = None
    metric: Annotated[
        str,
        _metric(
            "--metric",
            "-m",
            metavar="NAME",
            help="bleu, chrf, chrf++, ter, wer, ribes, (ter-bleu)/2, or PACKAGE.MODULE:CLASS of your own.",
        ),
    ] = "bleu"
    external: Annotated[
        list[str] | None,
        _metric(
            metavar="NAME",
            help="Maximise this score of the JSON lines, or 'comet - 0.04*metricx', or with -r 'comet + 0.5*chrf'; "
            "repeat for a sum.",
        ),
    ] = None
    lower_is_better: Annotated[bool, _metric("--lower-is-better", help="The external score is a loss.")] = False
    tokenize: Tokenize = Tokenizer.NONE
    lowercase: Lowercase = False
    reference_length: Annotated[
        ReferenceLength, _metric("--reference-length", help="BLEU's reference length where there are several.")
    ] = ReferenceLength.CLOSEST

    def objective(self, session: Session) -> Objective:
        """What is maximised; BLEU is unsmoothed, as in MERT."""
        if self.external is not None and self.reference:
            return self._mixed_objective(session, _added_up(self.external))
        if self.external is not None:
            return ExternalObjective(
                _added_up(self.external),
                higher_is_better=not self.lower_is_better,
                fill_missing=self.allow_missing,
            )
        if not self.reference:
            raise InputError("no references; give at least one with -r, or say --external")
        objective = Objective(
            self.metric,
            tokenizer=self.tokenize,
            lowercase=self.lowercase,
            reference_length=self.reference_length,
        )
        texts = read_references(self.reference)
        for number, path in enumerate(self.reference):
            warn_of_empty_references(session.warn, path, [several[number] for several in texts])
        if self.tokenize is Tokenizer.NONE and "bleu" in objective.name:
            warn_of_raw_text(session.warn, [several[0] for several in texts if several])
        return _Watched(objective.on(texts, allow_missing=self.allow_missing), session)

    def _mixed_objective(self, session: Session, told: str) -> Objective:
        """A sum of external scores and of metrics."""
        if not mixes_metrics(told):
            raise InputError("an external score needs no references; leave out -r or --external, or add a metric to it")
        if self.lower_is_better:
            raise InputError("in a sum with a metric a loss has a minus: --external 'chrf - 0.1*loss'")
        if self.metric != "bleu":
            raise InputError(f"name the metric in the sum: --external '{told} + {self.metric}'")
        mixed = MixedObjective(
            told,
            read_references(self.reference or []),
            tokenizer=self.tokenize,
            lowercase=self.lowercase,
            allow_missing=self.allow_missing,
            fill_missing=self.allow_missing,
        )
        return _Watched(mixed, session)


class _Watched(Objective):
    """Looks for marks of subwords in the first pool: a decoder's lists of later rounds are no other."""

    __slots__ = ("_inner", "_warnings")
    _inner: Objective
    _warnings: Iterator[Callable[[str], None]]

    def __init__(self, inner: Objective, session: Session) -> None:
        self._keep(inner.metric, inner.references, allow_missing=inner.allow_missing)
        object.__setattr__(self, "_inner", inner)
        object.__setattr__(self, "_warnings", iter((session.warn,)))

    def measure(self, pool: Pool, *, n_threads: int = 1) -> Pool:
        for warn in self._warnings:
            lines = [line for several in self.references for line in several]
            warn_of_subwords(warn, pool.words, lines, "the candidates have")
        return self._inner.measure(pool, n_threads=n_threads)

    def on(self, references: Sequence[Sequence[str]], *, allow_missing: bool = False) -> Objective:
        return self._inner.on(references, allow_missing=allow_missing)


def _added_up(told: Sequence[str]) -> str:
    """One sum of all that was named; a part that begins with a minus is subtracted."""
    first, *others = (part.strip() for part in told)
    return first + "".join(f" - {part[1:].lstrip()}" if part.startswith("-") else f" + {part}" for part in others)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions(MetricOptions):
    """Options of candidate lists and of their metric; a command's own options are fields of a subclass."""

    nbest: Annotated[
        list[str] | None,
        _candidates(
            metavar="FILE",
            help="Candidate list (Moses, cdec, Joshua, Travatar, fairseq, JSON lines, text) or stored pool; repeat.",
        ),
    ] = None

    scores: Annotated[
        str | None,
        _candidates(
            metavar="[NAME=]FILE",
            help="Numbers for plain text (--per-sentence): a header of names, then a line for each candidate, by tabs; "
            "with a NAME a number a line. What --external names is a score, all else are features.",
        ),
    ] = None

    def score_files(self) -> list[str]:
        """What --scores reads."""
        return [] if self.scores is None else [score_file(self.scores)]

    def read_lists(self, session: Session, dense: list[str] | None = None, *, distinct: bool = True) -> Pool:
        """One pool of all lists, without duplicate candidates unless not `distinct`."""
        if not self.nbest:
            raise InputError("no candidates; name a list with --nbest")
        if self.scores is not None:
            return self._read_scored(session, self.nbest, self.scores)
        return self.read_files(session, self.nbest, dense=dense, distinct=distinct)

    def _read_scored(self, session: Session, lists: Sequence[str], scores: str) -> Pool:
        """Plain text with a table of numbers, line by line; duplicates differ in theirs, so they stay."""
        from dragoman.candidates.features import with_score_table

        if self.per_sentence is None or len(lists) > 1:
            raise InputError(
                "--scores is for one list of plain text (--nbest, --per-sentence); `dragoman features` adds a table to "
                "others"
            )
        named = [name for told in self.external or () for name in summed_names(told)]
        return with_score_table(self.read_files(session, lists, distinct=False), scores, named=named)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureOptions(ListOptions):
    """Options of lists whose candidates may get more features."""

    add: Annotated[
        list[str] | None,
        _candidates(
            metavar="NAME[=ARGUMENT]", help="Add features to the candidates, as `dragoman features` does; repeat."
        ),
    ] = None
    source: Annotated[
        str | None,
        _candidates("--source", "-s", metavar="FILE", help="Source sentences, one per line; needed for --add."),
    ] = None

    def read_with_features(
        self,
        session: Session,
        dense: list[str] | None = None,
        *,
        teacher: Objective | None = None,
        weights: Weights | None = None,
    ) -> Pool:
        """One pool of all lists, with the features of --add, in which duplicates count as they do in `features`.

        A scale that is to be learned is found on the lists with a teacher, or is that of the weights' names.
        """
        if self.add and self.source is None:
            raise InputError("--add needs the source sentences; name them with --source")
        if self.source is not None and not self.add:
            raise InputError("--source is for --add; leave it out, or name features to add")
        pool = self.read_lists(session, dense, distinct=not self.add)
        if not self.add or self.source is None:
            return pool
        from dragoman.candidates.features import add_candidate_features

        told = self._with_scales(session, self.add, pool, teacher, weights)
        session.say(f"adding features: {', '.join(told)}")
        sources = list(read_lines(self.source))
        added = add_candidate_features(pool, told, sources, n_threads=session.n_threads)
        pool = added.distinct(n_threads=session.n_threads)
        if pool.n_candidates < added.n_candidates:
            session.say(f"{pool.n_candidates:,} distinct candidates")
        return pool

    def _with_scales(
        self, session: Session, told: list[str], pool: Pool, teacher: Objective | None, weights: Weights | None
    ) -> list[str]:
        from dragoman.candidates.features import needs_scale, with_learned_scales, with_scales_of

        if not any(map(needs_scale, told)):
            return told
        if teacher is None:
            return told if weights is None else with_scales_of(told, weights)
        pool = teacher.measure(pool, n_threads=session.n_threads)
        told, learned = with_learned_scales(told, pool, n_threads=session.n_threads)
        for each in learned:
            session.say(
                f"learned {each.told}: correlation of agreement with the gain {each.correlation:.3f}, uniform "
                f"{each.uniform:.3f}"
            )
        return told
