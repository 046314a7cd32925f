"""Copies: rows and columns of a table that repeat one another."""
