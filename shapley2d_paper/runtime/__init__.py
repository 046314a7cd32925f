"""Run times beside the paper's."""
