"""Reading and writing tables as an inspection does: marks, styles of entries, units."""
