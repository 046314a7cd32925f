"""The figure and the tables of the page on scale, from what benchmarks/scale.py measured.

python docs/make_scale.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PAGE, RECORD, FIGURE = (
    FOLDER / "scale.md",
    FOLDER / "figures" / "scale.json",
    FOLDER / "figures" / "scale.png",
)
BLUE, RED, GREY = "#2166ac", "#b2182b", "#999999"


def growth_table(record: dict[str, Any]) -> str:
    """One line per size, with its exponent beside the theory's."""
    lines = ["| cost against | from | to | exponent | theory |", "|---|---|---|---|---|"]
    for one in record["growth"]:
        name = one["name"].replace("2^m", "2<sup>*m*</sup>")
        theory = one["theory"].replace("2^m", "2<sup>*m*</sup>")
        sizes = one["sizes"]
        lines.append(
            f"| {name} | {sizes[0]:,} | {sizes[-1]:,} | {one['exponent']:.2f} | {theory} |"
        )
    return "\n".join(lines) + "\n"


def workers_table(record: dict[str, Any]) -> str:
    """Time and efficiency by the number of workers."""
    shared = record["workers"]
    measured = shared["measured"]
    lines = ["| workers | speed-up | efficiency | |", "|---|---|---|---|"]
    lines.append(
        f"| 2 | {measured['1'] / measured['2']:.2f} | {measured['1'] / measured['2'] / 2:.2f} | measured |"
    )
    for one in shared["simulated"][1:]:
        speed = one["workers"] * one["efficiency"]
        lines.append(f"| {one['workers']:,} | {speed:.4g} | {one['efficiency']:.2f} | simulated |")
    return "\n".join(lines) + "\n"


def plans_table(record: dict[str, Any]) -> str:
    """What was planned beside what it took."""
    lines = ["| run | planned | took | off by |", "|---|---|---|---|"]
    for one in record["plans"]:
        low, high = one["planned"]
        planned = f"{high:.1f} s" if high < 1.1 * low else f"{low:.1f} to {high:.1f} s"
        off = f"{abs(one['off']):.0%}".replace("%", " %")
        lines.append(f"| {one['name']} | {planned} | {one['actual']:.1f} s | {off} |")
    return "\n".join(lines) + "\n"


def billion_words(record: dict[str, Any]) -> str:
    """What 10^9 cells would take, with the arithmetic."""
    one = record["billion"]
    triples = one["rows"] * one["valid"] * one["subsets"]
    rounds = -(-one["pieces"] // one["workers"])
    minutes = rounds * one["core_s"] / one["pieces"] / 60
    gigabytes = one["back_bytes"] / 1e9
    return (
        f"- {one['rows']:,} rows x {one['columns']} columns, {one['valid']:,} validation rows, {one['subsets']} column "
        f"subsets for each: {triples:,} triples.\n"
        f"- At {one['ns_per_triple']:.1f} ns, the pace of the fast form at a million rows: {one['core_s'] / 3600:.0f} core "
        "hours.\n"
        f"- {one['pieces']} pieces on {one['workers']} workers: {rounds} rounds, {minutes:.0f} minutes.\n"
        f"- Every piece sends back its part of the values and of their errors, {gigabytes:.0f} GB; all of them at half a "
        f"gigabyte a second: {one['back_s'] / 60:.0f} minutes.\n"
        f"- Together {one['seconds'] / 3600:.1f} hours, or less where the one happens during the other. What limits a table of "
        f"this size is {'what comes back' if one['back_s'] > 60 * minutes else 'the ranking'}.\n"
        f"- Memory, by the formula above: {72 * one['rows'] * one['columns'] / 1e9:.0f} GB where the pieces are added up, and "
        f"{32 * one['rows'] * one['columns'] / 1e9:.0f} GB for a worker.\n"
    )


def million_words(record: dict[str, Any]) -> str:
    """What a million rows took, beside the plan."""
    one = record["million"]
    low, high = (seconds / 60 for seconds in one["planned"])
    planned = f"{high:.1f}" if high < 1.1 * low else f"{low:.1f} to {high:.1f}"
    return (
        f"{one['rows']:,} rows of {one['columns']} made-up columns against {one['valid']} validation rows under {one['subsets']} "
        f"subsets, {one['form']} form, on {one['cores']} cores: {one['seconds'] / 60:.1f} minutes and {one['gigabytes']:.1f} GB, "
        f"the table included. The plan was {planned} minutes and {one['planned_gb']:.1f} GB beside the table.\n"
    )


TABLES = {
    "growth": growth_table,
    "workers": workers_table,
    "plans": plans_table,
    "billion": billion_words,
    "million": million_words,
}


def with_tables(text: str, record: dict[str, Any]) -> str:
    """The page with its tables as they were measured."""
    for name, table in TABLES.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(start)
        text = before + start + table(record) + end + rest.split(end)[1]
    return text


def draw(record: dict[str, Any]) -> None:
    """The curves of growth, beside straight lines of the theory, and the efficiency of workers."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(11, 6.2))
    growth = record["growth"]
    panels = [growth[:2], [growth[2]], [growth[3]], [growth[4]], [growth[5]]]
    for ax, group in zip(axes.flat, panels, strict=False):
        for one, colour in zip(group, (RED, BLUE), strict=False):
            ax.plot(
                one["sizes"],
                [1e3 * s for s in one["seconds"]],
                "o-",
                color=colour,
                label=one["name"],
            )
            if one["theory"] == "1":
                first = 1e3 * one["seconds"][0]
                ideal = [first * size / one["sizes"][0] for size in one["sizes"]]
                ax.plot(one["sizes"], ideal, ":", color=GREY)
        subsets = group[0]["name"].endswith("subsets")
        ax.set_xscale("linear" if subsets else "log")
        ax.set_yscale("log")
        low, high = ax.get_ylim()
        ax.set_ylim(
            min(low, high / 10), high
        )  # a decade at least: an axis without a number says nothing
        sizes = group[0]["sizes"]
        ax.set_xticks(sizes, labels=[f"{size:,}" for size in sizes])
        ax.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.yaxis.set_minor_formatter(
            lambda value, _: f"{value:g}" if f"{value:.0e}"[0] in "25" else ""
        )
        ax.set_xlabel(group[0]["unit"])
        ax.set_ylabel("CPU milliseconds")
        ax.legend(frameon=False, fontsize=8)
    ax = axes.flat[5]
    simulated = record["workers"]["simulated"]
    ax.plot(
        [one["workers"] for one in simulated],
        [one["efficiency"] for one in simulated],
        "o-",
        color=BLUE,
    )
    ax.set_xscale("log", base=2)
    ax.set_ylim(0, 1.05)
    ax.set_xlabel("workers (simulated)")
    ax.set_ylabel("efficiency")
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(FIGURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    measured = json.loads(RECORD.read_text(encoding="utf-8"))
    draw(measured)
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), measured), encoding="utf-8")
