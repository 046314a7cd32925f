"""The kind of a column of text: numbers, dates, booleans or text; one rule for files and frames."""
