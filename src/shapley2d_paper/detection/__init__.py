"""The detection benchmark: who finds which errors."""

from shapley2d_paper.detection.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
