"""`dragoman corpus`: make and look after corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from dragoman.cli.debian import debian
from dragoman.cli.groups import command_group
from dragoman.cli.session import Json, Quiet, Seed, Session, Summary, Threads, check_inputs, check_outputs, table
from dragoman.corpus import (
    DEFAULT_ITERATIONS,
    CleanConfig,
    Cleaner,
    Duplicates,
    PairFiles,
    Side,
    check_class_sizes,
    clustering_work,
    describe_files,
    learn_classes,
    split_pairs,
)
from dragoman.corpus.tokens import TextTokenizer, learn_side
from dragoman.corpus.tokens import detokenize as detokenize_tokens
from dragoman.corpus.tokens.scripts import UNSPACED_LANGUAGES, check_language
from dragoman.cost import cpu_seconds
from dragoman.errors import InputError, naming, needing
from dragoman.files.store import make_folder
from dragoman.text import MosesText, open_output, printable, read_lines, split_tokens

if TYPE_CHECKING:
    from dragoman_synth import Example

__all__ = ["app"]

app = command_group("Make and look after corpora.")
app.command()(debian)

Source = Annotated[str | None, typer.Option("--source", "-s", help="Source side, one sentence a line.")]
Target = Annotated[str | None, typer.Option("--target", "-t", help="Target side, line-aligned with the source.")]
Tsv = Annotated[str | None, typer.Option("--tsv", help="Both sides in one file: source, tab, target.")]
Tmx = Annotated[str | None, typer.Option("--tmx", help="Both sides in a translation memory; name its --languages.")]
Languages = Annotated[str | None, typer.Option("--languages", help="Source and target of the TMX file, such as de,en.")]
Folder = Annotated[Path, typer.Option("--out", "-o", help="Folder to write to; made if need be.")]


@app.command()
def synth(
    out: Folder,
    n_train: Annotated[int, typer.Option("--train", "-n", min=0, help="Training pairs.")] = 10_000,
    n_dev: Annotated[int, typer.Option("--dev", min=0, help="Development pairs.")] = 500,
    n_test: Annotated[int, typer.Option("--test", min=0, help="Test pairs.")] = 500,
    references: Annotated[int, typer.Option(min=1, max=16, help="References for each dev and test sentence.")] = 1,
    noise: Annotated[float, typer.Option(min=0, max=1, help="Share of training pairs to damage.")] = 0.0,
    lowercase: Annotated[bool | None, typer.Option(help="Lowercase both sides; done unless given, or --raw.")] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Text as people write it: cased, punctuation attached to words.")
    ] = False,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Generate a German-English corpus from the built-in grammar: any size, always the same for a seed.

    Writes OUT/train.de, OUT/train.en, OUT/dev.de, OUT/dev.en and so on; with several references OUT/dev.en.0,
    OUT/dev.en.1, … No sentence of dev or test occurs in train.

    Example: dragoman corpus synth -n 100000 --references 4 -o corpus

    dragoman corpus synth -n 20000 --raw -o corpus
    """
    with needing("dragoman-synth"):
        from dragoman_synth import SynthConfig, generate_splits

    session = Session(seed=seed, json=json, quiet=quiet)
    lower = not raw if lowercase is None else lowercase
    config = SynthConfig(seed=seed, n_references=references, noise=noise, lowercase=lower)
    with session.progress("generating", n_train) as progress:
        splits = generate_splits(n_train, n_dev, n_test, config, progress=progress)
    make_folder(out)
    files: list[str] = []
    for part, examples, n_refs in (
        ("train", splits.train, 1),
        ("dev", splits.dev, references),
        ("test", splits.test, references),
    ):
        if examples:
            files += _write_examples(out, part, examples, n_refs, raw=raw)
    session.show("\n".join(files))
    session.emit({"files": files, "n_train": len(splits.train), "n_dev": len(splits.dev), "n_test": len(splits.test)})


def _write_examples(out: Path, part: str, examples: list[Example], n_references: int, *, raw: bool) -> list[str]:
    join = [MosesText(code).detokenize if raw else str for code in ("de", "en")]
    paths = [out / f"{part}.de"]
    paths += [out / f"{part}.en{f'.{r}' if n_references > 1 else ''}" for r in range(n_references)]
    _write(paths[0], (join[0](example.source) for example in examples))
    for r, path in enumerate(paths[1:]):
        _write(path, (join[1](example.references[r]) for example in examples))
    return [str(path) for path in paths]


