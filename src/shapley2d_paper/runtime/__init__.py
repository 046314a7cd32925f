"""Run times."""

from shapley2d_paper.runtime.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
