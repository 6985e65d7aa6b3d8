"""Run the cases, store JSON, write the table."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from bench import (
    blocks,
    chart,
    corpus,
    descent,
    engine,
    forced,
    grammar,
    lm,
    margin,
    mbr,
    metric,
    online,
    passes,
    references,
    reordering,
    search,
    serve,
    stored_lists,
    tuning,
    vectors,
)
from bench.harness import DATA, Case, measure, measure_apart, save
from bench.table import update_page, write_page

CASES: list[Case] = [
    *corpus.CASES,
    *metric.CASES,
    *mbr.CASES,
    *lm.CASES,
    *grammar.CASES,
    *search.CASES,
    *reordering.CASES,
    *chart.CASES,
    *blocks.CASES,
    *tuning.CASES,
    *margin.CASES,
    *descent.CASES,
    *passes.CASES,
    *online.CASES,
    *stored_lists.CASES,
    *references.CASES,
    *forced.CASES,
    *engine.CASES,
    *serve.CASES,
    *vectors.CASES,
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", help="run only the cases whose name holds this word")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--scale", type=float, default=1.0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        case = next(case for case in CASES if case.slug == options.worker)
        print(json.dumps(asdict(measure(case, options.scale))))
        return
    done = []
    for case in CASES:
        if options.only and options.only not in case.slug:
            continue
        if case.needs_data and not DATA.is_dir():
            print(f"{case.slug}: left out, no real corpora here", file=sys.stderr)
            continue
        measurements = [measure_apart(case, scale) for scale in (0.5, 1.0)]
        save(case, measurements)
        done.append(case.slug)
        full = measurements[-1]
        ratio = f", {full.peer_seconds / full.seconds:.1f} times {case.peer_name}" if full.peer_seconds else ""
        rate = f"{full.n_items / full.seconds:,.0f} {case.unit}/s"
        if full.seconds > 1e-3 * full.n_items:
            rate = f"{1000 * full.seconds / full.n_items:.2f} ms each of {full.n_items:,} {case.unit}"
        growth = full.seconds / measurements[0].seconds
        note = f", {full.note}" if full.note else ""
        print(f"{case.slug}: {rate}{ratio}{note}, growth {growth:.2f}", flush=True)
    print(f"table in {update_page(done, options.only) if options.only else write_page()}")


main()
