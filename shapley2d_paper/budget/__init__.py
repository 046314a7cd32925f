"""More and more outliers."""
