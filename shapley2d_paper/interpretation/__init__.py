"""What is behind a 1D value."""
