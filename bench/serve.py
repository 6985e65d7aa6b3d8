"""The explorer's server: what an answer costs beyond its search, and 50 clients at once.

The server is a process of its own, as `dragoman serve` starts it, and clients speak HTTP on kept connections.
"""

from __future__ import annotations

import atexit
import http.client
import json
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from bench.harness import RESULTS, Case, Workload
from dragoman.system import KINDS, SystemSettings, TrainConfig, train
from dragoman.text import read_lines
from dragoman_synth import SynthConfig, generate

OUT = RESULTS / "serve"
N_CLIENTS = 50
_LENGTHS = range(13, 18)


def _sentences() -> list[str]:
    return [line for line in read_lines(OUT / "train.de") if len(line.split()) in _LENGTHS][:500]


def _system(kind: str) -> Path:
    """A system of 3,000 pairs of the embedded corpus, made once."""
    if not (OUT / "train.de").exists():
        OUT.mkdir(parents=True, exist_ok=True)
        pairs = list(generate(3000, SynthConfig(seed=1)))
        for side, lines in (("de", [p.source for p in pairs]), ("en", [p.references[0] for p in pairs])):
            (OUT / f"train.{side}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    if not (OUT / kind / "system.json").exists():
        config = TrainConfig(settings=SystemSettings(model=KINDS[kind].settings()))
        train(OUT / "train.de", OUT / "train.en", OUT / kind, config=config)
    return OUT / kind


@dataclass(slots=True)
class Server:
    """A running `dragoman serve` of one system."""

    kind: str
    process: subprocess.Popen[bytes] = field(init=False)
    address: str = field(init=False)

    def __post_init__(self) -> None:
        words = [sys.executable, "-m", "dragoman", "serve", str(_system(self.kind)), "--port", "0", "--json"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE)
        atexit.register(self.process.terminate)
        assert self.process.stdout is not None
        self.address = urlsplit(json.loads(self.process.stdout.readline())["url"]).netloc

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.address, timeout=60)

    def memory(self) -> int:
        """Resident memory that is not mapped from files, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return int(dict(line.split(":", 1) for line in status)["RssAnon"].split()[0]) * 1024


def ask(connection: http.client.HTTPConnection, kind: str, sentence: str) -> tuple[float, float]:
    """Milliseconds of the answer, and of its search."""
    body = json.dumps({"system": kind, "text": sentence, "k": 20})
    started = time.perf_counter()
    connection.request("POST", "/api/explain", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    data = json.loads(answer.read())
    if answer.status != 200:
        raise RuntimeError(data["error"])
    return 1000 * (time.perf_counter() - started), data["decode_ms"]


def _one(kind: str, scale: float) -> Workload:
    server, sentences = Server(kind), _sentences()[: int(100 * scale)]
    connection = server.connect()
    ask(connection, kind, sentences[0])
    times: list[tuple[float, float]] = []

    def work() -> None:
        times.extend(ask(connection, kind, sentence) for sentence in sentences)

    def note() -> str:
        whole, search = (statistics.median(column) for column in zip(*times, strict=True))
        over = statistics.median(a - b for a, b in times)
        return f"median {whole:.1f} ms, search {search:.1f} ms, beyond it {over:.1f} ms"

    return Workload(n_items=len(sentences), ours=work, repeats=3, note=note)


def _many(kind: str, scale: float) -> Workload:
    server, sentences = Server(kind), _sentences()
    seconds = 60 * scale
    times: list[float] = []
    errors: list[str] = []
    memory: list[int] = []

    def client(number: int, end: float) -> None:
        connection, at = server.connect(), number * 7
        while time.monotonic() < end:
            try:
                times.append(ask(connection, kind, sentences[at % len(sentences)])[0])
            except (OSError, RuntimeError, http.client.HTTPException) as error:
                errors.append(repr(error))
                connection = server.connect()
            at += 1

    def work() -> None:
        end = time.monotonic() + seconds
        clients = [threading.Thread(target=client, args=(number, end)) for number in range(N_CLIENTS)]
        for thread in clients:
            thread.start()
        while any(thread.is_alive() for thread in clients):
            memory.append(server.memory())
            time.sleep(0.5)

    def note() -> str:
        half = len(memory) // 2
        early, late = (max(part, default=0) >> 20 for part in (memory[:half], memory[half:]))
        return (
            f"{len(times):,} answers, {len(errors)} errors, median {statistics.median(times):.0f} ms; the server's "
            f"memory at most {early} MiB in the first half, {late} MiB in the second"
        )

    return Workload(n_items=int(seconds), ours=work, repeats=1, note=note)


CASES = [
    *(
        Case(
            name=f"an explanation of 15 words over HTTP, {kind} (wall)",
            area="serve",
            unit="answers",
            prepare=partial(_one, kind),
            target="≤ 40 ms beyond the search",
            wall=True,
        )
        for kind in KINDS
        if kind in ("phrase", "hiero")
    ),
    Case(
        name=f"{N_CLIENTS} clients at once, phrase (wall)",
        area="serve",
        unit="seconds",
        prepare=partial(_many, "phrase"),
        target="no error in 60 s, memory bounded",
        wall=True,
    ),
]
