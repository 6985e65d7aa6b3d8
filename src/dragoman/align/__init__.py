"""Word alignment: training in both directions, symmetrisation, alignment files."""

from dragoman.align.config import AlignConfig, AlignMethod, AlignStep, Direction, FastConfig, StepProgress
from dragoman.align.fast import FastModel, FastStep, train_fast
from dragoman.align.links import Agreement, Alignment
from dragoman.align.pharaoh import read_pharaoh, write_pharaoh
from dragoman.align.symmetrization import Symmetrization, symmetrize
from dragoman.align.train import AlignResult, align, align_files
from dragoman.align.trees import MinimalTrees, TreeNodeKind, minimal_trees

__all__ = [
    "Agreement",
    "AlignConfig",
    "AlignMethod",
    "AlignResult",
    "AlignStep",
    "Alignment",
    "Direction",
    "FastConfig",
    "FastModel",
    "FastStep",
    "MinimalTrees",
    "StepProgress",
    "Symmetrization",
    "TreeNodeKind",
    "align",
    "align_files",
    "minimal_trees",
    "read_pharaoh",
    "symmetrize",
    "train_fast",
    "write_pharaoh",
]
