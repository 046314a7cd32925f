"""Values of cells: value_cells, Valuation, and how a valuation is explained, shown and kept."""
