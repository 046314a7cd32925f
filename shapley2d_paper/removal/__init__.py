"""Removing cells by their value, and what that does to a model."""
