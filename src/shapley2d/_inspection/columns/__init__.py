"""Findings about whole columns: problems so common there that no single entry looks unusual."""
