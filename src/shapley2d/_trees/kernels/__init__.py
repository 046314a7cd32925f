"""Compiled code of the trees: arrays in, arrays out."""
