"""What every room uses: atomic files, threads, progress, checks, warnings, random streams, words.

Knows no table and no value.
"""
