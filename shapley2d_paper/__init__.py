"""The paper's experiments, ours beside theirs, and what other detectors of bad cells do.

It uses ``shapley2d`` as anyone would: the public functions, the datasets, ``shapley2d.evaluation``.
The list of experiments is in :mod:`shapley2d_paper.experiments`.
"""
