"""Small public tables to try things on."""

from shapley2d.datasets.loaders import load_breast_cancer_original, load_wine

__all__ = ["load_breast_cancer_original", "load_wine"]
