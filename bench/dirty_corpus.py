"""Mix bad pairs into a corpus, clean it, and count what `dragoman corpus clean` caught and what it lost.

    python bench/dirty_corpus.py SOURCE TARGET OTHER [options of corpus clean]

OTHER is line-aligned text of a third language. 2.5 % of the pairs get the target of another line, 2.5 % get OTHER as
their target. Prints how many of each are dropped, and how many good pairs.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from dragoman.text import open_output, read_lines


def main() -> None:
    source, target, other = (list(read_lines(path)) for path in sys.argv[1:4])
    rng = random.Random(1)
    bad = rng.sample(range(len(source)), len(source) // 20)
    moved, foreign = set(bad[::2]), set(bad[1::2])
    dirty = list(target)
    order = sorted(moved)
    for i, j in zip(order, order[1:] + order[:1], strict=True):
        dirty[i] = target[j]
    for i in foreign:
        dirty[i] = other[i]
    kinds = ["misaligned" if i in moved else "other language" if i in foreign else "good" for i in range(len(source))]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        pairs = list(zip(source, dirty, strict=True))
        for n, name in enumerate(("f", "e")):
            with open_output(folder / name) as output:
                for pair in pairs:
                    output.write(pair[n])
        words = ["dragoman", "corpus", "clean", "-s", folder / "f", "-t", folder / "e", "--out-tsv", folder / "out"]
        subprocess.run([*map(str, words), *sys.argv[4:]], check=True)
        kept = Counter(read_lines(folder / "out"))
    found: Counter[str] = Counter()
    for (f, e), kind in zip(pairs, kinds, strict=True):
        text = f"{' '.join(f.split())}\t{' '.join(e.split())}"
        if kept[text]:
            kept[text] -= 1
        else:
            found[kind] += 1
    for kind, n_pairs in sorted(Counter(kinds).items()):
        print(f"{kind}: dropped {found[kind]:,} of {n_pairs:,} ({100 * found[kind] / n_pairs:.1f} %)")


if __name__ == "__main__":
    main()
