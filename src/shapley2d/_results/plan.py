"""What a run will take: counts, time and memory, known before it starts."""

from __future__ import annotations

import html
import math
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from shapley2d._base.checks import check_number
from shapley2d._base.cost import Cost
from shapley2d._base.json_record import real_number, whole_number
from shapley2d._base.words import counted, format_bytes, format_seconds, printable

Range = tuple[float, float]

_UNKNOWN = Cost(math.nan, math.nan)


@dataclass(frozen=True)
class Plan:
    """What a run will take, from a short calibration of this machine on the real table.

    Attributes
    ----------
    method : str
    n_rows, n_columns, n_valid : int
        Of the training table, and its validation rows over all folds.
    amounts : dict of str to (int, int)
        The work, at least and at most: ``"column subsets"``, ``"permutations"``, ``"trees"``.
    seconds : (float, float)
        On this machine, at best and at worst.
    memory : float
        Bytes that the run needs here besides the table, at worst.
    cores : float
        Cores that work at a time here; less than one where others use the machine too.
    low, high : Cost
        What one process does alone, and pieces that workers share, at best and at worst.
    facts : dict
        How it would be computed, in the words of a result's ``info``.
    notes : list of str
        What else to know, in sentences.
    reason : str
        Why the run cannot be priced; empty where it can. Times and memory are NaN then.

    See Also
    --------
    plan_cells : Makes one.
    """

    method: str
    n_rows: int
    n_columns: int
    n_valid: int
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
        """Workers, one core like those here each, that finish within ``seconds`` at worst.

        Parameters
        ----------
        seconds : float

        Returns
        -------
        int or None
            None where no number of workers does: the rest is work of one process, or there are no
            more pieces to share. None also where the run cannot be priced.

        Examples
        --------
        >>> cost = Cost(alone_s=10.0, shared_s=3600.0, pieces=1000)
        >>> plan = Plan("knn", 1000, 20, 500, seconds=(1810.0, 1810.0), low=cost, high=cost)
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
            Seconds to finish in: the summary then says how many workers that takes.
        """
        valid = f", {counted(self.n_valid, 'validation row')}" if self.n_valid else ""
        table = f"{counted(self.n_rows, 'row')} x {counted(self.n_columns, 'column')}"
        lines = [f"plan: method {self.method}, {table}{valid}"]
        if not self.priced:
            return "\n".join([*lines, f"  {self.reason}"])
        lines += [f"  {name:<9} {words}" for name, words in self._entries(within)]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def headline(self) -> str:
        """The plan in a line, for a run that is about to start."""
        if not self.priced:
            return self.reason
        work = [f"{_between(*counts)} {name}" for name, counts in self.amounts.items()]
        how = "; ".join([*([", ".join(work)] if work else []), self._how()])
        return (
            f"planned: {time_words(self.seconds)} and {format_bytes(self.memory)} of memory ({how})"
        )

    def _how(self) -> str:
        if self.cores >= 1.05:
            return f"{self.cores:.2g} cores at a time"
        if self.cores >= 0.85:
            return "one core"
        return f"{self.cores:.2g} of a core: others use the machine too"

    def _entries(self, within: float | None) -> list[tuple[str, str]]:
        words = [("work", f"{_between(*counts)} {name}") for name, counts in self.amounts.items()]
        kinds = [
            str(self.facts[key]) for key in ("subsets", "form", "backend") if key in self.facts
        ]
        if kinds:
            words.append(("how", f"column subsets: {kinds[0]}, form {kinds[1]}, on {kinds[2]}"))
        words.append(("time", f"{time_words(self.seconds)} here ({self._how()})"))
        words.append(("memory", f"about {format_bytes(self.memory)} besides the table"))
        if within is not None:
            words.append(("workers", self._workers_words(within)))
        return words

    def _workers_words(self, within: float) -> str:
        count = self.workers(within)
        if count is not None:
            return f"{count:,} with a core each for {format_seconds(within)}"
        least = self.high.seconds(self.high.pieces)
        time = format_seconds(within)
        return f"no number of them does it in {time}: about {format_seconds(least)} at best"

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
            "n_rows": self.n_rows,
            "n_columns": self.n_columns,
            "n_valid": self.n_valid,
        }
        if not self.priced:
            return {**numbers, "reason": self.reason}
        return {
            **numbers,
            "amounts": {name: list(counts) for name, counts in self.amounts.items()},
            "seconds": list(self.seconds),
            "memory": self.memory,
            "cores": self.cores,
            "low": asdict(self.low),
            "high": asdict(self.high),
            "facts": self.facts,
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Plan:
        """A plan from what :meth:`to_dict` returned; a ValueError says what does not fit."""
        try:
            plan = cls(
                str(record["method"]),
                n_rows=_whole(record, "n_rows"),
                n_columns=_whole(record, "n_columns"),
                n_valid=_whole(record, "n_valid"),
                reason=str(record.get("reason", "")),
            )
            if plan.reason:
                return plan
            amounts = {
                str(name): (whole_number(low, name), whole_number(high, name))
                for name, (low, high) in record["amounts"].items()
            }
            low_s, high_s = record["seconds"]
            return replace(
                plan,
                amounts=amounts,
                seconds=(real_number(low_s, "seconds"), real_number(high_s, "seconds")),
                memory=_real(record, "memory"),
                cores=_real(record, "cores"),
                low=_cost(record["low"]),
                high=_cost(record["high"]),
                facts=dict(record["facts"]),
                notes=[str(note) for note in record["notes"]],
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"this is not a plan: {type(error).__name__}: {error}") from None

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
        table = f"<table><tbody>{rows}</tbody></table>"
        return f"<div><p><b>{html.escape(head)}</b></p>{table}{more}</div>"


def time_words(seconds: Range) -> str:
    """A range of times in words.

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
    """How long a run took and what was planned; empty where nothing was planned.

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


def _between(low: int, high: int) -> str:
    return f"{high:,}" if low == high else f"{low:,} to {high:,}"


def _cost(record: dict[str, Any]) -> Cost:
    return Cost(
        _real(record, "alone_s"),
        _real(record, "shared_s"),
        _whole(record, "pieces"),
        _whole(record, "waves"),
        _real(record, "handover_s"),
    )


def _whole(record: dict[str, Any], name: str) -> int:
    return whole_number(record[name], name)


def _real(record: dict[str, Any], name: str) -> float:
    return real_number(record[name], name)
