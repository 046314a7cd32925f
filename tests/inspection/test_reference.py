"""New rows against a trusted table: what is learned is the table's, what is judged are the rows."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shapley2d import CellInspector, InputError, Inspection, inspect_cells
from shapley2d._base.sealed_file import seal
from shapley2d._inspection.novelty import _by_chance, _farthest_apart, wrong_if_new


def orders(n, seed, first=1):
    """Orders of a month: a key, dates, categories, numbers that follow from one another, units."""
    rng = np.random.default_rng(seed)
    price = rng.choice([9.5, 20.0, 49.0, 99.0], n)
    frame = pd.DataFrame(
        {
            "id": [f"A{k:05d}" for k in range(first, first + n)],
            "day": [f"2025-02-{day:02d}" for day in rng.integers(1, 29, n)],
            "region": rng.choice(["North", "South", "East"], n, p=[0.5, 0.3, 0.2]),
            "price": price,
            "product": pd.Series(price).map(
                {9.5: "cable", 20.0: "lamp", 49.0: "desk", 99.0: "sofa"}
            ),
            "age": rng.integers(18, 90, n),
        }
    )
    return frame.assign(taxed=(1.19 * price + rng.normal(0, 0.2, n)).round(2))


TRUSTED = orders(1200, 0)
NEW = orders(40, 1, 5000).astype(object)
WRONG = {
    (2, "id"): "A00007",
    (4, "day"): "1925-02-03",
    (6, "region"): "West",
    (8, "age"): "old",
    (10, "age"): 430,
    (12, "product"): None,
    (14, "id"): "B-5014",
}
for (row, name), entry in WRONG.items():
    NEW.loc[row, name] = entry


@pytest.fixture(scope="module")
def trusted():
    return inspect_cells(TRUSTED, progress=False)


@pytest.fixture(scope="module")
def found(trusted):
    return inspect_cells(NEW, reference=trusted, progress=False)


def kinds(inspection, name=None):
    return {one.kind for one in inspection.findings if name in (None, one.columns[0])}


def test_every_kind_of_error_stands_out_and_is_named(found):
    assert found.shape == NEW.shape
    wrong = {(i, found.column_names[j]) for i, j in np.argwhere(found._cells.standing_out)}
    assert wrong == set(WRONG)
    assert {"known key", "formats"} <= kinds(found, "id")
    assert {"new range"} <= kinds(found, "day") & kinds(found, "age")
    assert "another type" in kinds(found, "age")
    assert "new category" in kinds(found, "region")
    assert kinds(found, "product") == {"rule"}  # it tells the empty one, which is not told again
    assert found.info["reference"]["rows"] == len(TRUSTED)
    of_ages = [one.text for one in found.findings if "'430'" in one.text]
    assert len(of_ages) == 1  # not once more as a number far outside
    assert "outside the reference's range, 18 to 89" in of_ages[0]
    texts = " ".join(one.text for one in found.findings)
    assert (
        "1 of 40 entries of 'region' (2.5 %) is none of the reference's 3 categories: 'West'"
        in texts
    )
    assert "1 of 40 entries of 'age' (2.5 %) is not a number: 'old'" in texts


def test_clean_rows_are_silent_also_a_month_later(trusted):
    later = orders(400, 2, 9000).assign(day="2025-03-05")
    found = inspect_cells(later, reference=trusted, progress=False)
    assert not found._cells.standing_out.any()
    assert not found.findings


def test_keys_and_dates_go_on_and_units_are_converted(tmp_path):
    known = TRUSTED.assign(id=range(1000, 2200), weight=[f"{1 + k % 30}.5 kg" for k in range(1200)])
    grams = [f"{1 + k % 30}500 g" for k in range(40)]
    new = orders(40, 1).assign(id=range(90_000, 90_040), day="2025-03-31", weight=grams)
    new.loc[3, "id"] = 1500
    known = inspect_cells(known, progress=False)
    found = inspect_cells(new, reference=known, progress=False)
    out = found._cells.standing_out
    assert out[:, -1].all() and np.argwhere(out[:, :-1]).tolist() == [[3, 0]]
    assert kinds(found, "id") == {"known key"} and kinds(found, "weight") == {"suffix"}
    expected = found._cells.expected_texts(7)
    assert expected == [f"{1 + k % 30}.5 kg" for k in range(40)]
    of_weight = [k for k, one in enumerate(found.findings) if one.kind == "suffix"]
    assert found.repair(new, findings=of_weight)[0]["weight"].tolist() == expected
    known.save(tmp_path / "known.parquet")
    loaded = inspect_cells(new, reference=str(tmp_path / "known.parquet"), progress=False)
    np.testing.assert_array_equal(loaded.probability, found.probability)
    assert loaded._cells.expected_texts(7) == expected


def test_time_explains_dates_and_nothing_explains_a_whole_column(trusted):
    new = orders(40, 3, 6000).assign(day="2025-03-20")
    for some in (new, new[:1]):  # three weeks later, far outside all others
        assert not inspect_cells(some, reference=trusted, progress=False)._cells.standing_out.any()
    days = [1 + k % 31 for k in range(40)]
    german = new.assign(day=[f"{day:02d}.03.2025" for day in days])
    found = inspect_cells(german, reference=trusted, progress=False)
    assert found._cells.expected_texts(1) == [f"2025-03-{day:02d}" for day in days]
    cents = new.assign(taxed=(100 * new["taxed"]).round())
    found = inspect_cells(cents, reference=trusted, progress=False)
    assert found._cells.standing_out[:, 6].all()
    (only,) = found.findings
    assert only.text.endswith("has the unit changed?")


def test_each_row_is_judged_by_the_table_alone(trusted, found):
    for rows in ([4], [10, 3], range(20, 30)):
        some = NEW.iloc[list(rows)]
        alone = inspect_cells(some, reference=trusted, progress=False)
        np.testing.assert_array_equal(alone.scores, found.scores[list(rows)])
    one = inspect_cells(NEW.iloc[[10]], reference=trusted, progress=False)
    assert one.probability[0, 5] > 0.5
    assert one._cells.expected_text(0, 6) == found._cells.expected_text(10, 6)


def test_the_order_of_rows_and_columns_changes_nothing(trusted, found):
    rows, columns = np.random.default_rng(0).permutation(40), [6, 2, 0, 1, 5, 4, 3]
    turned = inspect_cells(NEW.iloc[rows, columns], reference=trusted, progress=False)
    np.testing.assert_array_equal(turned.probability, found.probability[rows][:, columns])
    assert "column order" in kinds(turned)
    shuffled = inspect_cells(
        NEW, reference=TRUSTED.iloc[np.random.default_rng(1).permutation(1200)], progress=False
    )
    np.testing.assert_array_equal(shuffled.probability, found.probability)


def test_columns_that_are_missing_or_new(trusted, found):
    other = NEW.drop(columns="taxed").assign(extra=range(40))
    changed = inspect_cells(other, reference=trusted, progress=False)
    assert {"missing column", "new column"} <= kinds(changed)
    assert changed.column_names == list(other.columns)
    assert not changed.probability[:, -1].any()
    assert (changed.expected["extra"] == other["extra"]).all()
    assert changed.probability[6, 2] == found.probability[6, 2]


def test_distributions_that_move_are_told_with_the_share_of_rows(trusted):
    rng = np.random.default_rng(3)
    moved = orders(200, 4, 7000).assign(age=rng.integers(60, 90, 200), region="North")
    found = inspect_cells(moved, reference=trusted, progress=False)
    texts = {one.columns[0]: one.text for one in found.findings if one.kind == "moved"}
    assert set(texts) == {"age", "region"}
    share = float(texts["age"].split("at least ")[1].split(" %")[0]) / 100
    below = (TRUSTED["age"] < 60).mean()
    assert share == pytest.approx(below, abs=0.06)
    assert "'North' is 100 % of them" in texts["region"]


def test_chances_of_a_move_are_those_of_scipy():
    from scipy.stats import chi2_contingency, ks_2samp, kstwobign

    rng = np.random.default_rng(0)
    counts = rng.integers(20, 60, (2, 5))
    assert _by_chance(counts) == pytest.approx(chi2_contingency(counts)[1])
    known, new = rng.normal(size=500).round(1), rng.normal(0.2, size=300).round(1)
    apart, chance = _farthest_apart(known, new)
    assert apart == pytest.approx(ks_2samp(known, new).statistic)
    assert chance == pytest.approx(kstwobign.sf(apart * np.sqrt(500 * 300 / 800)))


def test_what_the_trusted_table_has_itself_is_not_told(trusted):
    assert wrong_if_new(1000, 0) > 0.75
    assert wrong_if_new(1000, 200) < 0.01
    names = pd.DataFrame(
        {"name": [f"person {k} {k * k % 97}" for k in range(600)], "n": np.arange(600) % 7}
    )
    known = inspect_cells(names[:500], progress=False)
    found = inspect_cells(names[500:], reference=known, progress=False)
    assert "new category" not in kinds(found)
    assert not found._cells.standing_out.any()


def test_labels_are_judged_by_those_of_the_reference():
    y = np.where(TRUSTED["price"] > 30, "much", "little")
    known = inspect_cells(TRUSTED.assign(spent=y), "spent", progress=False)
    new = orders(30, 5, 5000)
    new["spent"] = np.where(new["price"] > 30, "much", "little")
    new.loc[3, "spent"] = "little" if new.loc[3, "spent"] == "much" else "much"
    new.loc[5, "spent"] = "most"
    by_name = inspect_cells(new, reference=known, progress=False)  # the column of the same name
    assert by_name.label_name == "spent"
    assert set(np.argsort(-by_name.label_probability)[:2]) == {3, 5}
    given = inspect_cells(new.drop(columns="spent"), new["spent"], reference=known, progress=False)
    np.testing.assert_array_equal(given.label_probability, by_name.label_probability)
    without = inspect_cells(new.drop(columns="spent"), reference=known, progress=False)
    assert without.label_name is None
    assert without.shape == (30, 7)
    told = "y is not the reference's label, which is 'spent': give none"
    with pytest.raises(InputError, match=told):
        inspect_cells(new, "region", reference=known, progress=False)
    with pytest.raises(InputError, match="inspected without labels: leave it out"):
        inspect_cells(NEW, "age", reference=inspect_cells(TRUSTED[:50], progress=False))
    with pytest.raises(InputError, match="reference is a table, whose labels are not known"):
        inspect_cells(NEW, np.arange(40), reference=TRUSTED, progress=False)


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas])
def test_any_kind_of_frame(make, trusted, found):
    new = NEW.assign(price=NEW["price"].astype(float), taxed=NEW["taxed"].astype(float))
    new["age"] = new["age"].astype(str)
    judged = inspect_cells(make(new), reference=trusted, progress=False)
    np.testing.assert_array_equal(judged.probability, found.probability)


def test_arrays_go_by_position_and_wrong_ones_are_refused():
    X = TRUSTED[["price", "age", "taxed"]].to_numpy()
    known = CellInspector(replacement="missing").fit(X)
    assert np.isnan(known.transform([[20.0, 430.0, 23.8]])).tolist() == [[False, True, False]]
    assert known.transform(X[:5]).tolist() == X[:5].tolist()
    with pytest.raises(InputError, match="has 2 columns without names, but the reference has 3"):
        known.inspect(X[:, :2])
    with pytest.raises(InputError, match="X has no column of the reference"):
        known.inspect({"other": [1]})
    with pytest.raises(InputError, match="reference is empty"):
        inspect_cells(X, reference=X[:0])


def test_another_process_gives_the_same_bits(tmp_path, trusted, found):
    path, new, table = tmp_path / "known.parquet", tmp_path / "new.csv", tmp_path / "known.csv"
    TRUSTED.to_csv(table, index=False)
    NEW.to_csv(new, index=False)
    inspector = CellInspector(probability=0.7, replacement="missing", n_jobs=2).fit(
        pd.read_csv(table)
    )
    inspector.save(path)
    here = inspector.inspect(str(new))
    code = (
        "import sys; from shapley2d import CellInspector\n"
        "found = CellInspector.load(sys.argv[1]).inspect(sys.argv[2])\n"
        "print(found.probability.tobytes().hex(), found.scores.tobytes().hex())\n"
        "print([one.text for one in found.findings])"
    )
    run = subprocess.run([sys.executable, "-c", code, path, new], capture_output=True, text=True, check=True)  # fmt: skip
    hexes, texts = run.stdout.splitlines()
    assert hexes == f"{here.probability.tobytes().hex()} {here.scores.tobytes().hex()}"
    assert texts == str([one.text for one in here.findings])
    loaded = CellInspector.load(path)
    assert (loaded.probability, loaded.replacement) == (0.7, "missing")
    frame = pd.read_csv(new)
    pd.testing.assert_frame_equal(loaded.transform(frame), inspector.transform(frame))
    by_path = inspect_cells(str(new), reference=str(path), progress=False)
    np.testing.assert_array_equal(by_path.probability, here.probability)
    np.testing.assert_array_equal(inspect_cells(str(new), reference=Inspection.load(path), progress=False).scores, here.scores)  # fmt: skip


def test_damaged_and_forged_files_are_refused(tmp_path, trusted):
    path = tmp_path / "known.parquet"
    CellInspector().fit(TRUSTED[:60]).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:900] + bytes([whole[900] ^ 1]) + whole[901:])
    with pytest.raises(InputError, match="damaged"):
        CellInspector.load(path)
    path.write_bytes(whole)
    table, key = pq.read_table(path), b"shapley2d.inspection"
    record = json.loads(table.schema.metadata[key])

    def forged(changed, columns=table):
        text = json.dumps(record | changed).encode()
        pq.write_table(columns.replace_schema_metadata({key: text}), path)
        seal(path)
        return path

    info = record["info"]
    with pytest.raises(InputError, match="its parameters do not fit"):
        CellInspector.load(forged({"info": info | {"inspector": {"probability": "much"}}}))
    with pytest.raises(InputError, match="its parameters do not fit"):
        CellInspector.load(forged({"info": info | {"inspector": {"replacement": "rm"}}}))
    for facts in ({}, {"trees": -4}, {"trees": 10**9, "columns_not_predicted": 3}):
        forging = forged({"facts": facts})
        with pytest.raises(InputError, match="does not say how its trees were grown"):
            inspect_cells(NEW, reference=str(forging), progress=False)
    with pytest.raises(InputError, match="damaged"):
        CellInspector.load(forged({}, table.drop_columns("held")))
    with pytest.raises(InputError, match="damaged"):
        CellInspector.load(forged({"written": ["no"] * 7}))


def test_findings_become_checks_of_pandera(trusted, found):
    pandera = pytest.importorskip("pandera")
    schema = found.to_pandera()
    clean = NEW.drop(index=[row for row, _ in WRONG])
    schema.validate(clean)
    with pytest.raises(pandera.errors.SchemaErrors) as refused:
        schema.validate(NEW, lazy=True)
    cases = refused.value.failure_cases
    failed = set(zip(cases["index"], cases["column"], strict=True))
    named = {(int(i), one.columns[0]) for one in found.findings for i in one.rows[one.row_chances >= 0.5]}  # fmt: skip
    assert len(named & failed) >= 0.8 * len(named)
    with pytest.raises(InputError, match="must be positions of the"):
        found.to_pandera([99])
