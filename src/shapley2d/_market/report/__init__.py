"""What a report adds for blocks: their owners, payments, an audit, and the grid of blocks."""
