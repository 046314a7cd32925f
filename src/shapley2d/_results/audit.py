"""What owners could gain by gaming a valuation, and how much payments depend on what was asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from shapley2d._base.entries import is_number
from shapley2d._base.words import printable
from shapley2d._tables.frames import make_frame

MOVES = {
    "two": "splits into two shells",
    "four": "splits into four shells",
    "twice": "lists its rows twice",
    "name": "lists its rows again under a second name",
    "hide": "puts the worst tenth of its rows into a shell",
    "withhold": "withholds the worst tenth of its rows",
    "noise": "adds as many rows of shuffled noise",
}
"""What an owner might do, by a short name."""


@dataclass(frozen=True)
class Audit:
    """What owners would gain by gaming a valuation, and how payments move with what was asked: all of it computed.

    Attributes
    ----------
    amount : float
        The amount that is divided.
    payments : dict of str to float
        What every owner is paid as things stand.
    moves : list of dict
        ``owner``, ``move`` (in words), ``before`` and ``after``: what it is paid, all its shells
        together, as things stand and if it did that; ``sentence``.
    settings : list of dict
        ``setting`` (in words), ``payments``: what every owner would be paid under it; ``sentence``.
    copies : str
        Which copies there are between owners, in a sentence.
    complete : bool
        Whether all of it was computed: Ctrl-C keeps what was done.
    frame : str
        The kind of frame that the methods return.
    """

    amount: float
    payments: dict[str, float]
    moves: list[dict[str, Any]] = field(default_factory=list)
    settings: list[dict[str, Any]] = field(default_factory=list)
    copies: str = ""
    complete: bool = True
    frame: str = "pandas"

    @property
    def gains(self) -> Any:
        """What owners would gain: a frame of ``owner``, ``move``, ``before``, ``after`` and ``gain``."""
        names = ("owner", "move", "before", "after")
        columns: dict[str, Any] = {name: [move[name] for move in self.moves] for name in names}
        columns["gain"] = [round(move["after"] - move["before"], 2) for move in self.moves]
        return make_frame(columns, self.frame)

    @property
    def shifts(self) -> Any:
        """What owners would be paid otherwise: a frame of ``setting``, ``owner``, ``before`` and ``after``."""
        lines = [(one["setting"], owner) for one in self.settings for owner in one["payments"]]
        columns = {
            "setting": [setting for setting, _ in lines],
            "owner": [owner for _, owner in lines],
            "before": [self.payments.get(owner, 0.0) for _, owner in lines],
            "after": [paid for one in self.settings for paid in one["payments"].values()],
        }
        return make_frame(columns, self.frame)

    @property
    def sentences(self) -> list[str]:
        """All findings in words."""
        found = [one["sentence"] for one in (*self.moves, *self.settings)]
        return [
            *found,
            self.copies,
            *([] if self.complete else ["The audit was interrupted and is incomplete."]),
        ]

    def record(self) -> dict[str, Any]:
        """The audit as plain JSON values, as a valuation keeps it in ``info["audit"]``."""
        return {
            "amount": self.amount,
            "payments": dict(self.payments),
            "moves": self.moves,
            "settings": self.settings,
            "copies": self.copies,
            "complete": self.complete,
        }

    @classmethod
    def of_record(cls, record: Any, frame: str = "pandas") -> Audit:
        """An audit from what :meth:`record` made; a ValueError says in a phrase what does not fit."""
        fits = (
            isinstance(record, dict)
            and is_number(record.get("amount"))
            and _amounts(record.get("payments"))
            and isinstance(record.get("copies"), str)
            and isinstance(record.get("complete"), bool)
            and all(isinstance(record.get(name), list) for name in ("moves", "settings"))
            and all(
                _texts(move, "owner", "move", "sentence") and _numbers(move, "before", "after")
                for move in record["moves"]
            )
            and all(
                _texts(one, "setting", "sentence") and _amounts(one.get("payments"))
                for one in record["settings"]
            )
        )
        if not fits:
            raise ValueError("its audit is not what it should be")
        names = ("amount", "payments", "moves", "settings", "copies", "complete")
        return cls(**{name: record[name] for name in names}, frame=frame)

    def __repr__(self) -> str:
        lines = [f"Audit of {len(self.payments)} owners who share {self.amount:,.2f}"]
        return "\n".join([*lines, *(f"  {printable(sentence)}" for sentence in self.sentences)])


def _texts(record: Any, *names: str) -> bool:
    return isinstance(record, dict) and all(isinstance(record.get(name), str) for name in names)


def _numbers(record: Any, *names: str) -> bool:
    return all(is_number(record.get(name)) for name in names)


def _amounts(record: Any) -> bool:
    return isinstance(record, dict) and all(is_number(amount) for amount in record.values())
