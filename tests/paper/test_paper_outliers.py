"""Planted outliers, their budget, and pairs of rows of the same value: that the figures are what they say."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from shapley2d import value_cells
from shapley2d_paper import budget, interpretation
from shapley2d_paper.data.splits import split_table
from shapley2d_paper.harness.experiment import Unavailable
from shapley2d_paper.harness.records import Records, read_records, write_records
from shapley2d_paper.outliers import experiment as outliers
from shapley2d_paper.outliers import work as outliers_work


@pytest.fixture
def read_back(tmp_path):
    """Lines as they come back from a CSV file."""

    def back(lines, seed=0):
        path = tmp_path / "lines.csv"
        write_records(Records([{**line, "seed": line.get("seed", seed)} for line in lines]), path)
        return read_records(path)

    return back


@pytest.mark.parametrize("module", [outliers, budget, interpretation])
@pytest.mark.parametrize("quick", [True, False])
def test_pieces_have_names_of_their_own_and_settings_that_json_can_hold(module, quick):
    pieces = module.EXPERIMENT.pieces(quick)
    assert len({piece.name for piece in pieces}) == len(pieces)
    for piece in pieces:
        assert re.fullmatch(r"[A-Za-z0-9_.-]+", piece.name)
        assert json.loads(json.dumps(piece.settings)) == piece.settings
        assert isinstance(piece.settings["seed"], int)
    assert len(module.EXPERIMENT.pieces(quick=True)) < len(module.EXPERIMENT.pieces(quick=False))


@pytest.mark.parametrize("module", [outliers, budget, interpretation])
def test_the_text_names_the_rows_that_our_splits_validate_on(module):
    parts = split_table("breast_cancer", 0)
    assert f"on {len(parts.y_valid)} rows" in module.EXPERIMENT.about
    assert len(parts.y_valid) == (len(parts.y_valid) + len(parts.y_test)) // 2


@pytest.mark.parametrize("kind", ["unlikely", "low-density"])
def test_the_planted_cells_are_those_that_differ_and_as_many_as_asked_for(kind):
    planted = outliers_work.planted_table(kind, 3, 0.02)
    assert planted.clean.shape == (241, 9)
    assert planted.cells.sum() == round(0.02 * planted.clean.size) == 43
    np.testing.assert_array_equal(planted.task.numbers != planted.clean, planted.cells)
    again, other = (outliers_work.planted_table(kind, seed, 0.02) for seed in (3, 4))
    np.testing.assert_array_equal(again.task.numbers, planted.task.numbers)
    assert (other.cells != planted.cells).any()
    assert 100 < planted.benign.sum() < 141
    # gradings of benign patients are low
    assert planted.clean[planted.benign].mean() < planted.clean[~planted.benign].mean()


def test_a_perfect_ranking_finds_everything_at_once_and_ties_are_in_random_order():
    planted = outliers_work.planted_table("unlikely", 0, 0.02)
    mark = {"table": "unlikely", "method": "z-score"}
    best, _ = outliers_work.score_lines(planted.cells.astype(float), planted, mark)
    assert best["auroc"] == best["average_precision"] == best["found_2"] == 1
    assert best["first_all"] == pytest.approx(43 / 2169)
    blind, _ = outliers_work.score_lines(np.zeros(planted.cells.shape), planted, mark)
    assert blind["auroc"] == 0.5
    assert blind["found_5"] == pytest.approx(int(0.05 * 2169) / 2169)
    assert blind["first_90"] == pytest.approx(0.9, abs=1e-3) and blind["first_all"] == 1


def test_scores_of_all_rows_and_of_benign_rows_agree_with_sorting():
    planted = outliers_work.planted_table("unlikely", 1, 0.02)
    suspicion = np.random.default_rng(0).normal(size=planted.cells.shape) + planted.cells
    lines = outliers_work.score_lines(suspicion, planted, {})
    for line, rows in zip(lines, (np.ones(241, dtype=bool), planted.benign), strict=True):
        truth = planted.cells[rows].ravel()[np.argsort(-suspicion[rows].ravel())]
        assert (line["cells"], line["planted"]) == (truth.size, truth.sum())
        for share in outliers_work.SHARES:
            assert line[outliers_work.found_column(share)] == pytest.approx(
                truth[: int(share * truth.size + 1e-9)].sum() / truth.sum()
            )
        places = np.flatnonzero(truth) + 1
        assert line["first_all"] == pytest.approx(places[-1] / truth.size)
        assert line["first_90"] == pytest.approx(
            places[int(np.ceil(0.9 * places.size - 1e-9)) - 1] / truth.size
        )


def test_ranges_and_places_of_planted_cells():
    planted = outliers_work.planted_table("unlikely", 0, 0.02)
    planted = replace(planted, cells=np.zeros_like(planted.cells))
    planted.cells[0, 0] = True
    values = np.arange(241.0 * 9).reshape(241, 9)
    clean = values[::-1, ::-1]
    line = outliers_work.range_lines(clean, 2 * values, planted, {})[0]
    assert (line["lowest_before"], line["lowest_after"]) == (0, 0)
    assert (line["highest_before"], line["highest_after"]) == (2168, 4336)
    assert line["place_after"] == pytest.approx(0.5 / 2169) and line["place_before"] == pytest.approx(
        2168.5 / 2169
    )


def test_rarity_counts_rows_that_have_a_planted_value():
    planted = outliers_work.planted_table("low-density", 2, 0.02)
    rare = {"all": 0, "class": 0}
    for i, j in np.argwhere(planted.cells):
        same = planted.clean[:, j] == planted.task.numbers[i, j]
        rare["all"] += same.mean() < 0.05
        rare["class"] += same[planted.task.labels == planted.task.labels[i]].mean() < 0.05
    shares = outliers_work.rarity(planted)
    assert shares["rare_of_all"] == 1.0 == rare["all"] / 43
    assert shares["rare_of_class"] == pytest.approx(rare["class"] / 43)


def test_the_authors_table_gives_the_known_figures(paper_data, read_back):
    methods = [outliers.RAW, "2D-OOB", "2D-OOB distance", "z-score", "published"]
    lines = outliers.work(seed=0, table="authors", methods=methods, share=0.02, permutations=0)
    records = read_back(lines)
    scores = records.where(what="score", rows="all rows")
    known = {outliers.RAW: 0.906, "published": 0.854, "z-score": 0.980}
    for method, figure in known.items():
        assert scores.where(method=method).mean("auroc") == pytest.approx(figure, abs=6e-4)
    assert scores.where(method="2D-OOB").mean("auroc") == pytest.approx(0.92, abs=0.015)
    assert scores.where(method="2D-OOB distance").mean("auroc") == pytest.approx(0.965, abs=0.015)
    values = records.where(what="value")
    assert len(values) == 122 * 9 and values.numbers("mark")[~np.isnan(values.numbers("mark"))].sum() == 20
    assert records.where(what="rarity").mean("rare_of_all") < records.where(what="rarity").mean(
        "rare_of_class"
    )
    figure = outliers.EXPERIMENT.draw(records)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert sum("rows" in title for title in titles) == 7  # six panels of curves, and the first heatmap
    assert len(figure.axes) == 6 + 3 + 2  # curves, heatmaps of which 1D's is empty, colour bars
    claim = outliers.judge_early(records)
    assert claim.verdict == "holds in part" and "95%" in claim.ours
    # a table of its own has no seeds, hence no standard error
    assert "±" not in claim.ours and "90%: none." in claim.why
    areas = (scores.where(method=method).mean("auroc") for method in ("2D-OOB", "2D-OOB distance"))
    assert "{:.3f}, with its distance term {:.3f}.".format(*areas) in outliers.EXPERIMENT.headline(records)


def test_a_machine_without_the_authors_table_leaves_it_out(monkeypatch):
    monkeypatch.delenv("SHAPLEY2D_DATA", raising=False)
    with pytest.raises(Unavailable, match="SHAPLEY2D_DATA"):
        outliers.work(seed=0, table="authors", methods=["random"], share=0.02, permutations=0)
    with pytest.raises(Unavailable, match="SHAPLEY2D_DATA"):
        interpretation.work(seed=0, table="authors", within=0.01)


def test_without_the_published_values_only_their_piece_is_left_out(paper_data, monkeypatch, tmp_path):
    split = "breast_cancer_paper_split.npz"
    (tmp_path / split).write_bytes((paper_data / split).read_bytes())
    monkeypatch.setenv("SHAPLEY2D_DATA", str(tmp_path))
    pieces = {piece.name: piece.settings for piece in outliers.EXPERIMENT.pieces(quick=False)}
    with pytest.raises(Unavailable, match="breast_2d_values_paper"):
        outliers.work(**pieces["authors-0-published"])
    others = pieces["authors-0-others"]
    assert others["methods"] == pieces["unlikely-0-others"]["methods"]
    lines = outliers.work(**{**others, "methods": ["random"]})
    assert {line["method"] for line in lines} == {"random"}


def test_planted_tables_are_ranked_by_value_and_drawn(read_back):
    lines = outliers.work(
        seed=0, table="unlikely", methods=["random", outliers.RAW, "z-score"], share=0.02, permutations=0
    )
    lines += outliers.work(seed=0, table="unlikely", methods=["1D"], share=0.02, permutations=1)
    records = read_back(lines)
    score = records.where(what="score", rows="benign rows")
    assert score.where(method=outliers.RAW).mean("auroc") > 0.85
    assert score.where(method="random").mean("auroc") < 0.65
    planted = outliers_work.planted_table("unlikely", 0, 0.02)
    task = planted.task
    values = value_cells(
        task.numbers, task.labels, task.valid_numbers, task.valid_labels, metric="sqeuclidean", progress=False
    ).values
    low = records.where(what="range", method=outliers.RAW, rows="all rows").mean("lowest_after")
    assert low == pytest.approx(values.min(), rel=1e-5)
    figure = outliers.EXPERIMENT.draw(records)
    assert len(figure.axes) == 6
    (caption, table), *_ = outliers.EXPERIMENT.tables(records)
    assert caption.startswith("Values unlikely for their class. Cells of equal value")
    assert "2D-OOB" not in outliers.EXPERIMENT.headline(records)
    assert [line["AUROC"] for line in table] == sorted((line["AUROC"] for line in table), reverse=True)
    assert "z-score" in outliers.EXPERIMENT.headline(records)
    assert all(claim.judge(records) is not None for claim in outliers.EXPERIMENT.claims)
    assert all(claim.judge(Records([])) is None for claim in outliers.EXPERIMENT.claims)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [((0.95, 0.91), "holds"), ((0.95, 0.5), "holds in part"), ((0.7, 0.5), "does not hold")],
)
def test_verdicts_on_early_detection(found, verdict):
    scopes = ("benign rows", "all rows")
    records = Records(
        [
            {"what": "score", "method": outliers.RAW, "table": "unlikely", "rows": rows, "found_5": one}
            for rows, one in zip(scopes, found, strict=True)
        ]
    )
    judgement = outliers.judge_early(records)
    assert judgement.verdict == verdict and f"{found[0]:.0%}" in judgement.ours


@pytest.mark.parametrize(
    ("seeds", "verdict", "border"),
    [
        ((0.93, 0.95), "holds", "none"),
        ((0.85, 0.97), "holds in part", "values unlikely for their class, all rows (91.0% ± 6.0%)"),
        ((0.83, 0.95), "holds in part", "values unlikely for their class, all rows (89.0% ± 6.0%)"),
        ((0.5, 0.6), "does not hold", "none"),
    ],
)
def test_seeds_tell_what_is_at_the_border(seeds, verdict, border):
    line = {"what": "score", "method": outliers.RAW, "table": "unlikely", "rows": "all rows"}
    judgement = outliers.judge_early(Records([{**line, "found_5": found} for found in seeds]))
    assert judgement.verdict == verdict and f"90%: {border}." in judgement.why
    assert f"{np.mean(seeds):.0%} ± {abs(seeds[1] - seeds[0]) / 2:.0%}" in judgement.ours


@pytest.mark.parametrize(
    ("flat", "ours", "verdict"),
    [
        ((0.95, 0.99), (0.5, 0.5), "holds"),
        ((0.95, 0.99), (0.96, 0.95), "holds in part"),  # what any order does
        ((0.95, 0.6), (0.5, 0.5), "holds in part"),
        ((0.6, 0.9), (0.3, 0.3), "holds in part"),  # clearly fewer, but of less than 90 %
        ((0.6, 0.9), (0.5, 0.8), "does not hold"),
    ],
)
def test_verdicts_on_what_1d_needs(flat, ours, verdict):
    lines = []
    for table, one, two in zip(("unlikely", "low-density"), flat, ours, strict=True):
        line = {"what": "score", "table": table, "rows": "all rows", "cells": 19, "planted": 4}
        lines.append({**line, "method": "1D", "first_all": one, "permutations": 7})
        lines.append({**line, "method": outliers.RAW, "first_all": two, "permutations": None})
    judgement = outliers.judge_one_dimensional(Records(lines))
    assert judgement.verdict == verdict and "permutations: 7" in judgement.why
    # the last of 4 among 19 lies at place 16 on average
    assert f"random order needs {16 / 19:.0%} to" in judgement.why
    assert f"1D {flat[1]:.0%}, 2D-KNN {ours[1]:.0%}" in judgement.ours


@pytest.mark.parametrize(
    ("place", "highest", "verdict"),
    [(0.1, 2.0, "holds"), (0.1, 0.5, "holds in part"), (0.5, 0.5, "does not hold")],
)
def test_verdicts_on_the_range(place, highest, verdict):
    line = {
        "what": "range",
        "table": "unlikely",
        "rows": "benign rows",
        "method": outliers.RAW,
        "lowest_before": -1.0,
        "lowest_after": -2.0,
        "highest_before": 1.0,
        "highest_after": highest,
        "place_before": 0.5,
        "place_after": place,
    }
    assert outliers.judge_range(Records([line])).verdict == verdict


def test_the_budget_counts_what_the_first_cells_hold(read_back):
    lines = budget.work(seed=1, kind="unlikely", rates=[2, 15])
    records = read_back(lines)
    planted = outliers_work.planted_table("unlikely", 1, 0.15)
    task = planted.task
    values = value_cells(
        task.numbers, task.labels, task.valid_numbers, task.valid_labels, progress=False
    ).values
    # tied values would make the count depend on the order: compare with the bounds over all orders
    edge = np.sort(values.ravel())[199]
    sure, tied = (values < edge), (values == edge)
    low = (planted.cells & sure).sum() + max(0, 200 - sure.sum() - (tied & ~planted.cells).sum())
    high = (planted.cells & sure).sum() + min(200 - sure.sum(), (tied & planted.cells).sum())
    score = records.where(what="score", rows="all rows", rate=15)
    assert score.mean("planted") == 325 and score.mean("at_most") == pytest.approx(200 / 325, abs=1e-5)
    assert low - 1e-3 <= 325 * score.mean("found_first") <= high + 1e-3
    curve = records.where(what="curve", rate=15, inspected=200)
    assert curve.mean("found") == score.mean("found_first")
    figure = budget.EXPERIMENT.draw(records)
    assert len(figure.axes) == 2 and "200" in figure.axes[1].get_title(loc="left")
    ((_, table),) = budget.EXPERIMENT.tables(records)
    assert [line["cells planted"] for line in table] == ["2 % (43)", "15 % (325)"]
    assert "at 15 %" in budget.EXPERIMENT.headline(records)
    assert all(claim.judge(records) is not None for claim in budget.EXPERIMENT.claims)
    assert all(claim.judge(Records([])) is None for claim in budget.EXPERIMENT.claims)


def _budget_lines(found, auroc):
    return Records(
        [
            {
                "what": "score",
                "kind": "unlikely",
                "rows": "all rows",
                "rate": rate,
                "found_first": one,
                "at_most": most,
                "auroc": area,
            }
            for rate, one, most, area in zip((1, 15), found, (1.0, 0.6), auroc, strict=True)
        ]
    )


@pytest.mark.parametrize(
    ("found", "verdict"),
    [((0.95, 0.58), "holds"), ((0.95, 0.4), "holds in part"), ((0.8, 0.4), "does not hold")],
)
def test_verdicts_on_the_first_200_cells(found, verdict):
    assert budget.judge_high(_budget_lines(found, (0.9, 0.9))).verdict == verdict


@pytest.mark.parametrize(
    ("found", "auroc", "verdict"),
    [
        ((0.9, 0.5), (0.9, 0.85), "holds"),  # 90 to 83 % of what can be found
        ((0.9, 0.3), (0.9, 0.85), "holds in part"),  # 90 to 50 %
        ((0.9, 0.5), (0.9, 0.95), "holds in part"),
        ((0.8, 0.5), (0.9, 0.85), "holds in part"),
        ((0.8, 0.5), (0.9, 0.95), "does not hold"),  # 80 to 83 %: fewer are found only because 60 % can be
    ],
)
def test_verdicts_on_the_decrease(found, auroc, verdict):
    judgement = budget.judge_decrease(_budget_lines(found, auroc))
    assert judgement.verdict == verdict
    assert f"{found[0]:.0%} to {found[1] / 0.6:.0%}" in judgement.ours
    assert "no more than 60% of the planted" in judgement.why


def test_a_decrease_within_the_noise_of_the_seeds_is_none():
    for noise, verdict in ((0.001, "holds"), (0.2, "does not hold")):
        seeds = [_budget_lines((0.7 + shift, 0.4), (0.7 + shift, 0.65)) for shift in (noise, 0, -noise)]
        lines = [row for seed in seeds for row in seed]
        assert budget.judge_decrease(Records(lines)).verdict == verdict


def test_correlations_and_near_pairs_agree_with_loops():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(20, 6))
    values[3] = 0.25  # no profile at all
    first, second = np.triu_indices(20, 1)
    agreement = interpretation.correlations(values, first, second)
    near = interpretation.near_pairs(values.sum(axis=1), first, second, 0.3)
    limit = 0.3 * values.sum(axis=1).std(ddof=1)
    for k, (i, j) in enumerate(zip(first, second, strict=True)):
        expected = 0.0 if 3 in (i, j) else np.corrcoef(values[i], values[j])[0, 1]
        assert agreement[k] == pytest.approx(expected, abs=1e-12)
        assert near[k] == (abs(values[i].sum() - values[j].sum()) < limit)
    assert near.any() and not near.all()


def test_the_pairs_shown_are_the_most_and_the_least_alike(read_back):
    records = read_back(interpretation.work(seed=2, table="split", within=0.01))
    parts = split_table("breast_cancer", 2)
    values = value_cells(parts.X, parts.y, parts.X_valid, parts.y_valid, progress=False).values
    rows, limit = values.sum(axis=1), 0.01 * values.sum(axis=1).std(ddof=1)
    near = {
        (i, j): np.corrcoef(values[i], values[j])[0, 1]
        for i in range(len(rows))
        for j in range(i + 1, len(rows))
        if abs(rows[i] - rows[j]) < limit and (parts.X[i] != parts.X[j]).any()
    }
    pairs = {row["kind"]: row for row in records.where(what="pair")}
    assert pairs["alike"]["correlation"] == pytest.approx(max(near.values()), abs=1e-5)
    assert pairs["unlike"]["correlation"] == pytest.approx(min(near.values()), abs=1e-5)
    for pair in pairs.values():
        assert near[pair["row_a"], pair["row_b"]] == pytest.approx(pair["correlation"], abs=1e-5)
        cells = records.where(what="cell", kind=pair["kind"])
        assert len(cells) == 9
        assert cells.numbers("value_a").sum() == pytest.approx(pair["value_a"], abs=1e-7)
        np.testing.assert_array_equal(cells.numbers("content_b"), parts.X[pair["row_b"]])
    (count,) = records.where(what="count")
    assert count["pairs"] == len(near)
    assert count["alike"] == pytest.approx(np.mean([one >= 0.9 for one in near.values()]), abs=1e-5)
    assert records.where(what="histogram").numbers("near").sum() == pytest.approx(1, abs=1e-4)
    figure = interpretation.EXPERIMENT.draw(records)
    assert len(figure.axes) == 3 and len(figure.axes[0].patches) == 18
    (_, shown), (_, common) = interpretation.EXPERIMENT.tables(records)
    assert [line["cells"] for line in shown] == ["alike", "unlike"] and len(common) == 1
    assert "%" in interpretation.EXPERIMENT.headline(records)


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ([(0.1, 0.2), (0.3, 0.1)], "holds"),
        ([(0.1, 0.2), (0.3, 0.0)], "holds in part"),
        ([(0.0, 0.0)], "does not hold"),
    ],
)
def test_verdicts_on_pairs(shares, verdict):
    lines = [
        {"what": "count", "alike": alike, "unlike": unlike, "all_alike": 0.1, "all_unlike": 0.5, "pairs": 9}
        for alike, unlike in shares
    ]
    assert interpretation.judge(Records(lines)).verdict == verdict
    assert interpretation.judge(Records([])) is None


def test_splits_without_near_pairs_are_left_out(read_back):
    lines, lonely = (
        [{**line, "table": table} for line in interpretation.work(seed=2, table="split", within=within)]
        for table, within in (("split 2", 0.01), ("split 3", 0.0))
    )
    both, one, none = read_back([*lines, *lonely]), read_back(lines), read_back(lonely)
    assert both.where(what="count", table="split 3").mean("pairs") == 0
    assert interpretation.EXPERIMENT.headline(both) == interpretation.EXPERIMENT.headline(one)
    assert interpretation.EXPERIMENT.tables(both) == interpretation.EXPERIMENT.tables(one)
    drawn, expected = (
        interpretation.EXPERIMENT.draw(records).axes[2].patches[0].get_data().values
        for records in (both, one)
    )
    np.testing.assert_array_equal(drawn, expected)
    judgement = interpretation.judge(both)
    assert judgement.verdict == "holds" and "nan" not in judgement.ours
    assert "1D value, left out: 1." in judgement.why and "left out: " not in interpretation.judge(one).why
    assert interpretation.judge(none) is None and interpretation.EXPERIMENT.tables(none) == []
    assert "No two rows" in interpretation.EXPERIMENT.headline(none)
    assert len(interpretation.EXPERIMENT.draw(none).axes) == 3
