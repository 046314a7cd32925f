"""How fast the estimators converge."""

from shapley2d_paper.convergence.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
