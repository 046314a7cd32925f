"""Public tables to try things on, and those of the paper."""

from shapley2d.datasets.census import load_census
from shapley2d.datasets.credit import load_credit
from shapley2d.datasets.heart import load_heart
from shapley2d.datasets.loaders import DATASETS, load_breast_cancer_original, load_dataset, load_wine
from shapley2d.datasets.paper_files import PaperSplit, load_paper_split, load_paper_values
from shapley2d.datasets.paper_tables import PaperTable, paper_table

__all__ = [
    "DATASETS",
    "PaperSplit",
    "PaperTable",
    "load_breast_cancer_original",
    "load_census",
    "load_credit",
    "load_dataset",
    "load_heart",
    "load_paper_split",
    "load_paper_values",
    "load_wine",
    "paper_table",
]
