"""The demo: a recipe on the embedded corpus that comes with the package."""

from pathlib import Path

__all__ = ["QUICKSTART"]

QUICKSTART = Path(__file__).with_name("quickstart.toml")
"""Also recipes/quickstart.toml of the repository."""
