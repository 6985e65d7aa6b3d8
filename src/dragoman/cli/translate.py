"""`dragoman translate`: text through a system."""

from __future__ import annotations

import itertools
import json as json_module
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from dragoman.candidates import NbestFormat, Pool, nbest_blocks
from dragoman.cli.engine_options import Address, EngineOption, Workers, engine_of
from dragoman.cli.search_weights import read_search_weights
from dragoman.cli.session import Quiet, Session, Summary, Threads, check_outputs
from dragoman.corpus.tokens import TokenLines
from dragoman.corpus.tokens.forced import read_glossary, without_marks
from dragoman.cost import cpu_seconds
from dragoman.errors import InputError, MismatchError
from dragoman.features import Weights
from dragoman.files.store import make_folder
from dragoman.forest import Forest, write_forest
from dragoman.settings import Record
from dragoman.system import (
    Explanation,
    ForcedExplanation,
    LineTranslation,
    ListsJob,
    LongLines,
    Preset,
    System,
    SystemView,
    TranslationJob,
    other_kind,
    pool_of_lists,
    unknown_source,
)
from dragoman.text import LineWriter, open_output, printable, read_arriving_lines, read_lines
from dragoman.work.engine import Engine, EngineName, LocalEngine

__all__ = ["translate"]

_BATCH = 256


class Format(StrEnum):
    """What a candidate or an explanation looks like."""

    TEXT = "text"
    MOSES = "moses"
    CDEC = "cdec"
    JSONL = "jsonl"


