"""Public tables to try things on, including the paper's."""

from shapley2d.datasets.loaders import (
    DATASETS,
    load_breast_cancer_original,
    load_census,
    load_credit,
    load_dataset,
    load_heart,
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
