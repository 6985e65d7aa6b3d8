"""Lines whose brackets or quotation marks are no pairs any more: broken_pairs.py SOURCE TRANSLATION (raw text)."""

from __future__ import annotations

import sys

from dragoman.corpus.tokens import TextTokenizer
from dragoman.corpus.tokens.pairs import QUOTATION, broken_pairs, kind_of, pairs_of
from dragoman.text import read_parallel

NAMES = {QUOTATION: "quotation marks", "(": "round brackets", "[": "square brackets"}


def main() -> None:
    tokenizer = TextTokenizer(None)
    having, broken = dict.fromkeys(NAMES, 0), dict.fromkeys(NAMES, 0)
    for lines in read_parallel(sys.argv[1:3]):
        source, target = (tokenizer.tokenize(line).split(" ") for line in lines)
        lost = broken_pairs(source, target)
        for kind in {kind_of(token) for token in source} & NAMES.keys():
            if pairs_of(source, (kind,)):
                having[kind] += 1
                broken[kind] += kind in lost
    for kind, name in NAMES.items():
        print(f"{name}: {broken[kind]} of {having[kind]} lines broken")


if __name__ == "__main__":
    main()
