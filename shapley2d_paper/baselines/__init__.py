"""The methods that the paper compares with: ``value_cells(X, y, method=OOB(max_draws=500))``.

``Flat`` is 1D-Shapley over single cells, ``LOO`` 2D leave-one-out, ``OOB`` 2D-OOB and ``Random`` a
random ranking; ``TreeMC`` is the paper's own 2D-MC. Their model is the paper's, a decision tree.
"""

from shapley2d_paper.baselines.flat import Flat
from shapley2d_paper.baselines.loo import LOO
from shapley2d_paper.baselines.oob import OOB
from shapley2d_paper.baselines.random import Random
from shapley2d_paper.baselines.tree_mc import TreeMC

__all__ = ["LOO", "OOB", "Flat", "Random", "TreeMC"]
