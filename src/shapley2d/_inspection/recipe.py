"""Every weight and constant of an inspection, in one place.

The score of a cell is the weighted sum of what speaks against its entry. The weights were chosen on tables with planted
errors and checked on others; none is learnt from the table at hand.
"""

from __future__ import annotations

WEIGHTS = {
    "surprise": 0.5,
    "stories": 0.5,
    "distance": 2.0,
    "class": 1.0,
    "repeat": 0.5,
    "gain": 0.5,
    "text": 1.0,
}
"""What a cell's score is made of, by the name of the reason.

=========== =====================================================================================================
surprise    how unlikely the entry is given the rest of its row
stories     how much likelier an error would have made it than the row
distance    how far a number is from the middle of what is expected
class       how unusual it is among the rows of its label
repeat      it stands alone in a column whose entries come back
gain        how much better the rest of the row fits once the entry is replaced
text        it is written otherwise than its column
=========== =====================================================================================================
"""

LABEL_WEIGHT = 1.0
"""The score of a class label is its surprise alone."""

TREES = 100
"""Trees of a forest."""

BAG_SHARE, MOST_BAG_ROWS = 0.6, 4000
"""Rows that a tree learns from: this share of all, at most so many."""

SMALLEST_LEAF = 5
"""Rows of a leaf."""

TRIED_SHARE = 0.5
"""Columns that a node looks at."""

ROWS_PER_BIN, FEWEST_BINS, MOST_BINS = 8, 6, 24
"""Bins of a column of numbers: one for so many entries, within bounds."""

FEWEST_ROWS = 10
"""Entries that a column must have to be predicted."""

MOST_CATEGORIES = 0.5
"""A column of more categories, as a share of its rows, is a key: it is not predicted."""

MOST_CHANCES = 4e9
"""Rows times categories beyond which a column is not predicted either: it would take minutes."""

SHARE_MIXED, FLOOR_MIXED = 0.02, 0.1
"""A prediction is mixed with the column's own shares, and lifted by a part of one row."""

ANYTHING = 0.5
"""Share of errors that may be anything; the others are entries of other rows."""

WIDE = 3.0
"""Half width of the distribution of a number that may be anything, in spreads of its column on the squashed scale."""

NARROWEST = 0.01
"""The least distance between bins on the squashed scale."""

ATOM_SHARE, ATOM_ROWS = 0.02, 3
"""A number that fills a bin alone counts as a category of its own from this share and number of rows on."""

HALF_WIDTH = 1.35
"""Interquartile range of a normal distribution in standard deviations."""

SHAPE_WEIGHT, PAIR_WEIGHT, STRAY = 0.5, 0.5, 5.0
"""Parts of the text's score: a rare shape, a rare pair of characters, no number among numbers."""

ALTERNATIVES = 3
"""Likeliest categories that are named."""

RANGE = (0.1, 0.9)
"""Quantiles between which a number is expected."""

CHUNK_CELLS = 2**21
"""Rows times bins that are held at a time."""

GAIN_ROWS = 4096
"""Rows whose repairs are tried at a time."""

SUSPECT_CHANCE, SUSPECT_SHARE, MOST_SUSPECTS = 0.05, 0.02, 5000
"""Entries that are looked at for slips: from this chance of being wrong on, at least this share, at most so many."""

SPELLING_LENGTH, SPELLING_TIMES = 4, 5
"""A rare spelling has at least so many characters, and the right one is at least so many times as frequent."""

SLIP_RANGE = 0.3
"""A slip is named where the expected range is at most so much of the entry's distance from its middle."""

PRIOR_SHARE, PRIOR_CELLS = 0.02, 50
"""The share of errors that is expected before a look at the table, and the number of cells that this counts as."""

HIGH_SCORE = 7.0
"""Scores that few sound cells reach: their share tells how many errors there may be."""

LOGIT_BASE, LOGIT_HIGH_SHARE, LOGIT_ROOT, LOGIT_HEIGHT, MOST_HEIGHT = -2.59, 0.865, 1.015, 1.5, 3.0
"""The chance of being wrong as a logit: a constant, per log of the share of high scores, per root of the height of the
score above the median in units of the 90 % quantile's, and per unit of that height up to the last."""

LABEL_TRUST = 1.2
"""Power of the odds that a forest gives to a label: somewhat surer than it says, as the mean of many trees should be."""
