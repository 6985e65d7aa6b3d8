"""Optimisers: each learns weights from a pool of scored candidates."""

from collections.abc import Mapping
from types import MappingProxyType

from dragoman.optim.base import Optimiser, Result, Tuner
from dragoman.optim.cll import Cll, OracleLikelihood
from dragoman.optim.descent import Descent, descend
from dragoman.optim.epochs import Stopping
from dragoman.optim.forest_mert import ForestMert
from dragoman.optim.gains import gain_scale
from dragoman.optim.list_loss import ListLoss
from dragoman.optim.loss import Loss, SparseVector
from dragoman.optim.mert import Mert, Norm
from dragoman.optim.mira import Background, Fear, HingeLoss, Hope, MarginUpdate, Mira
from dragoman.optim.perceptron import Perceptron, PerceptronLoss
from dragoman.optim.pro import Acceptance, Prior, Pro, Scaling
from dragoman.optim.rampion import Ramp, Rampion, RampLoss
from dragoman.optim.rm import RelativeMarginLoss, Rm
from dragoman.optim.softramp import SoftRamp, SoftRampLoss
from dragoman.optim.svm import StructuredHinge, Svm
from dragoman.optim.update import Conditioning, Update
from dragoman.optim.xbleu import ExpectedGain, Xbleu

__all__ = [
    "FOREST_OPTIMISERS",
    "OPTIMISERS",
    "Acceptance",
    "Background",
    "Cll",
    "Conditioning",
    "Descent",
    "ExpectedGain",
    "Fear",
    "ForestMert",
    "HingeLoss",
    "Hope",
    "ListLoss",
    "Loss",
    "MarginUpdate",
    "Mert",
    "Mira",
    "Norm",
    "Optimiser",
    "OracleLikelihood",
    "Perceptron",
    "PerceptronLoss",
    "Prior",
    "Pro",
    "Ramp",
    "RampLoss",
    "Rampion",
    "RelativeMarginLoss",
    "Result",
    "Rm",
    "Scaling",
    "SoftRamp",
    "SoftRampLoss",
    "SparseVector",
    "Stopping",
    "StructuredHinge",
    "Svm",
    "Tuner",
    "Update",
    "Xbleu",
    "descend",
    "gain_scale",
]

OPTIMISERS: Mapping[str, type[Optimiser]] = MappingProxyType(
    {
        "mert": Mert,
        "pro": Pro,
        "mira": Mira,
        "rm": Rm,
        "rampion": Rampion,
        "softramp": SoftRamp,
        "svm": Svm,
        "xbleu": Xbleu,
        "cll": Cll,
        "perceptron": Perceptron,
    }
)
"""Batch optimisers by the name that users give."""

FOREST_OPTIMISERS: Mapping[str, type[ForestMert]] = MappingProxyType({"forest-mert": ForestMert})
"""Those that learn from the search spaces of a decoder."""
