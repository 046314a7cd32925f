"""Findings about whole columns: where much of a column is off in the same way, no look at single cells tells."""
