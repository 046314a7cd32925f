"""Basics of every room: files, threads, progress, checks, warnings, random streams, words, pages.

Knows no table and no value.
"""
