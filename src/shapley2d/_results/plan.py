"""What a run will take: counts, time and memory, known before it starts."""

from __future__ import annotations

import html
import json
import math
from dataclasses import dataclass, field
from typing import Any

from shapley2d._base.checks import check_number
from shapley2d._base.cost import Cost
from shapley2d._base.json_record import fits_float
from shapley2d._base.words import format_bytes, format_seconds, printable

Range = tuple[float, float]

_UNKNOWN = Cost(math.nan, math.nan)


@dataclass(frozen=True)
class Plan:
    """What a run will take, from a short calibration of this machine on the real table.

    Attributes
    ----------
    method : str
    rows, columns, valid_rows : int
        Of the training table, and the rows that it is evaluated on, over all folds.
    amounts : dict of str to (int, int)
        What there is to do, at least and at most: ``"column subsets"``, ``"permutations"``,
        ``"trees"``.
    seconds : (float, float)
        On this machine, at best and at worst.
    memory : float
        Bytes that the run needs here beside the table, at worst.
    cores : float
        How many cores' work is done at a time here; less than one where others use the machine too.
    low, high : Cost
        The cost model behind it, at best and at worst: what one process does alone, and pieces that
        workers share.
    facts : dict
        How it would be computed, in the words of a result's ``info``.
    notes : list of str
        What to know besides, in sentences.
    reason : str
        Why there is no price, where there is none; times and memory are NaN then.

    See Also
    --------
    plan_cells : Makes one.
    """

    method: str
    rows: int
    columns: int
    valid_rows: int
    amounts: dict[str, tuple[int, int]] = field(default_factory=dict)
    seconds: Range = (math.nan, math.nan)
    memory: float = math.nan
    cores: float = 1.0
    low: Cost = _UNKNOWN
    high: Cost = _UNKNOWN
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    reason: str = ""

    @property
    def priced(self) -> bool:
        """Whether the method can be priced."""
        return not self.reason

    def workers(self, seconds: float) -> int | None:
        """How many workers, with a core like those here each, are done within so many seconds, at worst.

        Parameters
        ----------
        seconds : float

        Returns
        -------
        int or None
            None where no number of workers is: the rest is what one process does alone, or there
            are no more pieces to share. None also where there is no price.

        Examples
        --------
        >>> cost = Cost(alone_s=10.0, shared_s=3600.0, pieces=1000)
        >>> plan = Plan("knn", 1000, 20, 500, seconds=(1810.0, 1810.0), memory=1e8, cores=2.0, low=cost, high=cost)
        >>> plan.workers(600), plan.workers(60), plan.workers(5)
        (7, 77, None)
        """
        check_number(seconds, "seconds")
        return self.high.workers(float(seconds)) if self.priced else None

    def summary(self, within: float | None = None) -> str:
        """The plan in words.

        Parameters
        ----------
        within : float, optional
            Seconds in which it should be done: the summary then says how many workers that takes.
        """
        against = f", {self.valid_rows:,} validation rows" if self.valid_rows else ""
        lines = [
            f"plan: method {self.method}, {self.rows:,} rows x {self.columns:,} columns{against}"
        ]
        if not self.priced:
            return "\n".join([*lines, f"  {self.reason}"])
        lines += [f"  {name:<9} {words}" for name, words in self._entries(within)]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def headline(self) -> str:
        """The plan in a line, for a run that is about to start."""
        if not self.priced:
            return self.reason
        what = ", ".join(f"{_counted(counts)} {name}" for name, counts in self.amounts.items())
        what = f"{what}; " if what else ""
        return f"planned: {time_words(self.seconds)} and {format_bytes(self.memory)} of memory ({what}{self._how()})"

    def _how(self) -> str:
        if self.cores >= 1.05:
            return f"{self.cores:.2g} cores at a time"
        return (
            "one core"
            if self.cores >= 0.85
            else f"{self.cores:.2g} of a core: others use the machine too"
        )

    def _entries(self, within: float | None) -> list[tuple[str, str]]:
        words = [("work", f"{_counted(counts)} {name}") for name, counts in self.amounts.items()]
        kinds = [
            str(self.facts[key]) for key in ("subsets", "form", "backend") if key in self.facts
        ]
        if kinds:
            words.append(("how", f"column subsets: {kinds[0]}, form {kinds[1]}, on {kinds[2]}"))
        words.append(("time", f"{time_words(self.seconds)} here ({self._how()})"))
        words.append(("memory", f"about {format_bytes(self.memory)} beside the table"))
        if within is not None:
            words.append(("workers", self._workers_words(within)))
        return words

    def _workers_words(self, within: float) -> str:
        count = self.workers(within)
        if count is not None:
            return f"{count:,} with a core each for {format_seconds(within)}"
        least = self.high.seconds(self.high.pieces)
        return f"no number of them does it in {format_seconds(within)}: about {format_seconds(least)} at best"

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain JSON values, which :meth:`from_dict` takes.

        Examples
        --------
        >>> plan = Plan("random", 3, 2, 0, reason="there is nothing to compute")
        >>> Plan.from_dict(plan.to_dict()).reason
        'there is nothing to compute'
        """
        numbers: dict[str, Any] = {
            "method": self.method,
            "rows": self.rows,
            "columns": self.columns,
            "valid_rows": self.valid_rows,
        }
        if not self.priced:
            return {**numbers, "reason": self.reason}
        return {
            **numbers,
            "amounts": {name: list(counts) for name, counts in self.amounts.items()},
            "seconds": list(self.seconds),
            "memory": self.memory,
            "cores": self.cores,
            "low": _cost_record(self.low),
            "high": _cost_record(self.high),
            "facts": self.facts,
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Plan:
        """A plan from what :meth:`to_dict` made; a ValueError says where it does not fit."""
        try:
            rows, columns, valid_rows = (
                _whole(record[name]) for name in ("rows", "columns", "valid_rows")
            )
            known: dict[str, Any] = {"reason": str(record["reason"])} if "reason" in record else {
                "amounts": {str(name): (_whole(a), _whole(b)) for name, (a, b) in record["amounts"].items()},
                "seconds": (_real(record["seconds"][0]), _real(record["seconds"][1])),
                "memory": _real(record["memory"]),
                "cores": _real(record["cores"]),
                "low": _cost(record["low"]),
                "high": _cost(record["high"]),
                "facts": dict(record["facts"]),
                "notes": [str(note) for note in record["notes"]],
            }  # fmt: skip
            return cls(str(record["method"]), rows, columns, valid_rows, **known)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise ValueError(f"this is no plan: {type(error).__name__}: {error}") from None

    def to_json(self) -> str:
        """The plan as JSON."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """A plan from what :meth:`to_json` wrote."""
        return cls.from_dict(json.loads(text))

    def __repr__(self) -> str:
        return printable(self.summary(), "\n")

    def _repr_html_(self) -> str:
        """The short table that a notebook shows."""
        head, *lines = self.summary().split("\n")
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(words)}</td></tr>"
            for name, words in (self._entries(None) if self.priced else [])
        )
        more = "".join(
            f"<p>{html.escape(note)}</p>" for note in (self.notes if self.priced else lines)
        )
        return f"<div><p><b>{html.escape(head)}</b></p><table><tbody>{rows}</tbody></table>{more}</div>"


def time_words(seconds: Range) -> str:
    """A range of times as a person says it.

    Examples
    --------
    >>> time_words((58.0, 62.0)), time_words((20.0, 95.0)), time_words((0.1, 0.2))
    ('about 1 min 2 s', '20 s to 1 min 35 s', 'less than a second')
    """
    low, high = seconds
    if high < 1:
        return "less than a second"
    if high <= 1.15 * low:
        return f"about {format_seconds(high)}"
    return f"{format_seconds(low)} to {format_seconds(high)}"


def took_words(info: dict[str, Any]) -> str:
    """How long a run took, beside what was planned; empty where nothing was.

    Examples
    --------
    >>> took_words({"seconds": 75.2, "planned_s": [60.0, 90.0]})
    '1 min 15 s, planned 1 min 0 s to 1 min 30 s'
    >>> took_words({"seconds": 2.0})
    ''
    """
    if not info.get("planned_s") or info.get("seconds") is None:
        return ""
    low, high = info["planned_s"]
    return f"{format_seconds(info['seconds'])}, planned {time_words((low, high))}"


def _counted(counts: tuple[int, int]) -> str:
    low, high = counts
    return f"{high:,}" if low == high else f"{low:,} to {high:,}"


def _cost_record(cost: Cost) -> dict[str, float]:
    names = ("alone_s", "shared_s", "pieces", "waves", "handover_s")
    return {name: getattr(cost, name) for name in names}


def _cost(record: dict[str, Any]) -> Cost:
    return Cost(
        _real(record["alone_s"]),
        _real(record["shared_s"]),
        _whole(record["pieces"]),
        _whole(record["waves"]),
        _real(record["handover_s"]),
    )


def _whole(number: Any) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise ValueError(f"{number!r} is not a whole number from 0 on")
    return number


def _real(number: Any) -> float:
    if not fits_float(number) or not number >= 0:
        raise ValueError(f"{number!r} is not a number from 0 on")
    return float(number)
