"""`dragoman corpus debian`: a parallel corpus from the translations in Debian's archive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.session import Json, Quiet, Session
from dragoman.errors import InputError, needing

__all__ = ["debian"]

_SHOWN = 5


def debian(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the corpus.")],
    languages: Annotated[str, typer.Option(metavar="SRC-TGT", help="Languages as Debian names them: de-en, pt_BR-en.")],
    parts: Annotated[
        list[str] | None,
        typer.Option("--part", metavar="NAME", help="Only descriptions, or only interfaces; both unless given."),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            min=0, help="Packages to fetch for their interface translations, those with most of them first; 0: all."
        ),
    ] = 200,
    folder: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="Translation-xx files, packages and catalogues instead of apt."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on after a stop; what was fetched is kept.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Collect a parallel corpus from the archive of a Debian system: package descriptions and interface translations.

    By apt as this machine is configured, without changing anything outside the folder; nobody needs to be root. The
    folder gets corpus.SRC and corpus.TGT, corpus.domain with the kind of each line, and sources.tsv, which names every
    source. Clean and split them next.

    Example: dragoman corpus debian --languages de-en -o debian

    dragoman corpus debian --languages de-en --part descriptions -o descriptions

    dragoman corpus clean -s debian/corpus.de -t debian/corpus.en --out-source clean.de --out-target clean.en
    """
    with needing("dragoman-debian"):
        from dragoman_debian import DebianConfig, build_corpus
        from dragoman_debian.build import Part

    session = Session(json=json, quiet=quiet)
    source, dash, target = languages.partition("-")
    if not dash:
        raise InputError(f"--languages {languages}: two languages such as de-en were expected")
    for part in parts or ():
        if part not in list(Part):
            raise InputError(f"--part {part}: expected {' or '.join(Part)}")
    chosen = tuple(Part(part) for part in parts or Part)
    config = DebianConfig(languages=(source, target), parts=chosen, limit=limit or None, folder=folder)
    with session.progress("fetching packages", config.limit) as bar:
        result = build_corpus(out, config, resume=resume, say=session.say, progress=lambda done, total: bar(done))
    for name in result.failed[:_SHOWN]:
        session.warn(f"left out {name}")
    if len(result.failed) > _SHOWN:
        session.warn(f"{len(result.failed) - _SHOWN} more packages were left out")
    n_pairs = sum(result.n_pairs.values())
    if not n_pairs:
        raise InputError(f"there are no pairs of {source} and {target} there", path=out)
    shown = ", ".join(f"{n:,} of {part}" for part, n in result.n_pairs.items())
    session.show(f"{n_pairs:,} pairs in {result.files[0]} and {result.files[1]} ({shown}); sources in {result.sources}")
    session.emit(
        {
            "source": str(result.files[0]),
            "target": str(result.files[1]),
            "domains": str(result.domains),
            "sources": str(result.sources),
            "n_pairs": result.n_pairs,
            "n_duplicates": result.n_duplicates,
            "failed": result.failed,
        }
    )
