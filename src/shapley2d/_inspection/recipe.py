"""Every weight and constant of an inspection, in one place.

The score of a cell is the weighted sum of what speaks against its entry. The weights were chosen on
tables with planted errors and checked on others; none is learnt from the table at hand.
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
"""What a cell's score is made of, by the name of the reason.

=========== =====================================================================================================
surprise    how unlikely the entry is given the rest of its row
stories     how much likelier an error would have made it than the row
distance    how far a number is from the middle of what is expected, as far as its bin is not expected itself
class       how unusual it is among the rows of its label
repeat      it stands alone in a column whose entries come back
gain        how much better the rest of the row fits once the entry is replaced
text        it is written otherwise than its column
=========== =====================================================================================================
"""

LABEL_WEIGHT = 1.0
"""The score of a class label is its surprise alone."""

TREES, FEWEST_TREES, ROWS_OF_ALL_TREES = 100, 32, 50_000
"""Trees of a forest; fewer, down to a number, for more rows than the last: asking them is what takes the time then."""

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

MOST_CHANCES = 2e9
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

MOST_WORDS = 200_000
"""Different texts of a column beyond which their characters are not compared: they are keys."""

STRAY_CHANCE = 0.9
"""How likely text among numbers is wrong, at least."""

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

HIGH_SCORE, HIGH_SHARES = 7.0, (0.006, 0.1)
"""Scores that few sound cells reach: their share, within bounds, tells how many errors there may be."""

LOGIT = {"base": -7.05, "share": -0.276, "height": 4.33, "height and share": 0.792, "root": 1.49}
"""The chance of being wrong as a logit. The share is the logarithm of that of high scores; the height is a score's
distance from the median of the table, in units of the distance of the 90 % quantile."""

MOST_HEIGHTS = (3.0, 9.0)
"""Heights beyond which neither the height counts more, nor its root."""

MOST_CHANCE = 0.91
"""No cell is surer to be wrong: where so much was said of tables unseen before, about so many were."""

LABEL_TRUST = 1.2
"""Power of the odds that a forest gives to a label: a mean of many trees is too cautious."""
