"""Values of blocks."""

from shapley2d_paper.blocks.experiment import EXPERIMENT

__all__ = ["EXPERIMENT"]
