"""Comparing results, also of runs that crashed."""


class CrashError(Exception):
    """The power fails."""


def same_bits(one, other):
    """Whether the values and standard errors of two results agree bit for bit."""
    names = ("values", "stderr", "row_stderr", "column_stderr")
    return all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in names)
