"""Compiled code: arrays in, arrays out. Imports numpy and numba only."""
