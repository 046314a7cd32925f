"""Inspections: which entries of a table are wrong, what they should say, the page, and repairs."""
