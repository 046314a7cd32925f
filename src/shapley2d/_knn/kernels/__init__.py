"""Compiled code of nearest neighbours: arrays in, arrays out."""
