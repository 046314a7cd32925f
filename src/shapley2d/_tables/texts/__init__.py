"""What a column of text holds: numbers, dates, booleans, or text after all. One rule for files and for frames."""
