"""Compiled code of the baselines, arrays in and arrays out."""
