"""A parallel corpus from what Debian's archive has translated: package descriptions and interfaces of programs."""

from dragoman_debian.archive import AptArchive, Archive, Catalogue
from dragoman_debian.build import DebianConfig, DebianResult, build_corpus
from dragoman_debian.catalogues import message_pairs, read_mo, read_po
from dragoman_debian.descriptions import description_pairs, read_descriptions

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
