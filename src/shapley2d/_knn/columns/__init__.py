"""The column axis of the K-nearest-neighbour game from sampled coalitions."""
