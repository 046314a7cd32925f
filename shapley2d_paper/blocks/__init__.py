"""Values of blocks."""
