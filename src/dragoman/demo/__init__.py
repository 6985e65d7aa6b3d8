"""The demo: a recipe on the embedded corpus that comes with the package."""

from pathlib import Path

__all__ = ["QUICKSTART"]

QUICKSTART = Path(__file__).with_name("quickstart.toml")
"""Identical to recipes/quickstart.toml in the repository."""
