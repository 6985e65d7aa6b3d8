"""Ends a group of processes when the process that started this script is gone, however it ended: `watchdog.py GROUP`.

Its standard input is a pipe that nobody writes to; it ends with the starting process, also when that is killed. Nothing
of dragoman is imported: it runs beside every decoder.
"""

import os
import signal
import sys
import time

_GRACE_S = 5.0
_LOOK_S = 0.1


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def main(group: int) -> None:
    """Wait for the end of the input, then end the group."""
    for deadly in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):  # whoever sends them to everybody means the decoder
        signal.signal(deadly, signal.SIG_IGN)
    sys.stdin.buffer.read()
    waited = 0.0
    if _alive(group):
        os.killpg(group, signal.SIGTERM)
    while _alive(group) and waited < _GRACE_S:
        time.sleep(_LOOK_S)
        waited += _LOOK_S
    if _alive(group):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]))
