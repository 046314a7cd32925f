"""Mistyped ages."""
