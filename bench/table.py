"""The results as one Markdown table in docs/benchmarks.md."""

from __future__ import annotations

import json
import platform
import re
from datetime import date
from pathlib import Path
from typing import Any

from bench.harness import RESULTS, ROOT

PAGE = ROOT / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

Made by `make bench` ({day}, {machine}). CPU seconds on one thread unless the name says otherwise; medians.
*Ratio* is the peer's time over ours in the same process (more is better). *Growth* is our time at full size over that
at half size (2 is linear). *Peak* is the resident memory of the whole process, Python and data included; *anonymous* is
what of it was not mapped from files. The machines are small and noisy: trust ratios, not seconds,
and wall-clock times only of an idle machine.

"""
COLUMNS = """| case | items | ours | rate | peer | ratio | wanted | growth | peak | anonymous |
|---|---:|---:|---:|---:|---:|---|---:|---:|---:|
"""


def write_page() -> Path:
    """The whole page, from all stored results."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    text = HEAD.format(day=date.today().isoformat(), machine=machine)
    for area in dict.fromkeys(record["area"] for record in records):
        text += (
            f"{_heading(area)}\n{COLUMNS}"
            + "".join(_row(record) for record in records if record["area"] == area)
            + "\n"
        )
    PAGE.write_text(text, encoding="utf-8")
    return PAGE


def update_page(slugs: list[str], only: str) -> Path:
    """Replace the rows of these results, or add them; everything else on the page stays as it is."""
    head, *parts = re.split(r"^(?=## )", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    sections = {part.splitlines()[0]: part for part in parts}
    fresh = f"Of {date.today().isoformat()} (`python -m bench --only {only}`).\n\n"
    for slug in slugs:
        record = json.loads((RESULTS / f"{slug}.json").read_text(encoding="utf-8"))
        heading = _heading(record["area"]).strip()
        lines = sections.get(heading, f"{heading}\n\n{fresh}{COLUMNS}\n").rstrip("\n").splitlines()
        same = [i for i, line in enumerate(lines) if line.startswith("| ") and _case(line) == record["name"]]
        if same:
            lines[same[0]] = _row(record).rstrip("\n")
        else:
            lines.append(_row(record).rstrip("\n"))
        sections[heading] = "\n".join(lines) + "\n\n"
    PAGE.write_text(head + "".join(sections[heading] for heading in sorted(sections)), encoding="utf-8")
    return PAGE


def _heading(area: str) -> str:
    return f"## {area.capitalize()}\n"


def _case(row: str) -> str:
    """The name of a row's case, without its note."""
    return row.split("|")[1].split(": ")[0].strip()


def _row(record: dict[str, Any]) -> str:
    half, full = record["measurements"][0], record["measurements"][-1]
    peer = f"{record['peer']} {_seconds(full['peer_seconds'])}" if full["peer_seconds"] else ""
    note = f": {full['note']}" if full.get("note") else ""
    ratio = f"{full['peer_seconds'] / full['seconds']:.1f}×" if full["peer_seconds"] else ""
    return (
        f"| {record['name']}{note} | {full['n_items']:,} {record['unit']} | {_seconds(full['seconds'])} "
        f"| {full['n_items'] / full['seconds']:,.0f}/s | {peer} | {ratio} | {record['target']} "
        f"| {full['seconds'] / half['seconds']:.2f} | {full['peak_bytes'] / 2**20:,.0f} MiB "
        f"| {_mebibytes(full.get('anonymous_bytes', 0))} |\n"
    )


def _seconds(value: float) -> str:
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.1f} s"


def _mebibytes(value: int) -> str:
    """Nothing where it was not measured."""
    return f"{value / 2**20:,.0f} MiB" if value else ""
