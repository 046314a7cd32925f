"""Labels that repeat: each distinct one is read once, and a message still names its row."""

import enum

import numpy as np
import pandas as pd
import pytest

from shapley2d import InputError
from shapley2d._base import entries
from shapley2d._base.entries import with_texts
from shapley2d._tables.convert import as_table
from shapley2d._tables.target import as_target, match_target
from shapley2d._tables.texts.column import as_texts
from shapley2d._tables.texts.numbers import plain_numbers

ROWS = 3000


class Answer(str, enum.Enum):  # noqa: UP042  (its text is "Answer.YES", not "yes")
    YES = "yes"
    NO = "no"


def table(n=ROWS):
    return as_table(pd.DataFrame({"a": np.arange(n) % 7 + 0.5}))


@pytest.mark.parametrize("kind", [list, np.array])  # a series of pandas refuses them
def test_lone_surrogates_are_escaped_wherever_they_are(kind):
    labels = ["no\udce9", "yes", "no"] * (ROWS // 3)
    target = as_target(kind(labels), table())
    assert target.classes.tolist() == ["no", "no\\udce9", "yes"]
    assert target.codes.tolist() == [1, 2, 0] * (ROWS // 3)


def test_types_that_only_compare_equal_stay_apart():
    plain = [True, 1, 1.0, "1", np.str_("1"), None, Answer.YES, "yes"]
    for items in (plain, plain[3:5], plain[6:], ["1", 1]):
        expected = [entries.as_text(item) if isinstance(item, str) else item for item in items]
        assert [*map(repr, with_texts(items))] == [*map(repr, expected)]


def with_entry(entry, others=("a", "b")):
    """Rows with one odd entry, in row 1234."""
    items = [*others] * (ROWS // len(others))
    items[1234] = entry
    return items


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (with_entry(None), r"y is missing \(NaN\) in 1 row, first in row 1234"),
        (with_entry(float("nan")), "first in row 1234"),
        (with_entry(float("nan"), (1.0, 2.0)), "first in row 1234"),
        (with_entry(pd.NA), "first in row 1234"),
        (with_entry("?", ("1", "2")), "first in row 1234"),
        (with_entry(("a",)), "row 1234 holds a tuple"),
        (with_entry({"a": 1}), "row 1234 holds a dict, not a plain entry"),
    ],
)
def test_the_row_of_a_bad_label_is_named(y, message):
    column = np.empty(len(y), dtype=object)
    column[:] = y
    with pytest.raises(InputError, match=message):
        as_target(column, table())
    good = as_target(["a", "b"] * (ROWS // 2), table())
    with pytest.raises(InputError, match=message.replace("y is", "y_valid is")):
        match_target(column, table(), good)


def test_mixed_types_are_text():
    target = as_target(np.array(with_entry(1), dtype=object), table())
    assert target.classes.tolist() == ["1", "a", "b"]
    assert target.codes[1234] == 0
    valid = match_target([1, "1", "a"], table(3), target)
    assert valid.codes.tolist() == [0, 0, 1]


def test_numbers_as_text_match_numbers():
    target = as_target(["1", "2.0", "1.0"] * (ROWS // 3), table())
    assert target.classes.tolist() == [1, 2]
    assert match_target(np.array([2, 1], dtype=np.int8), table(2), target).codes.tolist() == [1, 0]


def test_a_late_word_among_numbers():
    """Only the first entries are tried before all of them are read."""
    texts = as_texts([*map(str, range(1000)), "x"])
    assert plain_numbers(texts) is None
    assert plain_numbers(texts[:1000]).tolist() == [*range(1000)]
