"""What a column of text holds: numbers, dates, booleans or text; one rule for files and frames."""
