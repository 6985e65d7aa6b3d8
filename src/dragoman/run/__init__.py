"""Runs: folders that record one experiment, from which it can be resumed, compared and reported."""

from dragoman.run.folder import RunFolder

__all__ = ["RunFolder"]
