"""Time and agreement of every alignment method on the real corpora: `python -m bench.align_methods`.

Each case runs in a process of its own, in both directions on two threads. The library takes too long for all of
`debian-fr-en`: there it gets every twelfth pair. Alignments and figures stay under build/bench/align (cases found there
are not run again), the table goes to standard output.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

from bench.harness import ANCHORS, DATA, RESULTS
from dragoman.align import AlignConfig, AlignMethod, align_files, read_pharaoh, write_pharaoh
from dragoman.text import open_output, read_lines

CORPORA = {"enja": ("ja", "en"), "multi30k": ("de", "en"), "debian-fr-en": ("fr", "en")}
PEERS = {"enja": "moses-enja", "multi30k": "moses-multi30k-de"}
OUT = RESULTS / "align"
PART = 12
N_THREADS = 2


def run_case(corpus: str, method: AlignMethod, part: int) -> None:
    sides = [DATA / corpus / f"train.{language}.xz" for language in CORPORA[corpus]]
    if part > 1:
        sides = [take_part(path, OUT / f"{corpus}.part{part}{path.suffixes[0]}.gz", part) for path in sides]
    start = time.perf_counter()
    result = align_files(*sides, AlignConfig(method=method), n_threads=N_THREADS)
    wall_s = time.perf_counter() - start
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    write_pharaoh(alignment_path(corpus, method, part), result.alignment)
    figures = {
        "n_pairs": result.n_pairs,
        "wall_s": wall_s,
        "cpu_s": sum(usage.ru_utime + usage.ru_stime for usage in usages),
        "peak_gb": max(usage.ru_maxrss for usage in usages) / 1e6,
        "f1": result.agreement.f1,
        "jaccard": result.agreement.jaccard,
        "n_links": result.alignment.n_links,
        "n_too_long": result.n_too_long,
    }
    figures_path(corpus, method, part).write_text(json.dumps(figures))


def take_part(path: Path, goal: Path, part: int) -> Path:
    with open_output(goal) as output:
        for line in itertools.islice(read_lines(path), part - 1, None, part):
            output.write(line)
    return goal


def alignment_path(corpus: str, method: AlignMethod, part: int) -> Path:
    return OUT / f"{corpus}.{method}.{part}.align.gz"


def figures_path(corpus: str, method: AlignMethod, part: int) -> Path:
    return OUT / f"{corpus}.{method}.{part}.json"


def shared_with(corpus: str, method: AlignMethod, part: int, other: Path) -> str:
    if not other.exists():
        return ""
    return f"{read_pharaoh(alignment_path(corpus, method, part)).agreement(read_pharaoh(other)).f1:.3f}"


def print_table(cases: list[tuple[str, AlignMethod, int]]) -> None:
    columns = ["corpus", "method", "pairs", "wall s", "CPU s", "peak GB", "links", "directions: F1", "Jaccard"]
    columns += ["F1 with fast_align", "F1 with eflomal"]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for corpus, method, part in cases:
        f = json.loads(figures_path(corpus, method, part).read_text())
        anchor = ANCHORS / PEERS.get(corpus, "none") / "train.align.xz"
        print(
            f"| `{corpus}` | `{method}` | {f['n_pairs']:,} | {f['wall_s']:.1f} | {f['cpu_s']:.1f} | {f['peak_gb']:.2f} "
            f"| {f['n_links']:,} | {f['f1']:.3f} | {f['jaccard']:.3f} | {shared_with(corpus, method, part, anchor)} "
            f"| {shared_with(corpus, method, part, alignment_path(corpus, AlignMethod.EFLOMAL, part))} |"
        )


def all_cases() -> list[tuple[str, AlignMethod, int]]:
    whole = [(corpus, method, 1) for corpus in ("enja", "multi30k") for method in AlignMethod]
    part = [("debian-fr-en", method, PART) for method in AlignMethod]
    return [*whole, *part, ("debian-fr-en", AlignMethod.FAST, 1)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.align_methods", description=__doc__)
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    if options.case:
        corpus, method, part = options.case
        run_case(corpus, AlignMethod(method), int(part))
        return
    for corpus, method, part in all_cases():
        if not figures_path(corpus, method, part).exists():
            case = [corpus, method.value, str(part)]
            subprocess.run([sys.executable, "-m", "bench.align_methods", "--case", *case], check=True)
    print_table(all_cases())


if __name__ == "__main__":
    main()
