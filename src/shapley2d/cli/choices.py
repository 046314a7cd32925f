"""The words that options take; a shell completes them."""

from __future__ import annotations

from enum import StrEnum


class Method(StrEnum):
    """How values are computed."""

    KNN = "knn"
    MC = "mc"
    EXACT = "exact"
    LOO = "loo"
    FLAT = "flat"
    OOB = "oob"
    RANDOM = "random"


class BlockMethod(StrEnum):
    """How values of blocks are computed."""

    AUTO = "auto"
    EXACT = "exact"
    MC = "mc"
    LOO = "loo"
    KNN = "knn"


class ModelName(StrEnum):
    """Models for the methods that train one."""

    TREE = "tree"
    FOREST = "forest"
    LOGISTIC = "logistic"
    BOOSTING = "hist-gradient-boosting"
    BAYES = "naive-bayes"
    RIDGE = "ridge"
    KNN = "knn"


class Task(StrEnum):
    """What the target is."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


class OobScore(StrEnum):
    """How a tree of 2D-OOB scores a row."""

    CORRECT = "correct"
    DISTANCE = "distance"


class Metric(StrEnum):
    """Distances between rows."""

    AUTO = "auto"
    SQEUCLIDEAN = "sqeuclidean"


class ColumnAxis(StrEnum):
    """How column coalitions are chosen."""

    AUTO = "auto"
    EXACT = "exact"
    SAMPLED = "sampled"
