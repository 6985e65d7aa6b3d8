"""Hierarchical systems as the text files of others."""

from __future__ import annotations

from pathlib import Path

from dragoman.errors import FailedError
from dragoman.features import WeightFormat, write_weights
from dragoman.grammar.rule_tables import RuleStyle, write_hiero
from dragoman.system.stages import Monitor, Silent
from dragoman.system.system import System
from dragoman.types import PathLike

__all__ = ["export_hiero"]


def export_hiero(
    system: System,
    out: PathLike,
    *,
    fold: int | None = None,
    style: RuleStyle = RuleStyle.CDEC,
    monitor: Monitor | None = None,
) -> Path:
    """Write grammar, ARPA model and weights into a folder; returns the path of the grammar.

    Weights have our names for features; the grammar names its scores the same way.
    """
    base = Path(out)
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FailedError(f"{base}: cannot be made: {error.strerror or error}") from error
    monitor = monitor or Silent()
    view = system.grammar.rule_view(system.settings.rule_view_config(fold))
    with monitor.progress("writing rules", view.tables.n_sources()) as progress:
        write_hiero(view, base / "grammar.gz", style=style, progress=progress)
    monitor.say("writing the language model")
    system.lm(fold).export_arpa(base / "lm.arpa.gz")
    write_weights(system.weights, base / "weights", format_=WeightFormat.CDEC)
    return base / "grammar.gz"
