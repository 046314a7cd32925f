"""Compiled code of the inspection: arrays in, arrays out."""
