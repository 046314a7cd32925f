"""Compiled code of built-in models: arrays in, arrays out."""
