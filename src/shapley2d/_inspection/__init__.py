"""Which entries of a table are wrong, and what they should say; knows no values and no models."""
