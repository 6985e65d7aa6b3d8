"""The template engine: everything is escaped, a name that is not there is an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dragoman.text import printable

if TYPE_CHECKING:
    import jinja2

__all__ = ["environment"]


def environment() -> jinja2.Environment:
    """For the templates of this package. `printable` shows control characters; `tojson` is safe inside a script."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.PackageLoader("dragoman.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["printable"] = printable
    made.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return made
