"""Outliers injected into cells."""
