"""What people read of a result, said once: repr, notebook, terminal and report take it from here.

:mod:`units` has the units of values and errors, :mod:`sentences` what a valuation says,
:mod:`certainty` how precise it is, :mod:`summaries` what Python and notebooks print.
"""
