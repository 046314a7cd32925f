"""Any model by its utilities: Monte Carlo and exact values, games of models, and sweeps."""
