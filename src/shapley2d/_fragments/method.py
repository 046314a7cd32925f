"""The option ``method`` of fragments: which model judges, and by all sets or random orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from shapley2d._base.checks import check_choice
from shapley2d._estimation.draws import LEAST_DRAWS
from shapley2d._methods.method import Method
from shapley2d._models.by_name import MODELS, TAKE_MISSING
from shapley2d._models.methods import Exact, MonteCarlo
from shapley2d.exceptions import InputError


@dataclass(frozen=True)
class Judging:
    """Which model judges, whether by all sets or orders, and how precisely."""

    name: ClassVar[str] = "fragments"

    model: Any
    design: Literal["auto", "all sets", "orders"] = "auto"
    tolerance: float = MonteCarlo.tolerance
    max_draws: int = MonteCarlo.max_draws


def read_method(method: Any) -> Judging:
    """How the option ``method`` has contributors judged."""
    if isinstance(method, str):
        if method in ("exact", "mc"):
            method = Exact() if method == "exact" else MonteCarlo()
        elif method not in MODELS:
            check_choice(method, "method", (*TAKE_MISSING, "exact", "mc"))
    if isinstance(method, type):
        raise InputError(f"method is the class {method.__name__}: make one, {method.__name__}()")
    if not isinstance(method, Method):
        return Judging(method)
    if not isinstance(method, (Exact, MonteCarlo)):
        raise InputError(
            f"method={method!r} values cells: of contributors use method='boosting', or Exact or "
            "MonteCarlo with a model"
        )
    if method.preprocess != "auto" or getattr(method, "truncation", None) is not None:
        raise InputError(
            f"method={method!r} has options of cells: of contributors only the model, tolerance "
            "and max_draws count"
        )
    if isinstance(method, MonteCarlo) and method.max_draws < LEAST_DRAWS:
        raise InputError(
            f"max_draws={method.max_draws} is too few for intervals: allow at least {LEAST_DRAWS}"
        )
    if isinstance(method, Exact):
        return Judging(method.model, "all sets", 0.0, 1)
    return Judging(method.model, "orders", method.tolerance, method.max_draws)


def method_word(method: Any) -> str:
    """A short name of a method, for the result."""
    if isinstance(method, str):
        return method
    return repr(method) if isinstance(method, Method) else type(method).__name__
