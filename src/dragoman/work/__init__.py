"""Work that takes long: made once, locked, checked, resumed and recorded (`Store`), and shared out (`engine`)."""

from dragoman.work.code import program_name
from dragoman.work.step import Made, Step
from dragoman.work.store import Store

__all__ = ["Made", "Step", "Store", "program_name"]