@app.command()
def clean(
    source: Source = None,
    target: Target = None,
    tsv: Tsv = None,
    tmx: Tmx = None,
    languages: Languages = None,
    out_source: Annotated[str | None, typer.Option(help="Where the kept source sentences go.")] = None,
    out_target: Annotated[str | None, typer.Option(help="Where the kept target sentences go.")] = None,
    out_tsv: Annotated[str | None, typer.Option(help="Where both go, with a tab between them.")] = None,
    min_words: Annotated[int, typer.Option(min=1, help="Drop pairs with fewer words on a side.")] = 1,
    max_words: Annotated[int, typer.Option(min=1, help="Drop pairs with more words on a side.")] = 100,
    max_ratio: Annotated[float, typer.Option(min=1, help="Drop pairs whose lengths differ by more.")] = 9.0,
    duplicates: Annotated[
        Duplicates, typer.Option(help="Keep duplicates, or drop pairs that, or of which a side, were there before.")
    ] = Duplicates.KEEP,
    max_copied: Annotated[
        float, typer.Option(min=0, max=1, help="Drop pairs with a larger share of target words that the source has.")
    ] = 1.0,
    max_other_script: Annotated[
        float, typer.Option(min=0, max=1, help="Drop pairs with more letters of scripts that are rare on their side.")
    ] = 1.0,
    check_language: Annotated[
        bool, typer.Option("--check-language", help="Drop pairs of which a side does not look like its side's text.")
    ] = False,
    alignment_score: Annotated[
        str | None,
        typer.Option(metavar="SHARE%|SCORE", help="Drop the worst aligned, such as 5%, or those below, such as -5."),
    ] = None,
    dropped_file: Annotated[
        str | None, typer.Option("--dropped", help="Where pairs dropped by the last three checks go, the worst first.")
    ] = None,
    identical: Annotated[bool, typer.Option("--drop-identical", help="Drop pairs with equal sides.")] = False,
    source_language: Annotated[str | None, typer.Option(help="Tokenise the source (a code such as de).")] = None,
    target_language: Annotated[str | None, typer.Option(help="Tokenise the target (a code such as en).")] = None,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Lowercase both sides.")] = False,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Drop pairs that would harm training, and say how many and why.

    Example: dragoman corpus clean -s raw.de -t raw.en --source-language de --target-language en
    --lowercase --max-words 80 --out-source train.de --out-target train.en

    dragoman corpus clean -s all.de -t all.en --duplicates pairs --max-copied 0.6 --max-other-script 0.3
    --check-language --alignment-score 5% --dropped bad.tsv --out-source train.de --out-target train.en

    dragoman corpus clean --tmx memory.tmx --languages de,en --out-source all.de --out-target all.en
    """
    from dragoman.cli.cleaning import PairChecks, parse_score

    session = Session(n_threads=threads, json=json, quiet=quiet)
    sides_given = (out_source is not None) + (out_target is not None)
    if (sides_given, out_tsv is not None) not in ((2, False), (0, True)):
        raise InputError("say where the result goes: --out-source and --out-target, or --out-tsv")
    check_outputs(
        [source, target, tsv, tmx], out_source=out_source, out_target=out_target, out_tsv=out_tsv, dropped=dropped_file
    )
    check_inputs(source, target)
    if json and "-" in (out_source, out_target, out_tsv):
        raise InputError("with --json, standard output holds the JSON object; write the corpus to a file")
    files = PairFiles(source=source, target=target, tsv=tsv, tmx=tmx, languages=languages)
    sides = [MosesText(code) if code else None for code in (source_language, target_language)]

    def prepared() -> Iterable[tuple[str, str]]:
        for pair in session.track(files, "cleaning"):
            f, e = (moses.tokenize(text) if moses else text for moses, text in zip(sides, pair, strict=True))
            yield (f.lower(), e.lower()) if lowercase else (f, e)

    cleaner = Cleaner(
        CleanConfig(
            min_words=min_words,
            max_words=max_words,
            max_ratio=max_ratio,
            duplicates=duplicates,
            drop_identical=identical,
            max_copied=max_copied,
        )
    )
    checks = PairChecks(
        max_other_script=max_other_script, check_language=check_language, alignment=parse_score(alignment_score)
    )
    if checks.any:
        if "-" in (source, target, tsv, tmx):
            raise InputError("these checks read the corpus more than once; name files instead of standard input")
        kept = checks.clean(cleaner, prepared, n_threads=session.n_threads, report=dropped_file)
    elif dropped_file is not None:
        raise InputError("--dropped needs --max-other-script, --check-language or --alignment-score")
    else:
        kept = cleaner.clean(prepared())
    if out_tsv is not None:
        # A tab cannot be inside: the cleaner made every run of blanks one space.
        _write(out_tsv, (f"{f}\t{e}" for f, e in kept))
    elif out_source is not None and out_target is not None:
        with open_output(out_source) as to_source, open_output(out_target) as to_target:
            for f, e in kept:
                to_source.write(f)
                to_target.write(e)
    session.say(f"kept {cleaner.n_kept:,} of {cleaner.n_read:,} pairs")
    for reason, count in cleaner.dropped.items():
        if count:
            session.say(f"dropped {count:,}: {reason}")
    session.emit({"n_read": cleaner.n_read, "n_kept": cleaner.n_kept, "dropped": cleaner.dropped})


@app.command()
def stats(
    files: Annotated[list[str], typer.Argument(help="One file, or several line-aligned ones.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Lines, words, distinct words and lengths of one file or of line-aligned files.

    Example: dragoman corpus stats train.de train.en
    """
    session = Session(json=json, quiet=quiet)
    with session.progress("counting") as progress:
        result = describe_files(list(files), progress=progress)
    rows = table("file", "lines", "words", "types", "once", "mean", "median", "max", "empty", "repeated")
    for side in result.sides:
        counts = (side.n_lines, side.n_words, side.n_types, side.n_hapaxes)
        lengths = (f"{side.mean_length:.1f}", f"{side.median_length:g}", f"{side.max_length:,}")
        rest = (f"{side.n_empty:,}", f"{side.n_duplicate_lines:,}")
        rows.add_row(Text(printable(side.path)), *(f"{n:,}" for n in counts), *lengths, *rest)
    session.show(rows)
    if result.length_ratio is not None:
        session.show(f"words of the second file for each of the first: {result.length_ratio:.3f}")
    session.emit(result)


@app.command()
def split(
    out: Folder,
    source: Source = None,
    target: Target = None,
    tsv: Tsv = None,
    tmx: Tmx = None,
    languages: Languages = None,
    n_dev: Annotated[int, typer.Option("--dev", min=0, help="Development pairs.")] = 1000,
    n_test: Annotated[int, typer.Option("--test", min=0, help="Test pairs.")] = 1000,
    source_name: Annotated[str, typer.Option(help="Suffix of the source files.")] = "source",
    target_name: Annotated[str, typer.Option(help="Suffix of the target files.")] = "target",
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw development and test sets at random; no sentence of either side is in two parts.

    Writes OUT/train.SOURCE, OUT/train.TARGET, OUT/dev.SOURCE and so on, in the order of the corpus.

    Example: dragoman corpus split -s all.de -t all.en --source-name de --target-name en --dev 500 --test 500 -o parts
    """
    session = Session(seed=seed, json=json, quiet=quiet)
    if source_name == target_name or not all(name and "/" not in name for name in (source_name, target_name)):
        raise InputError("the two suffixes must differ and must not hold a '/'")
    files = PairFiles(source=source, target=target, tsv=tsv, tmx=tmx, languages=languages)
    pairs = list(session.track(files, "reading"))
    parts = split_pairs(pairs, n_dev=n_dev, n_test=n_test, seed=seed)
    make_folder(out)
    sizes = {}
    for name in ("train", "dev", "test"):
        chosen = getattr(parts, name)
        sizes[f"n_{name}"] = len(chosen)
        _write(out / f"{name}.{source_name}", (f for f, _ in chosen))
        _write(out / f"{name}.{target_name}", (e for _, e in chosen))
        session.say(f"{name}: {len(chosen):,} pairs")
    if parts.n_dropped:
        session.say(f"left out {parts.n_dropped:,} pairs that share a sentence with dev or test")
    session.emit({**sizes, "n_dropped": parts.n_dropped, "folder": str(out)})


@app.command()
def classes(
    files: Annotated[list[str], typer.Option("--in", "-i", help="Text, one sentence a line; repeat to join files.")],
    sizes: Annotated[list[int], typer.Option("--classes", "-n", metavar="N", help="How many classes; repeat.")],
    out: Annotated[str, typer.Option("--out", "-o", help="Where words and classes go (.gz, .xz, .zst: compressed).")],
    iterations: Annotated[
        int, typer.Option(min=1, help="Most visits of each word; it ends when none moves.")
    ] = DEFAULT_ITERATIONS,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn classes of words that stand beside the same words, apart for each number of classes.

    Exchange clustering: words move one by one to the class that raises the likelihood of a bigram model of classes
    most. Writes a line for each word with its class (from 0) at each level; docs/formats.md has the format.

    Example: dragoman corpus classes -i train.en -n 20 -n 50 -n 80 -o classes.en
    """
    session = Session(n_threads=threads, json=json, quiet=quiet)
    check_class_sizes(sizes)
    check_outputs(files, out=out)
    check_inputs(*files)
    if json and out == "-":
        raise InputError("with --json, standard output holds the JSON object; write the classes to a file")
    began = cpu_seconds()
    with session.progress("reading") as progress:
        side = Side.read(*files, progress=progress)
    work = clustering_work(side, sizes, iterations)
    with session.progress("clustering", work) as progress, naming(files[0]):
        learned = learn_classes(side, sizes, iterations=iterations, n_threads=session.n_threads, progress=progress)
    learned.classes.write(out)
    rows = table("classes", "log likelihood", "at the start", "perplexity", "iterations", numeric_from=0)
    for level in learned.levels:
        scores = (f"{value:,.1f}" for value in (level.likelihood, level.start_likelihood))
        rows.add_row(str(level.n_classes), *scores, f"{level.perplexity:.2f}", str(level.n_iterations))
        if not level.converged:
            session.say(f"{level.n_classes} classes: words still moved after {iterations} --iterations")
    if out != "-":
        session.show(rows)
    session.emit(
        {
            "file": out,
            "n_words": len(side.ids),
            "n_types": side.n_types,
            "levels": learned.levels,
            "cpu_s": cpu_seconds() - began,
        }
    )


@app.command()
def tokenize(
    language: Annotated[str, typer.Option("--language", "-l", help="Language code, such as de.")],
    in_file: Annotated[str, typer.Option("--in", "-i", help="Text to read.")] = "-",
    out_file: Annotated[str, typer.Option("--out", "-o", help="Where it goes.")] = "-",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Lowercase as well.")] = False,
    moses: Annotated[
        bool, typer.Option("--moses", help="As Moses does it, by sacremoses: no glue, so not to be joined exactly.")
    ] = False,
    summary: Summary = None,
    quiet: Quiet = False,
) -> None:
    """Words and punctuation apart, as in a system of raw text; `corpus detokenize` gives back the same text.

    A token that stood directly beside another carries the glue ￭ (U+FFED) on that side. Text without spaces between
    words is cut into words that are learned from the text itself, which is then read twice.

    Example: dragoman corpus tokenize -l de < raw.de > tokens.de

    dragoman corpus tokenize -l zh -i raw.zh -o tokens.zh

    dragoman corpus tokenize -l de --moses < raw.de > tokens.de
    """
    check_outputs([in_file], out=out_file, summary=summary)
    split = MosesText(language).tokenize if moses else _tokenizer(language, in_file)
    session = Session(quiet=quiet)
    lines = (split(line) for line in session.track(read_lines(in_file), "tokenising"))
    n_lines = _write(out_file, (line.lower() for line in lines) if lowercase else lines)
    if summary is not None:
        session.write_json(summary, {"n_lines": n_lines})


@app.command()
def detokenize(
    language: Annotated[str, typer.Option("--language", "-l", help="Language code, such as en.")],
    in_file: Annotated[str, typer.Option("--in", "-i", help="Tokenised text to read.")] = "-",
    out_file: Annotated[str, typer.Option("--out", "-o", help="Where it goes.")] = "-",
    moses: Annotated[
        bool, typer.Option("--moses", help="The text has no glue: join it by the rules of Moses, by sacremoses.")
    ] = False,
    summary: Summary = None,
    quiet: Quiet = False,
) -> None:
    """Join tokens with glue, from `corpus tokenize` or a system of raw text, to the text that they were.

    Example: dragoman corpus detokenize -l en < output.tok > output.txt

    dragoman corpus detokenize -l en --moses < moses.tok > output.txt
    """
    check_outputs([in_file], out=out_file, summary=summary)
    rules = MosesText(language)
    join = rules.detokenize if moses else lambda line: detokenize_tokens(split_tokens(line))
    session = Session(quiet=quiet)
    n_lines = _write(out_file, (join(line) for line in session.track(read_lines(in_file), "joining")))
    if summary is not None:
        session.write_json(summary, {"n_lines": n_lines})


def _tokenizer(language: str, in_file: str) -> Callable[[str], str]:
    if not check_language(language):
        raise InputError(f"'{language}' is not a language code such as 'de' or 'en'")
    if language not in UNSPACED_LANGUAGES:
        return TextTokenizer(language).tokenize
    if in_file == "-":
        raise InputError("text without spaces is read twice, to learn its words first; name it with --in")
    side = learn_side(partial(read_lines, in_file), language, target=True, case=False)
    return side.tokenizer(target=True).tokenize


def _write(path: Path | str, lines: Iterable[str]) -> int:
    n_lines = 0
    with open_output(path) as writer:
        for line in lines:
            writer.write(line)
            n_lines += 1
    return n_lines
