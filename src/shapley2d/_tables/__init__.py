"""Where tables come in: typed columns, the target, the splits. Knows no model and no value."""
