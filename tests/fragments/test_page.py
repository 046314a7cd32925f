"""The page of fragments: titles claim what the numbers say, text is text, everything is small."""

import html as markup
import json
import re

import numpy as np
import pytest

from made_fragments import COLUMNS, cells_of, five, made, many, twelve
from shapley2d._fragments.map import MOST, draw_map
from shapley2d._fragments.page import leaders, page_content, write_page
from shapley2d.exceptions import InputError

S = "\N{RIGHT SINGLE QUOTATION MARK}s"
CLAIM = re.compile(r'<h2 id="(\w+)-title">(?:<bdi>)?(.*?)(?:</bdi>)?</h2>')
TITLE = re.compile(r"<h[12][^>]*>(?:<bdi>)?(.*?)(?:</bdi>)?</h[12]>", re.DOTALL)


def html_of(valuation, tmp_path, **options):
    write_page(valuation, tmp_path / "page.html", **options)
    return (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.fixture
def claims_of(tmp_path):
    """The titles of a page by their sections; that of all as ``page``."""

    def read(valuation, **options):
        html = html_of(valuation, tmp_path, **options)
        found = {name: markup.unescape(title) for name, title in CLAIM.findall(html)}
        return found | {"page": markup.unescape(TITLE.findall(html)[0])}

    return read


def halves(a=500, b=500, names=("A", "B")):
    """Two contributors with rows of one column each."""
    return {names[0]: (range(a), ("x",)), names[1]: (range(1000 - b, 1000), ("x",))}


def of_x(parts, worth=300, **more):
    return made(parts, columns=["x"], worth={"x": worth}, **more)


def test_a_clear_leader_is_named_with_its_payment(claims_of):
    claims = claims_of(made(five()), pay=100_000)
    assert re.fullmatch(
        rf"Bank South{S} three columns are worth most: \d\d,\d\d\d of 100,000", claims["page"]
    )
    assert re.fullmatch(
        r"All five are worth something; Bank South and Bank North bring \d\d\u00a0%",
        claims["worth"],
    )
    assert claims["table"] == "25\u00a0% of the table is held by nobody, 6\u00a0% by two or more"
    assert claims["best"].startswith("Nobody can be left out: no set does as well as all five; ")
    assert claims["making"] == "All 32 sets of contributors were scored on 400 validation rows"


def test_without_payments_the_leader_comes_with_points(claims_of):
    claim = claims_of(made(five()))["page"]
    assert re.fullmatch(
        rf"Bank South{S} three columns are worth most: [\d.]+ of [\d.]+ points", claim
    )


def test_equal_contributors_are_not_ranked(claims_of):
    claims = claims_of(of_x(halves()), pay=1000)
    assert claims["page"] == "A and B lead, too close to tell apart: 500 and 500 of 1,000"
    assert claims["table"] == "Every entry is held by somebody"
    assert claims["pieces"] == "A and B hold the most entries: 500"
    assert (
        "Who would be missed" not in claims["each"]
        and "A and B would be missed most" in claims["each"]
    )


def test_a_lead_within_the_error_is_no_lead(claims_of):
    parts = {"A": (range(502), ("x",)), "B": (range(502, 1000), ("y",))}
    claims = claims_of(made(parts, columns=["x", "y"], worth={"x": 300, "y": 300}))
    assert claims["page"] in (
        "A and B lead, too close to tell apart",
        "B and A lead, too close to tell apart",
    )


def test_the_covariance_decides_what_is_clear():
    values, together = np.array([1.0, 1.1]), np.array([[1.0, 0.9999], [0.9999, 1.0]])
    assert leaders(values, together, 1.96) == [1]
    assert leaders(values, np.eye(2), 1.96) == [1, 0]
    assert leaders(values, np.ones(2), 1.96) == [1, 0]
    assert leaders(np.ones(3), np.zeros(3), 1.96) == [0, 1, 2]


def test_more_than_two_leaders_are_counted(claims_of):
    parts = {name: (range(k * 250, k * 250 + 250), ("x",)) for k, name in enumerate("ABCD")}
    claims = claims_of(of_x(parts))
    assert claims["page"] == "Four lead, too close to tell apart"
    assert claims["each"] == (
        "Who would be missed most is unclear: four are too close; alone, four bring about as much"
    )


def test_one_far_ahead_is_named_alone(claims_of):
    claims = claims_of(of_x(halves(920, 80)))
    assert claims["page"].startswith("A is worth most: ")
    assert claims["worth"] == "Both are worth something; A brings 92\u00a0%"
    assert claims["best"].startswith(
        "Nobody can be left out: no set does as well as both; A brings 92"
    )


def test_who_lowers_the_score_is_said_and_paid_nothing(claims_of, tmp_path):
    v = made(five(), harm={"Employer North": 0.05})
    claims = claims_of(v)
    assert claims["worth"].endswith("; Employer North lowers the score")
    assert "better than all five" in claims["best"]
    html = html_of(v, tmp_path, pay=100_000)
    assert "Employer North</bdi> is worth less than nothing and paid 0;" in html
    assert "paid 0;" not in html_of(v, tmp_path)


def test_a_set_that_does_as_well_is_named(claims_of):
    parts = {"A": (range(1000), ("x",)), "B": (range(1000), ("x",)), "C": (range(500), ("x",))}
    claims = claims_of(of_x(parts))
    assert claims["best"] == "A does as well as all three"


def test_who_holds_nothing_is_said_and_is_in_no_set(claims_of):
    parts = {**five(), "Ghost": ([], ())}
    v = made(parts)
    claims = claims_of(v)
    assert claims["worth"].endswith("; Ghost holds nothing")
    content = page_content(v)
    assert len(content["best"]) == 5
    assert content["tried"]
    record = json.loads(content["tried"])
    assert len(record["scores"]) == 64


def test_who_may_be_worth_nothing_is_said(claims_of, tmp_path):
    v = made(five(), harm={"Employer North": 0.0147}, spread=6)
    assert claims_of(v)["worth"].endswith("; Employer North may be worth nothing")
    html = html_of(v, tmp_path)
    assert html.count('class="hollow"') == 1 and "a hollow bar may be worth nothing" in html


def test_where_nothing_is_learned_nothing_is_claimed(claims_of):
    v = of_x(halves(), worth=0.001, spread=2e4)
    claims = claims_of(v)
    assert claims["page"] == "No contributor is clearly worth something"
    assert claims["best"] == "Not even both together clearly beat the baseline"
    assert claims["each"] == "Nobody would clearly be missed; nobody clearly brings anything alone"


def test_a_single_contributor_has_a_page(tmp_path):
    html = html_of(of_x({"Only": (range(800), ("x",))}), tmp_path, pay=10)
    assert 'id="best"' not in html and "Only is worth most: 10 of 10" in html


def test_pieces_by_column(claims_of):
    v = made(five(), by="column")
    claims = claims_of(v)
    assert claims["pieces"] == f"The most valuable piece is Bank South{S} capital_gain: 2.4 points"
    unsure = made(five(), by="column")
    object.__setattr__(unsure, "stderr", np.full(unsure.shape, 0.0035))
    assert claims_of(unsure)["pieces"].endswith("pieces lead, too close to tell apart")


def test_many_contributors_have_numbers_and_a_claim_about_the_group(claims_of, tmp_path):
    parts = many(60)
    v = made(parts, harm={next(iter(parts)): 0.01})
    html = html_of(v, tmp_path, pay=100_000)
    claims = claims_of(v, pay=100_000)
    assert re.match(r"\w+ of 60 contributors are paid 5\d\u00a0%; ", claims["page"])
    assert 'id="map"' not in html and 'id="try"' not in html
    assert "no others can be tried here" in html and "The other 45 contributors" in html
    assert "40 random orders" in claims["making"]
    content = page_content(v)
    last = content["best"][-2]
    assert f"all but {next(i + 1 for i in range(60) if i not in last['members'])}</td>" in html


def test_scattered_rows_have_coverage_instead_of_a_map(tmp_path):
    html = html_of(made(five(), scattered=True), tmp_path)
    assert 'id="map"' not in html and "Share of the rows that each contributor holds" in html
    random = np.random.default_rng(0)
    confetti = random.random((500, 8, 9)) < 0.3
    assert draw_map(confetti, np.ones(500, int)) is None


def test_the_map_shows_every_entry_once():
    patterns, rows = np.unique(cells_of(five()).transpose(1, 0, 2), axis=0, return_counts=True)
    drawn = draw_map(patterns, rows)
    area = sum(h for blocks in drawn.blocks for runs in blocks.values() for _, h in runs)
    assert sum(len(runs) for blocks in drawn.blocks for runs in blocks.values()) < MOST
    assert area / (100 * len(COLUMNS)) == pytest.approx(cells_of(five()).any(0).mean(), abs=1e-4)
    assert sorted(drawn.columns) == list(range(len(COLUMNS)))
    assert (0, 1) in drawn.shared  # both banks
    assert {one.who for one in drawn.labels} >= {(k,) for k in range(5)}


def test_the_scores_of_all_sets_are_those_of_the_sets():
    v = made(five())
    f, order = v._fragments, np.argsort(-v.row_values, kind="stable")
    record = json.loads(page_content(v)["tried"])
    scores = record["scores"]
    for members, score in zip(f.sets, f.set_scores, strict=True):
        place = sum(1 << rank for rank, i in enumerate(order) if members[i])
        assert scores[place] == pytest.approx(100 * score, abs=1e-3)


def test_text_of_the_table_is_text(tmp_path):
    evil = '</script><script>alert("1")</script>'
    parts = {evil: (range(500), ("x",)), "<img src=x onerror=alert(2)>": (range(400, 900), (evil,))}
    v = made(parts, columns=["x", evil], worth={"x": 200, evil: 100}, target="<b>y</b>")
    html = html_of(v, tmp_path, pay=100, title="<i>title")
    assert "<script>alert" not in html and "<img" not in html
    assert "<b>y</b>" not in html and "<i>title" not in html and "&lt;i&gt;title" in html
    assert html.count("</script>") == 2  # the data and the page's own


@pytest.mark.parametrize("parts", [five(), twelve(), many(60)], ids=["5", "12", "60"])
@pytest.mark.parametrize("by", ["contributor", "column"])
def test_pages_are_small_and_ask_for_nothing(tmp_path, parts, by):
    html = html_of(made(parts, by=by), tmp_path, pay=100_000)
    assert len(html.encode()) < 150_000
    assert not re.search(r"https?:|@import|url\((?!#)|src=|href=\"(?!#|data:)", html)
    assert "default-src 'none'" in html and " style=" not in html
    assert all(title.strip() for title in TITLE.findall(html))
    assert all("scope=" in head for head in re.findall(r"<th\b[^>]*>", html))


def test_payments_costs_and_titles_are_shown_only_where_given(tmp_path):
    v = made(five())
    plain = html_of(v, tmp_path)
    assert ">paid<" not in plain and ">Cost<" not in plain
    costs = dict(zip(v.row_names, (1, 2, 4, 8, 16), strict=True))
    html = html_of(v, tmp_path, pay=1000, costs=costs, title="Credit, May")
    assert ">paid<" in html and ">Cost<" in html and "<td>31</td>" in html
    assert "<title>Credit, May</title>" in html and 'class="claim"' in html
    with pytest.raises(InputError, match="who is no contributor"):
        html_of(v, tmp_path, costs={**costs, "Nobody": 1})


def test_labels_and_cross_validation_are_explained(tmp_path):
    v = made(five(), labels=["Registry"], crossed=True)
    html = html_of(v, tmp_path)
    assert "held by <bdi>Registry</bdi>" in html and "tested each other" in html
    with pytest.raises(InputError, match="no validation table"):
        html_of(v, tmp_path, pay=10)
    assert ">paid<" in html_of(v, tmp_path, pay=10, trusted=True)


def test_a_score_that_is_no_share_has_no_points(tmp_path):
    v = made(five(), score="neg_log_loss", baseline=-0.65)
    html = html_of(v, tmp_path)
    assert "points" not in html.split("<script")[0].split("</style>")[1]
    assert "log score" in html and "\N{MINUS SIGN}0.65" in html


def test_a_page_appears_whole_or_not_at_all(tmp_path):
    (tmp_path / "page.html").write_text("before")
    v = made(five())
    object.__setattr__(v._fragments, "patterns", None)
    with pytest.raises(TypeError):
        write_page(v, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1
