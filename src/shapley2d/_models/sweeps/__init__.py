"""Games of built-in models, which fill the whole grid of a permutation pair in one sweep."""
