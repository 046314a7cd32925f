"""Public tables to try things on, the paper's among them."""

from shapley2d.datasets.census import load_census
from shapley2d.datasets.credit import load_credit
from shapley2d.datasets.heart import load_heart
from shapley2d.datasets.loaders import (
    DATASETS,
    load_breast_cancer_original,
    load_dataset,
    load_wine,
)

__all__ = [
    "DATASETS",
    "load_breast_cancer_original",
    "load_census",
    "load_credit",
    "load_dataset",
    "load_heart",
    "load_wine",
]
