"""The page of a payment explains it on one screen."""

import warnings

from shapley2d import KNN, audit_owners

from small_tables import two_classes


def test_what_was_paid_what_would_change_it_and_what_was_looked_at_are_one_screen(
    open_file, tmp_path
):
    owners = [{"owner": name, "row": rows} for name, rows in (("A", "0-19"), ("B", "20-39"))]
    with warnings.catch_warnings(action="ignore"):  # payments that may be due to chance
        v, _ = audit_owners(*two_classes(n=40, m=3), owners=owners, method=KNN(n_neighbors=3))
        facts = {"table": "rows.csv", "command": "shapley2d blocks rows.csv --pay 1000"}
        v.to_html(tmp_path / "paid.html", payments=v.payments(1000), facts=facts)
    page = open_file(tmp_path / "paid.html")
    box = page.locator("#payments").bounding_box()
    assert box["y"] + box["height"] <= 800
    assert page.locator("#payments h3").count() == 2 and page.locator("#audit-gains").is_visible()
    assert page.locator(".facts:visible").count() == 0
    page.locator("#payments details summary").click()
    assert "rows.csv" in page.locator("#payments details .facts").inner_text()
