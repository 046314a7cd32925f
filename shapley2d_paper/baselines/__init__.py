"""The methods that the paper compares with, as records that ``value_cells`` takes for ``method``.

``FLAT`` is 1D-Shapley over single cells, ``LOO`` 2D leave-one-out, ``OOB`` 2D-OOB and ``RANDOM`` a
random ranking; ``TREE_MC`` is the paper's own 2D-MC. Their model is the paper's, a decision tree.
"""

from shapley2d_paper.baselines.flat import FLAT
from shapley2d_paper.baselines.loo import LOO
from shapley2d_paper.baselines.oob import OOB
from shapley2d_paper.baselines.random import RANDOM
from shapley2d_paper.baselines.tree_mc import TREE_MC

__all__ = ["FLAT", "LOO", "OOB", "RANDOM", "TREE_MC"]
