"""What every cell of a training table, and every block of it, is worth to a model."""
