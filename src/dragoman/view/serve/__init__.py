"""A live page on systems, and the JSON API that it is a client of: `dragoman serve`.

`Explorer` answers in Python what the API answers over HTTP; `dragoman.view.serve.api` needs the extra `dragoman[web]`.
"""

from dragoman.view.serve.explorer import Explorer
from dragoman.view.serve.limits import Limits
from dragoman.view.serve.recorded import RecordedRun, read_recorded

__all__ = ["Explorer", "Limits", "RecordedRun", "read_recorded"]
