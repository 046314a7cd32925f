"""What every room stands on: files written whole, progress, checks, warnings, random streams.

Knows no table and no value.
"""
