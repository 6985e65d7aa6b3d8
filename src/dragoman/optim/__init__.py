"""Optimisers: each learns weights from scored candidates, from search spaces, or from a decoder at work."""

from dragoman.optim.base import Learned, Learner, Optimiser, Problem, Result, finish
from dragoman.optim.cll import Cll, OracleLikelihood
from dragoman.optim.context import LearnFrom, LearningContext, LearnsFrom, Material, TextPlan
from dragoman.optim.costs import Context, PreviousPass
from dragoman.optim.descent import Descent, descend
from dragoman.optim.epochs import Stopping
from dragoman.optim.fastforest import FastForest, ForestsLearned
from dragoman.optim.forest_mert import ForestMert
from dragoman.optim.gains import gain_scale
from dragoman.optim.hols import HeldOutText, Hils, Hols
from dragoman.optim.list_loss import GainLoss, ListLoss
from dragoman.optim.loss import Loss, SparseVector
from dragoman.optim.margin import Fear, Hope
from dragoman.optim.mert import Mert, Norm
from dragoman.optim.mira import Background, HingeLoss, MarginUpdate, Mira
from dragoman.optim.neighbours import Contest, DenseWeights, Form, NeighbourLoss, fit_scale
from dragoman.optim.online import Online, OnlineLearner
from dragoman.optim.online_descent import OnlineSoftRamp, OnlineSvm
from dragoman.optim.online_margin import OnlineMira, OnlineRm
from dragoman.optim.perceptron import Perceptron, PerceptronLoss
from dragoman.optim.pro import Acceptance, Prior, Pro, Scaling
from dragoman.optim.rampion import Ramp, Rampion, RampLoss
from dragoman.optim.registry import (
    LIST_METHODS,
    LOSSES,
    OPTIMISERS,
    list_methods,
    make_loss,
    make_optimiser,
    method_name,
    method_named,
)
from dragoman.optim.rm import RelativeMarginLoss, Rm
from dragoman.optim.score_loss import ScoreLoss
from dragoman.optim.softramp import SoftRamp, SoftRampLoss
from dragoman.optim.svm import StructuredHinge, Svm
from dragoman.optim.units import Scale, Units
from dragoman.optim.update import Conditioning, Update
from dragoman.optim.xbleu import ExpectedGain, Xbleu

__all__ = [
    "LIST_METHODS",
    "LOSSES",
    "OPTIMISERS",
    "Acceptance",
    "Background",
    "Cll",
    "Conditioning",
    "Contest",
    "Context",
    "DenseWeights",
    "Descent",
    "ExpectedGain",
    "FastForest",
    "Fear",
    "ForestMert",
    "ForestsLearned",
    "Form",
    "GainLoss",
    "HeldOutText",
    "Hils",
    "HingeLoss",
    "Hols",
    "Hope",
    "LearnFrom",
    "Learned",
    "Learner",
    "LearningContext",
    "LearnsFrom",
    "ListLoss",
    "Loss",
    "MarginUpdate",
    "Material",
    "Mert",
    "Mira",
    "NeighbourLoss",
    "Norm",
    "Online",
    "OnlineLearner",
    "OnlineMira",
    "OnlineRm",
    "OnlineSoftRamp",
    "OnlineSvm",
    "Optimiser",
    "OracleLikelihood",
    "Perceptron",
    "PerceptronLoss",
    "PreviousPass",
    "Prior",
    "Pro",
    "Problem",
    "Ramp",
    "RampLoss",
    "Rampion",
    "RelativeMarginLoss",
    "Result",
    "Rm",
    "Scale",
    "Scaling",
    "ScoreLoss",
    "SoftRamp",
    "SoftRampLoss",
    "SparseVector",
    "Stopping",
    "StructuredHinge",
    "Svm",
    "TextPlan",
    "Units",
    "Update",
    "Xbleu",
    "descend",
    "finish",
    "fit_scale",
    "gain_scale",
    "list_methods",
    "make_loss",
    "make_optimiser",
    "method_name",
    "method_named",
]
