"""A parallel corpus from what Debian's archive has translated: package descriptions and interfaces of programs."""

from dragoman.debian.archive import AptArchive, Archive, Catalogue
from dragoman.debian.build import DebianConfig, DebianResult, build_corpus
from dragoman.debian.catalogues import message_pairs, read_mo, read_po
from dragoman.debian.descriptions import description_pairs, read_descriptions

__all__ = [
    "AptArchive",
    "Archive",
    "Catalogue",
    "DebianConfig",
    "DebianResult",
    "build_corpus",
    "description_pairs",
    "message_pairs",
    "read_descriptions",
    "read_mo",
    "read_po",
]
