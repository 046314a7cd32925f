"""Estimators: they stream utilities, keep means and errors, stop, survive and resume.

Know neither models nor tables.
"""