def translate(
    folder: Annotated[Path, typer.Argument(metavar="SYSTEM", help="Folder of a system.")],
    in_file: Annotated[str, typer.Option("--in", "-i", help="Source text, a sentence a line.")] = "-",
    out: Annotated[str, typer.Option("--out", "-o", help="Where the translations go.")] = "-",
    nbest: Annotated[int | None, typer.Option(min=1, help="So many candidates of each sentence.")] = None,
    format_: Annotated[Format, typer.Option("--format", help="Of candidates and explanations.")] = Format.TEXT,
    distinct: Annotated[bool, typer.Option("--distinct", help="Candidates with different words only.")] = False,
    forest: Annotated[
        Path | None, typer.Option(help="Write each search space here too, as 0.json.gz, 1.json.gz, …")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Phrases, word links, and what each feature contributed.")
    ] = False,
    target: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="With --explain: translations, a line each, and why they are not the best."),
    ] = None,
    raw: Annotated[
        bool | None,
        typer.Option(
            "--raw/--tokenized",
            help="Raw text in and out, or tokens; what the system was trained on unless given.",
        ),
    ] = None,
    languages: Annotated[
        str | None,
        typer.Option(metavar="SRC-TGT", help="Language codes such as de-en, for raw text; those of training if known."),
    ] = None,
    glossary: Annotated[
        str | None, typer.Option(metavar="FILE", help="Terms and their translations, a tab between, a pair a line.")
    ] = None,
    weights: Annotated[
        list[str] | None, typer.Option(help="Other weights than the system's; repeat to unite dense and sparse.")
    ] = None,
    without_fold: Annotated[
        int | None, typer.Option(min=0, help="As if this fold had not been in the training.")
    ] = None,
    line_buffered: Annotated[
        bool,
        typer.Option(
            "--line-buffered",
            help="Translate and write each line as it comes, for pipes; in a terminal without it, too.",
        ),
    ] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Less search.")] = False,
    accurate: Annotated[bool, typer.Option("--accurate", help="More search.")] = False,
    summary: Summary = None,
    engine: EngineOption = EngineName.LOCAL,
    workers: Workers = None,
    address: Address = None,
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Translate text line by line; an empty line stays empty.

    A sentence of more than 1,000 words (300 for hierarchical systems) is cut into parts that are translated one by
    one; a warning names the lines. Of raw text, a line with more sentences than those of the training text is
    translated in parts, and addresses, paths, placeholders such as %s, tags and numbers stay what they are.
    <t translation="gate">Tor</t> in the text forces a translation, as --glossary does.

    Candidates (--nbest) of whole lines are written as text (line, score and words with tabs between), or as lists that
    `tune` and `rerank` read; those of raw text are raw text, too, so that BLEU wants --tokenize 13a. With --explain,
    --format jsonl gives one JSON object a sentence. --target FILE explains given translations instead, each with its
    best derivation: whether the weights or search prefer the system's own, feature by feature, or what the tables
    cannot derive; a line of several sentences is one.

    Example: dragoman translate system < test.de > test.out

    dragoman translate system --glossary terms.tsv -i manual.de -o manual.en

    dragoman translate system -i dev.de --nbest 100 --format moses -o dev.nbest.gz

    dragoman translate system -i test.de --explain --target test.en
    """
    session = Session(n_threads=threads, quiet=quiet)
    if fast and accurate:
        raise InputError("choose one of --fast and --accurate")
    if explain and (nbest is not None or forest is not None):
        raise InputError("--explain is about the best translation; leave out --nbest and --forest")
    if target is not None and not explain:
        raise InputError("--target names translations to explain; add --explain")
    if target == in_file == "-":
        raise InputError("source and --target cannot both be standard input")
    if forest is not None and (nbest is not None or format_ is not Format.TEXT):
        raise InputError("--forest writes the whole search space; leave out --nbest and --format")
    if distinct and nbest is None:
        raise InputError("--distinct is about lists of candidates; add --nbest")
    typed = in_file == "-" and sys.stdin is not None and sys.stdin.isatty()
    shared = engine is not EngineName.LOCAL or workers is not None
    if shared and line_buffered:
        raise InputError("workers take many lines at once; leave out --line-buffered, or the workers")
    if shared and (explain or forest is not None):
        raise InputError("workers make translations and lists; leave out --explain and --forest, or the workers")
    lists = nbest is not None or (format_ is not Format.TEXT and not explain)
    if glossary is not None and (target is not None or forest is not None or lists):
        raise InputError("--glossary is for translations; leave out --nbest, --format, --forest and --target")
    check_outputs(
        [in_file, *(weights or []), *([glossary] if glossary else []), *([target] if target else [])],
        out=out,
        summary=summary,
    )
    system = System.load(folder)
    if languages is not None and not (system.settings.text.raw if raw is None else raw):
        raise InputError("--languages is for raw text; add --raw")
    terms = read_glossary(glossary) if glossary is not None else {}
    one_by_one = line_buffered or (typed and not shared)
    view = system.view(without_fold)
    job = _Job(
        view=view,
        weights=read_search_weights(weights, view) if weights else view.weights,
        preset=Preset.FAST if fast else Preset.ACCURATE if accurate else Preset.DEFAULT,
        n_threads=session.n_threads,
        raw=raw,
        languages=languages,
        text=view.lines(raw=raw, languages=languages),
        batch=1 if one_by_one else _BATCH,
    )
    source = read_arriving_lines(in_file) if one_by_one else read_lines(in_file)
    first = [] if one_by_one else list(itertools.islice(source, _BATCH))
    unknown = unknown_source(system, list(map(without_marks, first)), job.text)
    if unknown.many:
        session.warn(unknown.warning("the input"))
    elif (kind := other_kind(first, job.text)) is not None:
        session.warn(f"the input: {kind}")
    lines = source if one_by_one else session.track(itertools.chain(first, source), "translating")
    long = LongLines(job.text, view.translator.max_words)
    if explain or lists or forest is not None:
        lines = long.refused(lines, in_file, whole=not explain or target is not None)
    else:
        lines = long.counted(lines)
    cpu, wall = cpu_seconds(), time.monotonic()
    if typed:
        session.say("type text, a line of one sentence or more; Ctrl-D ends")
    with (
        engine_of(session, engine, workers, address, threads=threads) as chosen,
        open_output(out, line_buffered=one_by_one) as output,
    ):
        if explain:
            n = _explain(job, lines, output, format_, target, terms)
        elif nbest is not None or format_ is not Format.TEXT:
            n = _lists(job, chosen, lines, output, nbest or 1, format_, distinct)
        elif forest is not None:
            n = _write(output, _with_forests(job, lines, forest))
        else:
            n = _write(output, job.translate(chosen, lines, terms))
    elapsed = time.monotonic() - wall
    session.say(f"{n:,} sentences, {1000 * elapsed / max(1, n):.1f} ms each")
    if (cut := long.warning()) is not None:
        session.say(cut)
    if summary is not None:
        record = {
            "system": str(folder),
            "n_sentences": n,
            "unknown_words": None if one_by_one else unknown.share,
            "wall_s": elapsed,
            "cpu_s": cpu_seconds() - cpu,
        }
        session.write_json(summary, record)


def _write(output: LineWriter, lines: Iterable[str]) -> int:
    n = 0
    for line in lines:
        output.write(line)
        n += 1
    return n


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job(Record):
    view: SystemView
    weights: Weights
    preset: Preset
    n_threads: int
    raw: bool | None
    languages: str | None
    text: TokenLines
    batch: int
    """Lines that are translated at once."""

    def translate(self, engine: Engine, lines: Iterator[str], terms: Mapping[str, str]) -> Iterator[str]:
        job = TranslationJob(
            view=self.view,
            weights=self.weights,
            preset=self.preset,
            raw=self.raw,
            languages=self.languages,
            terms=terms,
        )
        for translations in engine.map(job, _batches(lines, self.batch)):
            yield from translations

    def pools(
        self, engine: Engine, lines: Iterator[str], k: int, distinct: bool
    ) -> Iterator[tuple[Sequence[str], Pool]]:
        """Lines, and their lists, a batch after the other."""
        first, prepare = 0, self.text.prepare
        if isinstance(engine, LocalEngine):
            settings: dict[str, Any] = {"weights": self.weights, "preset": self.preset, "n_threads": self.n_threads}
            for batch in _batches(lines, self.batch):
                tokens = [prepare(line) for line in batch]
                yield batch, self.view.kbest(tokens, k, distinct=distinct, first_sentence=first, **settings)
                first += len(batch)
            return
        job = ListsJob(view=self.view, weights=self.weights, k=k, distinct=distinct, preset=self.preset)
        sent: deque[list[str]] = deque()

        def prepared() -> Iterator[list[str]]:
            for batch in _batches(lines, self.batch):
                sent.append(batch)
                yield [prepare(line) for line in batch]

        for part in engine.map(job, prepared()):
            yield sent.popleft(), pool_of_lists([part], self.view, first_sentence=first)
            first += part.best.n_sentences

    def forests(self, sentences: Iterator[str]) -> Iterator[Forest]:
        return self.view.forests(sentences, self.weights, preset=self.preset, n_threads=self.n_threads)


def _batches(lines: Iterator[str], size: int) -> Iterator[list[str]]:
    while batch := list(itertools.islice(lines, size)):
        yield batch


def _lists(
    job: _Job, engine: Engine, lines: Iterator[str], output: LineWriter, k: int, format_: Format, distinct: bool
) -> int:
    n = 0
    for batch, pool in job.pools(engine, lines, k, distinct):
        if format_ is Format.TEXT:
            for shard in pool.shards:
                for c, s in enumerate(shard.sentence_of_each().tolist()):
                    words = job.text.restore(pool.text(shard, c), batch[int(shard.sentence_ids[s]) - n])
                    output.write(f"{shard.sentence_ids[s]}\t{shard.totals[c]:.6f}\t{words}")
        else:
            if job.text.is_raw:
                pool = pool.with_texts(partial(_restored, job.text, batch, n))
            for block in nbest_blocks(pool, format_=NbestFormat(format_.value)):
                output.write_block(block)
        n += pool.n_sentences
    return n


def _restored(text: TokenLines, lines: Sequence[str], first: int, tokens: str, sentence: int) -> str:
    """The text of a candidate of a sentence of a batch whose first sentence is `first`."""
    return text.restore(tokens, lines[sentence - first])


def _with_forests(job: _Job, lines: Iterator[str], folder: Path) -> Iterator[str]:
    make_folder(folder)
    number = 0
    for batch in _batches(lines, job.batch):
        forests = job.forests(job.text.prepare(line) for line in batch)
        for line, forest in zip(batch, forests, strict=True):
            write_forest(forest, folder / f"{number}.json.gz")
            number += 1
            best = forest.best(job.weights)
            yield "" if best is None else job.text.restore(" ".join(best.tokens()), line)


def _explain(
    job: _Job,
    lines: Iterator[str],
    output: LineWriter,
    format_: Format,
    target: str | None,
    terms: Mapping[str, str],
) -> int:
    if format_ not in (Format.TEXT, Format.JSONL):
        raise InputError("an explanation is text or jsonl")
    n = 0
    for number, found in _explained(job, lines, terms) if target is None else _forced(job, lines, target):
        n = number + 1
        if format_ is Format.JSONL:
            plain = {"source": "", "text": "", "pieces": []} if found is None else found.to_json()
            output.write(json_module.dumps({"id": number, **plain}, ensure_ascii=False, allow_nan=False))
        elif found is not None:
            output.write("\n".join([*map(printable, found.lines()), ""]))
        else:
            output.write("")
    return n


def _explained(job: _Job, lines: Iterator[str], terms: Mapping[str, str]) -> Iterator[tuple[int, Explanation | None]]:
    def explained(tokens: str) -> Explanation | None:
        return job.view.explain(tokens, weights=job.weights, preset=job.preset)

    translation = LineTranslation(text=job.text, terms=terms, protect=job.text.is_raw)
    for number, line in enumerate(lines):
        found: list[Explanation | None] = [*translation.explain(line, explained)]
        for one in found or [None]:
            yield number, one


def _forced(job: _Job, lines: Iterator[str], target: str) -> Iterator[tuple[int, ForcedExplanation | None]]:
    for number, (line, translation) in enumerate(itertools.zip_longest(lines, read_lines(target))):
        if translation is None or line is None:
            short, long = (
                ("the translations", "the source") if translation is None else ("the source", "the translations")
            )
            raise MismatchError(f"{short} end after {number} lines and {long} do not", path=target, line=number + 1)
        tokens = job.text.prepare(without_marks(line)), job.text.prepare_target(translation)
        yield number, job.view.force_tokens(*tokens, weights=job.weights, preset=job.preset)
