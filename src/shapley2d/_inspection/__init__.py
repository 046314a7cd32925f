"""Which entries of a table are wrong and what they should say; knows typed tables, no values and no models."""
