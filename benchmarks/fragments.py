"""Contributors' values: are they right, what do copies and noise get, do intervals hold, what does it take (docs/evidence/fragments.md).

Run: python benchmarks/fragments.py                                       (all parts, small: minutes)
     python benchmarks/fragments.py --draws 3 --repeats 200 --minutes 8   (16 cores)

``--draws``: cuts of every table in every way; ``--repeats``: draws of validation rows, and twenty times the repeats of rivals;
``--minutes``: begin nothing after so many.

values     values on one half of the validation rows against what contributors add for another model on the other half,
           beside simpler rules: five owners, five ways to cut a table, on tables that the judge's constants were
           chosen on and on others (those of statsmodels where it is installed)
paid       the shares of those who bring gaps, a copy or noise
coverage   of 95 % intervals, by draws of 200 validation rows from a large pool
rivals     the error of 30 contributors' values by the number of sets that are scored: placed orders (value_fragments),
           plain ones, truncated ones (Ghorbani and Zou 2019, as mplc's TMCS), estimators of shapiq where it is installed
time       two threads, before the other parts, which share all cores
large      200,000 rows, two threads, and the memory of the process: ask for it alone

The folder OUT, where it is set, gets the rows and the page.
"""

import argparse
import os
import resource
import warnings
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, time

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.random import default_rng
from pandas import DataFrame, Series, concat
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from shapley2d import KNN, Forest, MonteCarlo, value_cells, value_fragments
from shapley2d._tables.problem import make_problem
from shapley2d._trees.boosting import Boosting
from shapley2d.datasets import load_breast_cancer_original, load_census, load_credit

WAYS = ("horizontal", "vertical", "grid", "overlapping", "with holes")
CHOSEN_ON = {
    "census": load_census,
    "credit": load_credit,
    "breast cancer": load_breast_cancer_original,
}
OTHERS = {
    "hastie": partial(datasets.make_hastie_10_2, 20_000, random_state=0),
    "clusters": partial(
        datasets.make_classification, 20_000, 12, n_informative=5, n_classes=3, random_state=0
    ),
    "sparse (regression)": partial(datasets.make_sparse_uncorrelated, 20_000, 8, random_state=0),
}
STATSMODELS = (
    {"fair": "affairs", "anes96": "'vote'", "randhie": "mdvis"} if find_spec("statsmodels") else {}
)
RECTANGLES = {  # shares of rows, of columns, and of the entries in them
    "overlapping": ((0.2, 0.8), (0.3, 0.8), (1, 1)),
    "with holes": ((0.2, 0.8), (0.3, 0.8), (0.3, 0.9)),
    "many": ((0.03, 0.35), (0.15, 0.6), (0.9, 0.9)),
}
SHAPIQ = (
    ("PermutationSamplingSV", "StratifiedSamplingSV", "KernelSHAP", "UnbiasedKernelSHAP", "SVARM", "kADDSHAP")
    if find_spec("shapiq") else ()
)  # fmt: skip
BUDGETS = 400, 1200, 2400
ROWS = 200_000
TRUTH, RUNS, LONG = 10**6, 16, 60  # so many runs of so many orders are the truth of 30 contributors
