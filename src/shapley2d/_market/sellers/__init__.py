"""A look at every seller's rows beside the validation rows; knows no values and no payments."""
