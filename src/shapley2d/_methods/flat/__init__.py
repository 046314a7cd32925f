"""The 1D baseline: every cell is a player of its own, and an absent cell is filled with its column's mean."""
