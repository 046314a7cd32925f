"""How fast the estimators converge."""
