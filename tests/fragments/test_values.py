"""Values of fragments against the definition by brute force, for every model that can judge."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pandas.api.types import is_numeric_dtype
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tiny_fragments import BruteForce, holding, pool, probability, r_squared, tiny, value

from shapley2d import MonteCarlo
from shapley2d._tables.convert import as_table
from shapley2d._tables.kinds import match_columns
from shapley2d._tables.target import as_target
from shapley2d._trees.boosting import Boosting
from shapley2d.exceptions import InputWarning

from oracles import brute_force


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def by_boosting(train, y, valid):
    table = as_table(train)
    seen = match_columns(as_table(valid, "X_valid", like=table), table)
    target = as_target(y.to_numpy(), table)
    if target.task == "classification":  # of all classes, whichever these rows have
        target = replace(target, codes=y.to_numpy(), classes=np.arange(y.attrs["n_classes"]))
    held = np.array([~np.isnan(column.entries) for column in table.columns])
    found = Boosting.coded(table, target, seen).predict(held)
    if target.task == "regression":
        return np.full(len(valid), y.mean()) if found is None else found[0]
    return None if found is None else found.T


def by_estimator(estimator):
    """A scikit-learn model on numbers, and a 0/1 column for each word that the training rows have."""

    def predict(train, y, valid):
        parts = []
        for name, column in train.items():
            if not is_numeric_dtype(column):
                words = sorted(column.dropna().unique())
                for part in (column, valid[name]):
                    hot = np.array([[float(w == word) for word in words] for w in part])
                    hot[part.isna().to_numpy()] = np.nan
                    parts.append(hot)
            else:
                parts += [column.to_numpy()[:, None], valid[name].to_numpy()[:, None]]
        fitted = estimator.fit(np.hstack(parts[::2]), y.to_numpy())
        at = np.hstack(parts[1::2])
        if not hasattr(fitted, "predict_proba"):
            return fitted.predict(at)
        found = np.zeros((len(valid), int(y.max()) + 1))
        found[:, fitted.classes_] = fitted.predict_proba(at)
        return found

    return predict


JUDGES = {
    "boosting": ("boosting", by_boosting),
    "tree": ("tree", by_estimator(DecisionTreeClassifier(random_state=0))),
}


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_both_axes_are_those_of_the_definition(judge, n_classes):
    method, predict = JUDGES[judge]
    tables = tiny(n_classes=n_classes)
    game = BruteForce(*tables, predict, probability)
    v = value(*tables, method=method, by="column")
    close(v.values, game.values())
    close(v.row_values, game.of_contributors())
    whole = value(*tables, method=method)
    close(whole.row_values, game.of_contributors())
    assert list(v.row_names) == ["Bank", "Shop", "Office"]
    assert v.column_names == sorted(game.columns)
    assert whole.column_names == ["all columns"]
    everybody = game.h(game.names, game.columns)
    close([v.total, whole.total], everybody)
    close(v._fragments.baseline, game.base)
    close(v.alone, [game.h([name], game.columns) for name in game.names])
    close(
        v.without,
        [game.h([one for one in game.names if one != name], game.columns) for name in game.names],
    )
    for kept, score in zip(v._fragments.sets, v._fragments.set_scores, strict=True):
        names = [name for name, inside in zip(game.names, kept, strict=True) if inside]
        close(score, game.h(names, game.columns))
    assert len(v._fragments.sets) == 7


@pytest.mark.parametrize(
    ("method", "predict"),
    [
        ("boosting", by_boosting),
        (
            DecisionTreeRegressor(random_state=0),
            by_estimator(DecisionTreeRegressor(random_state=0)),
        ),
    ],
    ids=["boosting", "tree"],
)
def test_numbers_are_predicted_too(method, predict):
    tables = tiny(task="regression")
    game = BruteForce(*tables, predict, r_squared)
    v = value(*tables, method=method, by="column")
    close(v.values, game.values())
    close(v._fragments.baseline, game.base)
    assert v._fragments.score == "r2"


@pytest.mark.parametrize("semivalue", ["banzhaf", ("beta", 2, 1), ("shapley", "banzhaf")])
def test_other_semivalues(semivalue):
    tables = tiny()
    game = BruteForce(*tables, by_boosting, probability)
    v = value(*tables, semivalue=semivalue, by="column")
    axes = semivalue if semivalue[1] == "banzhaf" else (semivalue, semivalue)
    close(v.values, game.values(*axes))
    close(value(*tables, semivalue=semivalue).row_values, game.of_contributors(axes[0]))


SCORES = {
    "accuracy": lambda y, p: accuracy_score(y, p.argmax(axis=1)),
    "roc_auc": lambda y, p: roc_auc_score(y, p[:, 1]),
    "neg_log_loss": lambda y, p: -log_loss(y, p, labels=[0, 1]),
    "r2": r2_score,
}


@pytest.mark.parametrize("scoring", SCORES)
def test_every_score_is_that_of_scikit_learn(scoring):
    tables = tiny(n_valid=40, task="regression" if scoring == "r2" else "classification")
    game = BruteForce(*tables, by_boosting, SCORES[scoring])
    v = value(*tables, scoring=scoring)
    close(v.row_values, game.of_contributors())
    close(v._fragments.baseline, game.base)


def test_weights_of_validation_rows_count_as_copies():
    fragments, y, valid = tiny()
    times = np.arange(len(valid)) % 3
    copies = valid.iloc[np.repeat(np.arange(len(valid)), times)]
    weighed = value(fragments, y, valid.assign(w=times), valid_weight="w")
    close(weighed.values, value(fragments, y, valid, valid_weight=times).values)
    seen = valid.iloc[times > 0]  # bins come from the rows, not from their weights
    game = BruteForce(fragments, y, valid, lambda a, b, _: by_boosting(a, b, valid[list(a)]), None)
    game.score = lambda y, p: np.average(p[np.arange(len(y)), y], weights=times)
    close(weighed.row_values, game.of_contributors())
    assert len(copies) > len(seen)


def test_cross_valuation_is_the_mean_of_the_folds():
    table, y = pool(60)
    masks = {name: np.zeros(table.shape, dtype=bool) for name in ("Bank", "Shop")}
    masks["Bank"][:40, :2] = masks["Shop"][20:, 1:] = True
    fragments = holding(table, masks)
    rows = np.argsort(table.index.astype(str))  # folds are of the rows sorted by id
    folds = [(rows[k::2], rows[1 - k :: 2]) for k in (0, 1)]
    places = [(np.arange(60)[k::2], np.arange(60)[1 - k :: 2]) for k in (0, 1)]
    with pytest.warns(InputWarning, match="there is no validation table, so the contributors' own"):
        v = value(fragments, y, None, cv=places)
    union = table.where(masks["Bank"] | masks["Shop"])
    found = []
    for train, held in folds:
        parts = {name: one[one.index.isin(table.index[train])] for name, one in fragments.items()}
        valid = union.iloc[held].assign(late=y.iloc[held])
        found.append(BruteForce(parts, y, valid, by_boosting, probability).of_contributors())
    close(v.row_values, np.mean(found, axis=0))
    assert v._fragments.crossed
    assert v._fragments.n_valid == 60


def test_who_holds_nothing_gets_exactly_nothing():
    fragments, y, valid = tiny()
    nowhere = pd.DataFrame({"age": [np.nan, 2.0], "town": [None, "Bonn"]}, index=[y.index[0], 902])
    ghost = pd.DataFrame(np.nan, index=y.index, columns=["age", "debt"])
    more = {**fragments, "Ghost": ghost, "Nobody's rows": nowhere}
    for method in ("boosting", MonteCarlo("tree", max_draws=40)):
        for by in ("contributor", "column"):
            with pytest.warns(InputWarning, match="1 row of 3. has no label and is left out"):
                v = value(more, y, valid, method=method, by=by)
            assert not v.values[3:].any()
            assert not v.stderr[3:].any()
            assert not v.row_stderr[3:].any()
            assert not v.alone[3:].any()
            np.testing.assert_array_equal(v.without[3:], v.without[3])
            alike = value(fragments, y, valid, method=method, by=by)
            np.testing.assert_array_equal(v.values[:3], alike.values)
            close(v.without[3], v.total)


def test_copies_are_worth_the_same_and_add_nothing():
    fragments, y, valid = tiny()
    v = value({**fragments, "Copy": fragments["Bank"].iloc[::-1]}, y, valid, by="column")
    close(v.values[0], v.values[3])
    close(v.total, value(fragments, y, valid).total)
    close(v._fragments.set_scores[[0, 7]], v._fragments.set_scores[0])


def test_sets_of_rows_are_worth_what_the_paper_s_blocks_are():
    table, y = pool(60)
    train, valid = table[:40], table[40:].assign(late=y[40:])
    parts = {f"part {k}": train.iloc[k::3] for k in range(3)}
    v = value(parts, y[:40], valid, method="tree", by="column")
    game = BruteForce(parts, y, valid, JUDGES["tree"][1], probability)
    close(v.values, game.values())
    zero = brute_force(  # the paper's own: no baseline
        lambda S, F: game._of_places(S, F) + (game.base if S and F else 0.0), 3, 3
    )
    close(v.values, zero - game.base / 9)


def test_sets_of_columns_are_whole_columns():
    table, y = pool(60)
    train, valid = table[:40], table[40:].assign(late=y[40:])
    v = value({name: train[[name]] for name in train}, y[:40], valid, by="column")
    game = BruteForce({name: train[[name]] for name in train}, y, valid, by_boosting, probability)
    close(v.values, game.values())
    assert v.row_values.sum() == pytest.approx(v.column_values.sum(), abs=1e-12)


def test_one_table_and_who_owns_what():
    fragments, y, valid = tiny()
    v = value(fragments, y, valid, by="column")
    table = pd.DataFrame(index=y.index, columns=["age", "debt", "town"], dtype=object)
    claims = []
    for name, part in fragments.items():
        for column in part:
            held = part[column].dropna()
            table.loc[held.index, column] = held
            claims.append((name, ";".join(map(str, held.index)), column))
    table = table.infer_objects()
    claimed = pd.DataFrame(claims, columns=["owner", "row", "column"])
    found = value(table, y, valid, owners=claimed, by="column")
    order = [list(found.row_names).index(name) for name in v.row_names]
    close(found.values[order], v.values)
    names = np.full(table.shape, None)
    names[:, 0], names[::2, 1], names[1::2, 1] = "Bank", "Bank", "Shop"
    shared = value(table, y, valid, owners=names)
    parts = holding(table, {one: names == one for one in ("Bank", "Shop")})
    close(shared.values, value(parts, y, valid).values)


def test_columns_of_an_assembled_table_may_have_the_names_of_claims():
    fragments, y, valid = tiny()
    table = fragments["Bank"].loc[:, ["age", "debt"]]
    y, names = y.loc[table.index], np.full(table.shape, "Bank", dtype=object)
    names[:, 1] = "Shop"
    found = value(table, y, valid, owners=names).values
    renamed = {"age": "column", "debt": "row"}
    table, valid = table.rename(columns=renamed), valid.rename(columns=renamed)
    owners = pd.DataFrame(names, columns=table.columns, index=table.index)
    close(value(table, y, valid, owners=owners).values, found)
