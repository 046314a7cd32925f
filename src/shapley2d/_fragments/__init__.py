"""Fragments: what each contributor's piece of a table is worth to a model."""
