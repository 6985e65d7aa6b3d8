"""Gradient passes over the training text: lists are decoded, measured, differentiated and thrown away."""

from dragoman.passes.gradient import N_LISTS, Gradient, ListSums
from dragoman.passes.parts import sum_parts
from dragoman.passes.settings import PassSettings
from dragoman.passes.stream import GradientPass, gradient_pass

__all__ = ["N_LISTS", "Gradient", "GradientPass", "ListSums", "PassSettings", "gradient_pass", "sum_parts"]
