"""Compiled code of trees: arrays in, arrays out."""
