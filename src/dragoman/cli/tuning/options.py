"""The options of `dragoman tune` as one value, and which of them belong to which kind of candidates."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import typer

from dragoman.errors import InputError
from dragoman.features import WeightFormat
from dragoman.pool import NbestFormat
from dragoman.tune import Keep

__all__ = ["TuneOptions", "flag", "parse_pairs", "parse_weight_format"]

_FLAGS = {
    "reference": "-r",
    "format_": "--format",
    "setting": "--set",
    "out": "-o",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneOptions:
    """What the user said; None (or the default) where nothing was said."""

    out: Path | None = None
    method: str = "mert"
    nbest: list[str] | None = None
    stats: tuple[str, str] | None = None
    decoder: str | None = None
    system: str | None = None
    features: list[str] | None = None
    online: bool = False
    distinct: bool | None = None
    without_fold: int | None = None
    fast: bool = False
    accurate: bool = False
    source: str | None = None
    reference: list[str] | None = None
    weights: str | None = None
    metric: str = "bleu"
    external: str | None = None
    lower_is_better: bool = False
    format_: NbestFormat | None = None
    dense: list[str] | None = None
    freeze: list[str] | None = None
    setting: list[str] | None = None
    weights_format: WeightFormat = WeightFormat.TSV
    template: Path | None = None
    k: int | None = None
    rounds: int | None = None
    keep: Keep | None = None
    timeout: float | None = None
    folds: int | None = None
    run: Path | None = None
    resume: bool = False

    def given(self) -> set[str]:
        """Names of the fields that differ from their defaults."""
        return {f.name for f in dataclasses.fields(self) if getattr(self, f.name) not in (f.default, [])}

    def check(self, *, comparing: bool) -> None:
        """Raise InputError for options that contradict each other whatever the candidates are."""
        if self.folds is not None and not comparing:
            raise InputError("--folds belongs to --method all, which compares methods by cross-validation")
        if self.out is None and not comparing:
            raise InputError("say where the weights go with -o")
        if self.resume and self.run is None:
            raise InputError("--resume continues a run; name its folder with --run")
        if self.fast and self.accurate:
            raise InputError("choose one of --fast and --accurate")
        if self.template is not None and self.weights_format is not WeightFormat.MOSES_INI:
            raise InputError("a template belongs to the format of moses.ini; say --weights-format moses")
        if self.lower_is_better and self.external is None:
            raise InputError("--lower-is-better belongs to --external; metrics know their direction")


def flag(field: str) -> str:
    """The option that sets a field."""
    return _FLAGS.get(field, "--" + field.replace("_", "-"))


def parse_pairs(settings: list[str]) -> dict[str, str]:
    """`NAME=VALUE` items as a dictionary."""
    pairs = {}
    for item in settings:
        key, equals, value = item.partition("=")
        if not (key and equals):
            raise InputError(f"--set {item}: expected NAME=VALUE")
        pairs[key] = value
    return pairs


def parse_weight_format(text: str | WeightFormat) -> WeightFormat:
    """A format by its name, or by the first name of ours."""
    try:
        return WeightFormat(text)
    except ValueError:
        raise typer.BadParameter(f"expected one of {', '.join(format_.value for format_ in WeightFormat)}") from None
