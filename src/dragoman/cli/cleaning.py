"""Checks of `corpus clean` that need the whole corpus: scripts, languages and word alignment."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dragoman.corpus import Cleaner, DropReason, Side
from dragoman.corpus.profile import ProfileBuilder, outliers
from dragoman.corpus.tokens import learn_side, look_at
from dragoman.corpus.tokens.detection import sample_file
from dragoman.errors import InputError
from dragoman.text import open_output, read_lines, read_parallel

__all__ = ["PairChecks", "parse_score"]

_DEVIATIONS = 4.0
"""A line of another language is lower by more than so many standard deviations."""


def parse_score(text: str | None) -> tuple[str, float] | None:
    """`5%` is a share of the pairs, any other number a score."""
    if text is None:
        return None
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = math.nan
    if text.endswith("%") and 0 <= value < 100:
        return "share", value / 100
    if not text.endswith("%") and -math.inf < value <= 0:
        return "score", value
    raise InputError(f"--alignment-score {text}: expected a share such as 5%, or a mean log probability such as -5")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairChecks:
    """What to check. Text waits in temporary files; memory holds word ids, vocabularies and a few numbers a pair."""

    max_other_script: float
    check_language: bool
    alignment: tuple[str, float] | None

    @property
    def any(self) -> bool:
        return self.max_other_script < 1 or self.check_language or self.alignment is not None

    def clean(
        self,
        cleaner: Cleaner,
        pairs: Callable[[], Iterable[tuple[str, str]]],
        *,
        n_threads: int,
        report: str | None,
    ) -> Iterator[tuple[str, str]]:
        """Pairs that pass the cleaner and the checks; the cleaner's counts tell of both."""
        with tempfile.TemporaryDirectory(prefix="dragoman-clean-") as scratch:
            files = [Path(scratch) / name for name in ("source.zst", "target.zst")]
            builders = ProfileBuilder(), ProfileBuilder()
            with open_output(files[0]) as to_source, open_output(files[1]) as to_target:
                for pair in cleaner.clean(pairs()):
                    for text, builder, output in zip(pair, builders, (to_source, to_target), strict=True):
                        builder.add(text)
                        output.write(text)
            reasons, values = self._judge(files, builders)
            self._align(files, reasons, values, n_threads)
            if report is not None:
                _report(report, files, reasons, values)
            for (f, e), reason in zip(read_parallel(files), reasons, strict=True):
                if reason is None:
                    yield f, e
                else:
                    cleaner.n_kept -= 1
                    cleaner.dropped[reason] += 1

    def _judge(
        self, files: list[Path], builders: tuple[ProfileBuilder, ProfileBuilder]
    ) -> tuple[list[DropReason | None], list[float]]:
        profiles = [builder.build() for builder in builders]
        reasons: list[DropReason | None] = []
        values: list[float] = []
        rows: list[tuple[float, ...]] = []
        for pair in read_parallel(files):
            foreign = max(profile.other_scripts(text) for profile, text in zip(profiles, pair, strict=True))
            reasons.append(DropReason.SCRIPT if foreign > self.max_other_script else None)
            values.append(foreign)
            if self.check_language:
                own = [profile.score(text) for profile, text in zip(profiles, pair, strict=True)]
                other = [profile.score(text)[0] for profile, text in zip(profiles[::-1], pair, strict=True)]
                rows.append((*own[0], other[0], *own[1], other[1]))
        if rows:
            table = np.array(rows)
            for at in (0, 3):
                mean, length, other_mean = table[:, at], table[:, at + 1], table[:, at + 2]
                wrong = outliers(mean, length, _DEVIATIONS) | ((other_mean - mean) * length > 10)
                for i in np.flatnonzero(wrong).tolist():
                    if reasons[i] is None:
                        reasons[i], values[i] = DropReason.LANGUAGE, float(mean[i])
        return reasons, values

    def _align(self, files: list[Path], reasons: list[DropReason | None], values: list[float], n_threads: int) -> None:
        if self.alignment is None or not reasons:
            return
        from dragoman.align.pair_scores import score_pairs

        source, target = (Side.read(_tokens(path)) for path in files)
        scores = score_pairs(source, target, n_threads=n_threads)
        kind, limit = self.alignment
        left = np.array([reason is None for reason in reasons]) & ~np.isnan(scores)
        worst = np.flatnonzero(left)[np.argsort(scores[left], kind="stable")]
        n_bad = int(limit * len(worst)) if kind == "share" else int(np.sum(scores[left] < limit))
        for i in worst[:n_bad].tolist():
            reasons[i], values[i] = DropReason.ALIGNMENT, float(scores[i])


def _tokens(path: Path) -> Path:
    """A file of the text's tokens beside it, if the text is raw; else the text itself."""
    if not look_at(sample_file(path)).raw:
        return path
    side = learn_side(lambda: read_lines(path), None, target=False, case=False)
    tokenize = side.tokenizer(target=False).tokenize
    tokens = path.with_name(f"tokens-{path.name}")
    with open_output(tokens) as output:
        for line in read_lines(path):
            output.write(tokenize(line))
    return tokens


def _report(path: str, files: list[Path], reasons: list[DropReason | None], values: list[float]) -> None:
    """The dropped pairs by reason, the worst first: reason, value, number among the pairs checked, source, target."""
    texts = {
        i: pair
        for i, (pair, reason) in enumerate(zip(read_parallel(files), reasons, strict=True))
        if reason is not None
    }
    order = sorted(
        texts, key=lambda i: (str(reasons[i]), -values[i] if reasons[i] is DropReason.SCRIPT else values[i], i)
    )
    with open_output(path) as output:
        for i in order:
            output.write("\t".join((str(reasons[i]), f"{values[i]:.4f}", str(i + 1), *texts[i])))
