"""Faults on purpose: scripts that anyone can run for an hour, a short form of each in the test suite.

Every script takes ``--count`` and ``--seed``, prints how many cases ended how, and exits with 1 if
one went wrong. A case is known by the seed and its number: ``--only NUMBER`` repeats it. ``make
campaign`` runs the long forms.
"""

import sys
from pathlib import Path

# the tests' own modules, which pytest finds by itself
sys.path.insert(0, str(Path(__file__).parents[1]))
