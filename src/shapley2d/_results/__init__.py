"""What comes out: values, errors, names, the record of the run, and how to show and keep them."""
