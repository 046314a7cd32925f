"""The K-nearest-neighbour game, whose row axis has a closed form."""
