"""Boosted trees of this package's own: the judge of coalitions."""
