"""Removing cells by their value, and what that does to a model."""

from shapley2d_paper.removal.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
