"""Detection curves of 2D-KNN on tables with more and more injected outliers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import roc_auc_score

from shapley2d.evaluation import detection_curve
from shapley2d_paper.detectors.detectors import DETECTORS
from shapley2d_paper.outliers.tables import ALL_ROWS, BENIGN_ROWS, injected_table

if TYPE_CHECKING:
    from shapley2d_paper.harness.records import Row


FIRST = 200
"""The inspected cells within which the paper finds detection very high."""

INSPECTED = (
    0,
    25,
    50,
    75,
    100,
    150,
    200,
    250,
    300,
    400,
    500,
    600,
    800,
    1000,
    1250,
    1500,
    1750,
    2000,
)
"""Numbers of inspected cells after which it is noted how many injected ones have been met."""


def work(*, seed: int, kind: str, rates: list[int]) -> list[Row]:
    """Detection curves of all rows and of benign rows."""
    records: list[Row] = []
    for rate in rates:
        injected = injected_table(kind, seed, rate / 100)
        all_scores = DETECTORS["2D-KNN"](injected.task)
        for scope, rows in (
            (ALL_ROWS, np.ones_like(injected.benign)),
            (BENIGN_ROWS, injected.benign),
        ):
            scores, truth = all_scores[rows], injected.cells[rows]
            if not truth.any():
                continue
            mark: Row = {"kind": kind, "rows": scope, "rate": rate}
            counts = [count for count in INSPECTED if count < truth.size]
            found = detection_curve(scores, truth, counts)
            first = detection_curve(scores, truth, [FIRST])[0]
            records.append(
                {
                    **mark,
                    "what": "score",
                    "injected": int(truth.sum()),
                    "cells": truth.size,
                    "auroc": float(roc_auc_score(truth.ravel(), scores.ravel())),
                    "found_first": float(first),
                    # no more can be found than are inspected, or than there are
                    "at_most": min(1.0, FIRST / int(truth.sum())),
                }
            )
            if scope == ALL_ROWS:
                records += [
                    {**mark, "what": "curve", "inspected": count, "found": float(one)}
                    for count, one in zip(counts, found, strict=True)
                ]
    return records
