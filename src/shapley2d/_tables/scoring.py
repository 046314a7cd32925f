"""The name of a score, checked."""

from __future__ import annotations

from typing import Any

from shapley2d._base.words import nearest_word, shown
from shapley2d.exceptions import InputError

OWN_SCORES = (
    "probability",
    "log_loss_removed",
    "poisson_deviance_removed",
    "gamma_deviance_removed",
    "pinball_loss_removed",
)
"""Scores of some methods alone: the mean probability of the right label, and shares of a loss.

A share is that of the loss of the best constant which the predictions remove.
"""


def check_scoring(scoring: Any) -> None:
    """Check the name of a score; a scorer is left to scikit-learn."""
    if scoring is None or (callable(scoring) and not isinstance(scoring, type)):
        return
    if not isinstance(scoring, str):
        raise InputError(
            f"scoring={shown(scoring)} must be the name of one of scikit-learn's scores, or "
            "a scorer"
        )
    from sklearn.metrics import get_scorer_names

    known = [*get_scorer_names(), *OWN_SCORES]
    if scoring not in known:
        longer = (name for name in known if name.startswith(scoring))
        near = next(longer, None) or nearest_word(scoring, known)
        hint = f"did you mean {near!r}?" if near else "for instance 'accuracy', 'roc_auc', 'r2'"
        raise InputError(f"scoring={shown(scoring)} is not one of scikit-learn's scores: {hint}")
