"""Which list of pieces a run takes, by what its options ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d._methods.knn.bin_correction import left_for_sampling
from shapley2d._methods.knn.choices import choose_form
from shapley2d._methods.knn.pieces import FIRST_PER_COLUMN
from shapley2d._methods.knn.resume import ListName
from shapley2d._methods.knn.rule import Rule, even

if TYPE_CHECKING:
    from shapley2d._methods.knn.game import SplitGame
    from shapley2d._methods.knn.pieces import Pieces

LEAST_SUBSETS = 32
"""Subsets of the list that a run begins with, at least."""


def make_rule(game: SplitGame) -> Rule:
    """What the options of a game ask for."""
    options, m = game.options, game.n_columns
    return Rule(
        tolerance=left_for_sampling(game, options.tolerance),
        n_asked=options.n_subsets,
        n_columns=m,
        takes_all=options.takes_all_subsets(m),
        all_from=options.all_subsets_from(m),
        samples_rows=game.samples_rows,
    )


def first_list(rule: Rule) -> ListName:
    """The list of pieces that a run begins with."""
    if rule.takes_all:
        return ListName(2**rule.n_columns, 0)
    few = max(FIRST_PER_COLUMN * rule.n_columns, LEAST_SUBSETS)
    return ListName(even(rule.n_asked or min(few, rule.most)), 0)


def in_form_of(game: SplitGame, name: ListName) -> SplitGame:
    """The game in the form for a list of pieces: all subsets are more work than was expected."""
    game = game.in_rounds_of(name.round_rows)
    if name.form:
        return game.in_form(name.form)
    if name.n_subsets < 2**game.n_columns:
        return game
    on_gpu = game.device is not None
    return game.in_form(choose_form(game.problem, game.options.form, name.n_subsets, on_gpu=on_gpu))


def list_pieces(game: SplitGame, rule: Rule, name: ListName) -> Pieces:
    """The list of pieces of a name."""
    is_pilot = rule.n_asked is None and name.attempt == 0 and not name.round_rows
    return game.pieces(name.n_subsets, name.attempt, is_pilot=is_pilot)
