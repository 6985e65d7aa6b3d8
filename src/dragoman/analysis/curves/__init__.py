"""The score as a function of one weight: from lists, exactly, and from decoding."""

from dragoman.analysis.curves.decoded import (
    Check,
    CurveConfig,
    CurveDecoder,
    Frequency,
    WeightCurve,
    system_curves,
    weight_curve,
)
from dragoman.analysis.curves.exact import Curve, Stretch, curve_of, on_envelopes
from dragoman.analysis.curves.features import frequent_and_rare

__all__ = [
    "Check",
    "Curve",
    "CurveConfig",
    "CurveDecoder",
    "Frequency",
    "Stretch",
    "WeightCurve",
    "curve_of",
    "frequent_and_rare",
    "on_envelopes",
    "system_curves",
    "weight_curve",
]
