"""Groups of rows and columns, who owns them, what they are paid. Knows no table and no model."""
