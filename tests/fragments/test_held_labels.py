"""Labels that everybody has, and labels that only some hold."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from test_values import by_boosting, by_estimator, close
from tiny_fragments import BruteForce, probability, tiny, value

from shapley2d.exceptions import InputError, InputWarning

FRAGMENTS, Y, VALID = tiny()


class Labelled(BruteForce):
    """The same game where a row trains only if somebody in the set holds its label."""

    def _trained(self, contributors, columns):
        every = self.y
        known = [self.fragments[name]["late"].dropna() for name in contributors if "late" in self.fragments[name]]  # fmt: skip
        if not known:
            return 0.0
        mine = pd.concat(known)
        kept, ids = self.fragments, mine.index.unique()
        self.fragments = {name: part.drop(columns="late", errors="ignore").loc[part.index.isin(ids)] for name, part in kept.items()}  # fmt: skip
        try:
            return super()._trained(contributors, columns)
        finally:
            self.fragments, self.y = kept, every

    @property
    def base(self):
        shares = self.y.value_counts(normalize=True)
        return float(np.mean([shares[label] for label in self.y_valid]))


def labelled(**holders):
    """The fragments with the labels of some rows in some of them."""
    return {
        name: part.assign(late=Y.reindex(part.index).where(part.index.isin(Y.index[holders[name]])))
        if name in holders
        else part
        for name, part in FRAGMENTS.items()
    }


@pytest.mark.parametrize(
    ("method", "predict"),
    [("boosting", by_boosting), ("tree", by_estimator(DecisionTreeClassifier(random_state=0)))],
)
@pytest.mark.parametrize("by", ["contributor", "column"])
def test_a_row_trains_where_somebody_in_the_set_holds_its_label(method, predict, by):
    parts = labelled(Bank=slice(0, 20), Shop=slice(10, None))
    with pytest.warns(InputWarning) if missing(parts) else no_warning():
        v = value(parts, "late", VALID, method=method, by=by)
    known = pd.concat([one["late"].dropna() for one in parts.values() if "late" in one])
    game = Labelled(parts, Y.loc[known.index.unique()], VALID, predict, probability)
    if by == "column":
        close(v.values, game.values())
    close(v.row_values, game.of_contributors())
    assert v._fragments.labels == ["Bank", "Shop"]
    assert "labels   held by Bank, Shop: a row trains only where a set holds its label" in repr(v)


def missing(parts):
    known = pd.concat([one["late"].dropna() for one in parts.values() if "late" in one]).index
    return bool({i for one in parts.values() for i in one.index} - set(known))


class no_warning:  # noqa: N801
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def test_who_holds_all_labels_has_a_share_of_everything():
    parts = {**FRAGMENTS, "Court": Y.to_frame()}
    v = value(parts, "late", VALID)
    alike = value(FRAGMENTS, Y, VALID)
    close(v.total, alike.total)
    assert not v.alone.any()
    assert v.without[3] == 0
    # with the labels as a player who is needed, each set without them is worth 0
    court = brute_with_court(alike)
    close(v.row_values[3], court)
    assert v._fragments.labels == ["Court"]


def brute_with_court(v):
    """The needed player's value: the mean worth of the others who came before it."""
    sets, scores = v._fragments.sets, v._fragments.set_scores
    by_size = [scores[sets.sum(axis=1) == size].mean() for size in (1, 2, 3)]
    return sum(by_size) / 4


def test_labels_apart_may_come_in_any_order_and_as_a_file(tmp_path):
    plain = value(FRAGMENTS, Y, VALID)
    Y[::-1].rename_axis("id").to_csv(tmp_path / "labels.csv")
    ids = {name: part.reset_index(names="id") for name, part in FRAGMENTS.items()}
    others = [
        value(FRAGMENTS, Y.sample(frac=1, random_state=0), VALID),
        value(ids, "late", VALID, labels=tmp_path / "labels.csv", on="id"),
        value(FRAGMENTS, "late", VALID, labels=Y.to_frame()),
        value(FRAGMENTS, Y.astype(str), VALID.assign(late=VALID["late"].astype(str))),
        value(FRAGMENTS, Y == 1, VALID.assign(late=VALID["late"] == 1)),
        value(FRAGMENTS, Y, VALID.drop(columns="late"), y_valid=VALID["late"]),
    ]
    for other in others:
        np.testing.assert_array_equal(other.values, plain.values)
        assert other._fragments.labels == []
    assert "labels   everybody's" in repr(plain)


def test_labels_apart_come_before_those_in_a_file():
    parts = {**FRAGMENTS, "Bank": FRAGMENTS["Bank"].assign(late=0)}
    with pytest.warns(
        InputWarning, match="labels are given apart, so the column 'late' of 'Bank' is not used"
    ):
        v = value(parts, Y, VALID)
    np.testing.assert_array_equal(v.values, value(FRAGMENTS, Y, VALID).values)


def test_contributors_who_disagree_about_a_label():
    parts = {**labelled(Bank=slice(None)), "Court": Y.to_frame()}
    parts["Court"].iloc[:2] = 1 - parts["Court"].iloc[:2]
    with pytest.raises(InputError, match=r"disagree about . cells?: 'late' of"):
        value(parts, "late", VALID)
    told = pytest.warns(InputWarning, match="2 rows of 30 have no label and are left out")
    with pytest.warns(InputWarning, match="no entry counts"), told:
        v = value(parts, "late", VALID, disagree="missing")
    assert v._fragments.n_rows < len(Y)


def test_labels_of_others_never_change_the_predictions_of_a_set():
    """A third class that only another contributor has seen leaves the score of the bank as it was.

    Boosted trees know all classes of the target: rare ones have a small share everywhere.
    """
    parts = {"Bank": FRAGMENTS["Bank"].assign(late=Y), "Shop": FRAGMENTS["Shop"].assign(late=Y)}
    outside = ~parts["Shop"].index.isin(parts["Bank"].index)
    valid = VALID.iloc[:10]
    for method in ("hist_gradient_boosting", "tree"):
        plain = value(parts, "late", valid, method=method)
        third = {
            **parts,
            "Shop": parts["Shop"].assign(late=parts["Shop"]["late"].where(~outside, 2)),
        }
        other = value(third, "late", valid, method=method)
        scores = [v.alone[0] + v._fragments.baseline for v in (plain, other)]
        assert scores[0] == pytest.approx(scores[1], abs=1e-14), method
