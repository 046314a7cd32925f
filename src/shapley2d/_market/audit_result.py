"""What owners could gain by gaming, what was seen of their rows, and what settings change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shapley2d._base.json_record import Maybe, check_form
from shapley2d._base.words import printable
from shapley2d._tables.frames import make_frame
from shapley2d._valuation.wording.summaries import html_table

MOVES = {
    "two": "poses as two",
    "means": "adds three times as many rows at the means of its classes",
    "jitter": "adds three jittered copies of each of its rows",
    "withhold": "withholds the worst tenth of its rows",
}
"""What an owner might do, by a short name."""

_TEXTS = dict.fromkeys(("owner", "what", "victim", "sentence"), str)
_ALARMS = [{**_TEXTS, "p": Maybe(float), "alarm": bool}]
_AMOUNTS = {str: float | int}
_FORM = {
    "total": float, "payments": _AMOUNTS, "copies": str, "look": str, "complete": bool,
    "moves": [{**dict.fromkeys(("owner", "move", "sentence"), str),
               **dict.fromkeys(("before", "after"), float | int)}],
    "settings": [{"setting": str, "sentence": str, "payments": _AMOUNTS}],
    "alarms": _ALARMS,
}  # fmt: skip
_RECORDED = ("total", "payments", "_moves", "_settings", "copies", "_alarms", "look", "complete")


@dataclass(frozen=True)
class Audit:
    """What owners would gain by gaming a valuation, and how payments depend on its settings.

    Attributes
    ----------
    total : float
        The amount that is divided.
    payments : dict of str to float
        What every owner is paid.
    copies : str
        Which owners have copies of each other's rows, in a sentence.
    look : str
        What was looked at, in words; empty if nothing was.
    complete : bool
        Whether everything was computed; Ctrl-C keeps what was done by then.
    """

    total: float
    payments: dict[str, float]
    copies: str = ""
    look: str = ""
    complete: bool = True
    _moves: list[dict[str, Any]] = field(default_factory=list)
    _settings: list[dict[str, Any]] = field(default_factory=list)
    _alarms: list[dict[str, Any]] = field(default_factory=list)
    _frame: str = "pandas"

    @property
    def gains(self) -> Any:
        """What owners would gain: a frame of ``owner``, ``move``, ``before``, ``after``, ``gain``.

        ``after`` is the payment with the move, all shells of the owner together.
        """
        columns = _columns(self._moves, "owner", "move", "before", "after")
        columns["gain"] = [round(move["after"] - move["before"], 2) for move in self._moves]
        return make_frame(columns, self._frame)

    @property
    def shifts(self) -> Any:
        """Payments by other settings: a frame of ``setting``, ``owner``, ``before``, ``after``."""
        lines = [(one["setting"], owner) for one in self._settings for owner in one["payments"]]
        columns = {
            "setting": [setting for setting, _ in lines],
            "owner": [owner for _, owner in lines],
            "before": [self.payments.get(owner, 0.0) for _, owner in lines],
            "after": [paid for one in self._settings for paid in one["payments"].values()],
        }
        return make_frame(columns, self._frame)

    @property
    def findings(self) -> Any:
        """What was seen of the owners' rows, as a frame.

        ``owner``; ``what``; ``victim``, the other party that it is about, empty if there is none;
        ``p``, the chance to see this of an owner whose rows come from where the validation rows
        come from, corrected for the number of owners and tests, NaN for facts; ``alarm``, whether
        it says that something was made, or is information; ``sentence``, the evidence.
        """
        columns = _columns(self._alarms, "owner", "what", "victim", "p", "alarm", "sentence")
        columns["p"] = np.array(columns["p"], dtype=np.float64)  # None is NaN
        return make_frame(columns, self._frame)

    @property
    def sentences(self) -> list[str]:
        """Everything in words."""
        found = [one["sentence"] for one in (*self._moves, *self._settings)]
        return [
            *([self.look] if self.look else []),
            *(alarm_words(alarm) for alarm in self._alarms),
            *found,
            self.copies,
            *([] if self.complete else ["The audit ended early and is incomplete."]),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain JSON values, as a valuation keeps it in ``info["audit"]``."""
        return {name.lstrip("_"): getattr(self, name) for name in _RECORDED}

    @classmethod
    def from_dict(cls, record: Any, frame: str = "pandas") -> Audit:
        """An audit from what :meth:`to_dict` returned; a ValueError says what does not fit."""
        try:
            check_form(record, _FORM)
            check_look({"words": record["look"], "alarms": record["alarms"]})
        except ValueError:
            raise ValueError("its audit is not what it should be") from None
        return cls(**{name: record[name.lstrip("_")] for name in _RECORDED}, _frame=frame)

    def __repr__(self) -> str:
        lines = [f"Audit of {len(self.payments)} owners who share {self.total:,.2f}"]
        return "\n".join([*lines, *(f"  {printable(sentence)}" for sentence in self.sentences)])

    def _repr_html_(self) -> str:
        """The short tables that a notebook shows: what moves gain, and what was seen."""
        moves = [
            (
                one["owner"], one["move"], f"{one['before']:,.2f}", f"{one['after']:,.2f}",
                f"{one['after'] - one['before']:+,.2f}",
            )
            for one in self._moves
        ]  # fmt: skip
        head = ("owner", "if it", "is paid", "would be paid", "gain")
        told = {one["sentence"] for one in self._moves}  # in the table
        said = [sentence for sentence in self.sentences if sentence not in told]
        title = f"of {len(self.payments)} owners who share {self.total:,.2f}"
        return (
            f"<div><p><b>Audit</b> {title}</p>{html_table(moves, head) if moves else ''}"
            f"{html_table([(sentence,) for sentence in said])}</div>"
        )


def _columns(records: list[dict[str, Any]], *names: str) -> dict[str, Any]:
    return {name: [one[name] for one in records] for name in names}


def alarm_words(alarm: dict[str, Any]) -> str:
    """An alarm in a line, such as "A, copies: So. (p < 0.0001)"."""
    p = alarm["p"]
    chance = "" if p is None else " (p < 0.0001)" if p < 1e-4 else f" (p = {p:.2g})"
    kind = "" if alarm["alarm"] else "For information: "
    return f"{kind}{alarm['owner']}, {alarm['what']}: {alarm['sentence']}{chance}"


def check_look(look: Any) -> None:
    """Check what a look says, words and alarms; a ValueError says in a phrase what is wrong."""
    check_form(look, {"words": str, "alarms": _ALARMS}, "its look at the owners' rows")
    if any(one.get("p") is not None and one["p"] > 1 for one in look["alarms"]):
        raise ValueError("a chance of its look at the owners' rows is above 1")
