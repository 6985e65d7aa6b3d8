"""Gradient passes over the training text: lists are decoded, measured, differentiated and thrown away."""

from dragoman.gradients.gradient import N_LISTS, Gradient, ListSums
from dragoman.gradients.parts import sum_parts
from dragoman.gradients.settings import PassSettings
from dragoman.gradients.stream import GradientPass, gradient_pass

__all__ = ["N_LISTS", "Gradient", "GradientPass", "ListSums", "PassSettings", "gradient_pass", "sum_parts"]
