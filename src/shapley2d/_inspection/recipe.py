"""Every weight and constant of an inspection, in one place.

The score of a cell is the weighted sum of what speaks against its entry. The weights were chosen on
tables with planted errors and checked on others (``benchmarks/detection.py``); none is learned from
the table at hand.
"""

from __future__ import annotations

WEIGHTS = {
    "surprise": 0.25,
    "stories": 0.5,
    "distance": 2.0,
    "class": 1.5,
    "repeat": 0.5,
    "gain": 0.5,
    "text": 1.0,
}
"""Weights of the parts of a cell's score.

=========== ================================================================================
surprise    how unlikely the entry is given the rest of its row
stories     how much likelier an error would have produced it than the row
distance    how far a number is from the middle of what is expected, unless its bin is expected
class       how unusual it is among the rows of its label
repeat      it occurs once in a column whose entries repeat
gain        how much better the rest of the row fits once the entry is replaced
text        it is not written like the rest of its column
=========== ================================================================================
"""

LABEL_WEIGHT = 1.0
"""The score of a class label is its surprise alone."""

# Forests: time grows in proportion to the trees and to the rows of a bag.

TREES, FEWEST_TREES, ROWS_OF_ALL_TREES = 100, 32, 50_000
"""Trees of a forest. Beyond the last number of rows there are fewer, down to the second number:
there most of the time goes into asking them."""

BAG_SHARE, MOST_BAG_ROWS = 0.6, 4000
"""Rows that a tree learns from: this share of all, up to this number."""

SMALLEST_LEAF = 5
"""Rows of a leaf; smaller leaves follow single rows, errors included."""

TRIED_SHARE = 0.5
"""Share of the columns that a node tries."""

ROWS_PER_BIN, FEWEST_BINS, MOST_BINS = 8, 6, 24
"""A column of numbers has one bin per 8 entries, between 6 and 24 bins."""

FEWEST_ROWS = 10
"""Entries that a column must have to be predicted."""

MOST_CATEGORIES = 0.5
"""A column with more categories than this share of its rows is a key, and is not predicted."""

MOST_CHANCES = 2e9
"""Rows times bins beyond which a column is not predicted: it would take minutes."""

SHARE_MIXED, FLOOR_MIXED = 0.02, 0.1
"""Share of a prediction that comes from the column as a whole, and the part of one row that is
added to every bin, so that no entry is impossible."""

# The two stories of an entry (deviation.py).

ANYTHING = 0.5
"""Share of errors that may be anything; the others are entries of other rows."""

WIDE = 3.0
"""Half width, in spreads on the squashed scale, of the distribution of numbers that may be
anything."""

NARROWEST = 0.01
"""Least width of a bin on the squashed scale."""

ATOM_SHARE, ATOM_ROWS = 0.02, 3
"""A number alone in its bin counts as a category if it has this share and number of rows."""

HALF_WIDTH = 1.35
"""Interquartile range of a normal distribution in standard deviations."""

# Texts.

SHAPE_WEIGHT, PAIR_WEIGHT, STRAY = 0.5, 0.5, 5.0
"""Parts of the score of a text: a rare shape, a rare pair of characters, text among numbers."""

CATEGORY_TIMES = (30, 300)
"""An entry that is there this many times counts less and less by how it is written, and from the
second number on no more. Systematic slips repeat too, mostly below the first: set by hand."""

MOST_WORDS = 200_000
"""A column with more distinct texts holds keys: their characters are not compared."""

SPELLING_LENGTH, SPELLING_TIMES = 4, 5
"""A rare spelling has at least this many characters, and the right one is this many times as
frequent. Shorter or less rare texts are often words of their own."""

# What is expected, and suspects.

ALTERNATIVES = 3
"""Number of likeliest categories that are kept."""

RANGE = (0.1, 0.9)
"""Quantiles of the expected range of a number."""

SUSPECT_CHANCE, SUSPECT_SHARE, MOST_SUSPECTS = 0.05, 0.02, 5000
"""Entries examined for slips: all from this probability on, at least this share, at most this
many."""

SLIP_RANGE = 0.3
"""A slip is named only if the expected range is at most this part of the entry's distance from its
middle. In wider ranges some slip always ends by chance."""

REPEATED_SHARE, REPEATED_TIMES, TAIL_SHARE = 0.005, 3, 0.01
"""A number that this share and more than this many of the rows hold is no slip. Where more than the
last share is at least half as far off, the column has a heavy tail: no decimal point slipped."""

# Pieces of work: larger ones need more memory.

CHUNK_CELLS = 2**21
"""Rows times bins that are held at a time."""

GAIN_ROWS = 4096
"""Rows whose repairs are tried at a time."""

# Probabilities (evidence.py, probability.py). The rest of what benchmarks/calibration.py
# learns is in learned.json.

HIGH_SCORE, HIGH_SHARES = 7.0, (0.0005, 0.2)
"""Few correct cells score this high; the share of such cells counts within these bounds."""

TAIL = (0.1, 0.02, 0.002)
"""Shares of the cells with the strongest evidence, whose weakest tells how the table's tail is."""

LABEL_CHANCES = 7.0
"""Logarithm of the odds against a label beyond which it does not matter how large they are."""

MOST_CHANCE = 0.99
"""Nothing is surer than this."""

STRAY_CHANCE, STRAYS_ALIKE = 0.9, 3
"""Least probability that a text among numbers is wrong, if at most so many have its shape: 99 % of
2,000 were, in tables made like those of benchmarks/calibration.py, and 82 % of those that more than
20 have, which may be codes."""

STANDS_OUT = 0.72
"""Probability from which an entry stands out: of clean tables left out, 90 % have none."""

TRUE_PER_EXPECTED = (0.57, 3.4)
"""True number of errors per expected one, 10 and 90 % quantiles over tables left out that have .3 %
of errors or more."""
