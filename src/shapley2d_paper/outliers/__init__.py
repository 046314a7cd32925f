"""Finding injected outliers."""

from shapley2d_paper.outliers.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
