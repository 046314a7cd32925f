"""Plans: words, JSON, and what is escaped."""

import dataclasses
import json
import math

import numpy as np
import pytest

from shapley2d import InputError, Plan, Valuation
from shapley2d._base.cost import Cost
from shapley2d._results.page import known_facts, settings_words

COST = Cost(alone_s=10.0, shared_s=3590.0, pieces=500, waves=2, handover_s=1e-3)
PLAN = Plan(
    "knn",
    1_000_000,
    50,
    10_000,
    amounts={"column subsets": (402, 802)},
    seconds=(900.0, 1805.0),
    memory=3.2e9,
    cores=1.9,
    low=Cost(10.0, 1790.0, 250),
    high=COST,
    facts={"subsets": "sampled", "form": "fast", "backend": "cpu"},
    notes=["The tolerance may not be met."],
)
UNKNOWN = Plan("other", 3, 2, 0, reason="what it takes is <not> known")


def test_words():
    assert PLAN.summary(600).splitlines() == [
        "plan: method knn, 1,000,000 rows x 50 columns, 10,000 validation rows",
        "  work      402 to 802 column subsets",
        "  how       column subsets: sampled, form fast, on cpu",
        "  time      15 min 0 s to 30 min 5 s here (1.9 cores at a time)",
        "  memory    about 3.2 GB besides the table",
        f"  workers   {COST.workers(600)} with a core each for 10 min 0 s",
        "  The tolerance may not be met.",
    ]
    assert "workers" not in repr(PLAN)
    assert PLAN.headline() == (
        "planned: 15 min 0 s to 30 min 5 s and 3.2 GB of memory "
        "(402 to 802 column subsets; 1.9 cores at a time)"
    )
    assert (
        UNKNOWN.summary(60)
        == "plan: method other, 3 rows x 2 columns\n  what it takes is <not> known"
    )
    assert "others use the machine too" in dataclasses.replace(PLAN, cores=0.4).summary()


def test_impossible_times_say_what_is_possible():
    assert PLAN.workers(5) is None
    assert "no number of them does it in 5 s: about" in PLAN.summary(5)
    assert UNKNOWN.workers(60) is None
    with pytest.raises(InputError, match="seconds=-1 must be a number and be positive"):
        PLAN.workers(-1)


def test_workers_are_judged_by_the_worst_case():
    assert PLAN.workers(2000) == COST.workers(2000) > PLAN.low.workers(2000)


@pytest.mark.parametrize("plan", [PLAN, UNKNOWN])
def test_json_round_trip(plan):
    again = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert repr(again) == repr(plan)
    assert again.to_dict() == plan.to_dict()
    assert again.workers(100) == plan.workers(100)
    assert again.method == plan.method


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_rows": "many"}, "n_rows is not a whole number"),
        ({"memory": -1}, "memory is not a number from 0 on"),
        ({"memory": math.nan}, "memory is not a number"),
        ({"amounts": [1]}, "this is not a plan"),
        ({"low": {}}, "alone_s"),
    ],
)
def test_other_records_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Plan.from_dict(PLAN.to_dict() | change)


def test_notebooks_and_terminals_get_text_and_no_code():
    plan = dataclasses.replace(PLAN, notes=["<script>"], method="a\x1b[31m<b>")
    assert "<script>" not in plan._repr_html_()
    assert "&lt;script&gt;" in plan._repr_html_()
    assert "&lt;b&gt;" in plan._repr_html_()
    assert "\x1b" not in repr(plan)
    assert "&lt;not&gt;" in UNKNOWN._repr_html_()


def valuation(**info):
    return Valuation(np.eye(2), np.zeros((2, 2)), np.arange(2), ["a", "b"], info=info)


def test_results_show_planned_and_actual(tmp_path):
    v = valuation(method="knn", seconds=75.0, planned_s=[60.0, 90.0])
    words = "1 min 15 s, planned 1 min 0 s to 1 min 30 s"
    assert known_facts(v.info)["took"] == words
    assert "planned_s" not in settings_words(v.info)
    v.save(tmp_path / "v.parquet")
    again = Valuation.load(tmp_path / "v.parquet")
    assert again.info["planned_s"] == [60.0, 90.0]
    again.to_html(tmp_path / "page.html")
    assert words in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("planned", ["soon", [1.0], [1.0, "<b>"], [1.0, -2.0]])
def test_odd_plans_in_files_are_refused(planned, tmp_path):
    valuation(planned_s=planned).save(tmp_path / "v.parquet")
    with pytest.raises(InputError, match="planned_s in its record"):
        Valuation.load(tmp_path / "v.parquet")
