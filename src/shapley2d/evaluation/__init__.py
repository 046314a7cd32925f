"""Errors injected into a clean table, and how well a ranking of its cells finds them."""
