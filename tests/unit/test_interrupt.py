"""Native work stops on Ctrl-C and reports progress on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

# Random sentences of 2,000 words make TER slow: minutes of work, which the signal must cut short.
ENDLESS = """
import signal
import sys
import numpy as np
from dragoman.metric import References, Segments, Ter
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with it ignored
rng = np.random.default_rng(1)
rows = [rng.integers(0, 50, 2000).tolist() for _ in range(2000)]
hyps, refs = Segments.of(rows), References.of([[row[::-1]] for row in rows])
print("ready", flush=True)
try:
    Ter(case_sensitive=True).statistics(hyps, refs, n_threads=2)
except KeyboardInterrupt:
    sys.exit(77)
"""


def test_ctrl_c_ends_native_work():
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(60) == 77
        finally:
            process.kill()
