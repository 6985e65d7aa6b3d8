"""The demo: the main job on embedded data, with a report to look at."""

from dragoman.demo.steps import DemoConfig, DemoResult, run_demo

__all__ = ["DemoConfig", "DemoResult", "run_demo"]
