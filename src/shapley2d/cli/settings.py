"""From the options of the command line to those of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d.cli.choices import BlockMethod, Method, ModelName
from shapley2d.cli.errors import OPTIONS
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shapley2d.cli.reading.inputs import Inputs

_TRAINING = (Method.MC, Method.EXACT, Method.LOO, Method.FLAT)
_SAMPLING = (Method.MC, Method.FLAT)
CELL_OPTIONS: dict[str, tuple[str, ...]] = {
    "n_neighbors": (Method.KNN,),
    "metric": (Method.KNN,),
    "columns": (Method.KNN,),
    "n_coalitions": (Method.KNN,),
    "tolerance": (Method.KNN, *_SAMPLING),
    "model": _TRAINING,
    "scoring": _TRAINING,
    "max_permutations": _SAMPLING,
    "checkpoint": _SAMPLING,
    "n_trees": (Method.OOB,),
    "column_share": (Method.OOB,),
    "oob_score": (Method.OOB,),
}
"""Which methods of ``cells`` take an option."""

_BLOCK_TRAINING = (BlockMethod.AUTO, BlockMethod.MC, BlockMethod.EXACT, BlockMethod.LOO)
_BLOCK_SAMPLING = (BlockMethod.AUTO, BlockMethod.MC, BlockMethod.KNN)
BLOCK_OPTIONS: dict[str, tuple[str, ...]] = {
    "n_neighbors": (BlockMethod.KNN,),
    "metric": (BlockMethod.KNN,),
    "tolerance": _BLOCK_SAMPLING,
    "max_permutations": _BLOCK_SAMPLING,
    "checkpoint": _BLOCK_SAMPLING,
    "model": _BLOCK_TRAINING,
    "scoring": _BLOCK_TRAINING,
}
"""Which methods of ``blocks`` take an option."""


def method_options(
    method: str, given: dict[str, Any], taken_by: Mapping[str, tuple[str, ...]], task: str, inputs: Inputs
) -> dict[str, Any]:
    """The options of a method, as the library takes them.

    Parameters
    ----------
    method : str
    given : dict
        Options by the library's names; None where the user gave none.
    taken_by : mapping
        The methods that take each option.
    task : str
    inputs : Inputs
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if method not in taken_by[name] and not (
            name == "n_neighbors" and chosen.get("model") == ModelName.KNN
        ):
            raise InputError(
                f"{OPTIONS[name]} goes with --method {' or '.join(taken_by[name])}, not with {method}: set --method "
                f"{taken_by[name][0]} or leave {OPTIONS[name]} out"
            )
    if "scoring" in chosen:
        _check_scoring(chosen["scoring"])
    if (
        method == Method.FLAT
        and "scoring" not in chosen
        and chosen.get("model", ModelName.TREE) == ModelName.TREE
    ):
        chosen["model"] = "tree"  # the built-in one, many times as fast; it has no other score
    elif "model" in chosen:
        chosen["model"] = _model(chosen["model"], task, inputs, chosen.pop("n_neighbors", 10))
    words = ("metric", "columns", "oob_score")
    return {name: str(value) if name in words else value for name, value in chosen.items()}


def _model(name: ModelName, task: str, inputs: Inputs, n_neighbors: int) -> Any:
    from shapley2d._tables.target import guess_task
    from shapley2d.cli.models import make_model

    return make_model(name, guess_task(inputs.y) if task == "auto" else task, n_neighbors)


def _check_scoring(name: str) -> None:
    import difflib

    from sklearn.metrics import get_scorer_names

    known = get_scorer_names()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}?" if near else "for instance accuracy, roc_auc, neg_log_loss, r2"
        raise InputError(f"--scoring {name} is not one of scikit-learn's scores: {hint}")


def parse_semivalue(text: str) -> Any:
    """The semivalue behind a word.

    Examples
    --------
    >>> parse_semivalue("beta:16,1")
    ('beta', 16.0, 1.0)
    """
    name, _, numbers = text.partition(":")
    if name in ("shapley", "banzhaf") and not numbers:
        return name
    try:
        a, b = (float(number) for number in numbers.split(","))
    except ValueError:
        a = b = 0.0
    if name != "beta" or min(a, b) <= 0:
        raise InputError(
            f"--semivalue {text} is not known: use shapley, banzhaf, or beta:A,B such as beta:16,1"
        )
    return ("beta", a, b)
