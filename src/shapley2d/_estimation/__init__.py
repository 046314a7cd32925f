"""Estimators: they sum utilities to values with standard errors, stop in time, and resume.

They know neither models nor tables.
"""
