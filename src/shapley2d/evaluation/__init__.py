"""Errors injected into a clean table, and how well a ranking of its cells finds them.

>>> import numpy as np
>>> from shapley2d.evaluation import detection_scores, inject_errors
>>> rng = np.random.default_rng(0)
>>> numbers, labels = rng.normal(size=(100, 4)), np.arange(100) % 2
>>> corrupted = inject_errors("tail", numbers, labels, np.zeros(4, dtype=bool), 0.02, rng)
>>> scores = np.abs(corrupted.numbers - corrupted.numbers.mean(axis=0))
>>> detection_scores(scores, corrupted.cells)["found_5"]
1.0
"""

from shapley2d.evaluation.cell_errors import AGE_TYPOS, mistype_ages
from shapley2d.evaluation.detection import average_precision, detection_curve, detection_scores
from shapley2d.evaluation.injection import ERROR_KINDS, Corrupted, inject_errors
from shapley2d.evaluation.removal import RemovalCurve, removal_curve

__all__ = [
    "AGE_TYPOS",
    "ERROR_KINDS",
    "Corrupted",
    "RemovalCurve",
    "average_precision",
    "detection_curve",
    "detection_scores",
    "inject_errors",
    "mistype_ages",
    "removal_curve",
]
