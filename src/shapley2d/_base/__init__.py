"""Basics of every room: atomic files, threads, progress, checks, warnings, random streams, words.

Knows no table and no value.
"""
