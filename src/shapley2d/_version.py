"""The version of shapley2d."""

__version__ = "0.1.0"
