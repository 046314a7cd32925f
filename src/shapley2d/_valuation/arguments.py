"""The types of arguments that the functions and the estimator share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

from shapley2d._methods.method import Method
from shapley2d._tables.splits import Splitter
from shapley2d._theory.semivalues import Semivalue
from shapley2d._valuation.methods import Estimator

CV = int | Splitter | Iterable[tuple[Any, Any]] | None
Kind = Literal["number", "date", "text"]
MethodLike = str | Method | Estimator
PathLike = str | os.PathLike[str]
Progress = Literal["auto"] | bool | Callable[[float, str], None]
Scoring = str | Callable[..., float] | None
Seed = int | np.random.Generator | np.random.RandomState | None
Semivalues = Semivalue | tuple[Semivalue, Semivalue]
