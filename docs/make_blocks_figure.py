"""Draw the picture of docs/blocks.md: the blocks, their values, and what the owners are paid.

Run it from the repository's root: ``python docs/make_blocks_figure.py``. It runs the page's own
code first, so that the picture shows what the page computes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from shapley2d._market.block_valuation import BlockValuation

PAGE = Path(__file__).with_name("blocks.md")


def run_page(page: Path) -> dict[str, Any]:
    """Run the Python blocks of a page in order and return their names."""
    namespace: dict[str, Any] = {}
    for block in re.findall(
        r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        exec(compile(block, str(page), "exec"), namespace)  # noqa: S102  (the page's own examples)
    return namespace


def draw_blocks(valuation: BlockValuation, ax: Axes) -> None:
    """The grid to scale, every block with its value and its owners."""
    heights, widths = valuation.row_sizes, valuation.column_sizes
    tops, lefts = np.append(0, np.cumsum(heights)), np.append(0, np.cumsum(widths))
    limit = np.abs(valuation.values).max()
    image = ax.pcolormesh(
        lefts, tops, valuation.values, cmap="RdBu", vmin=-limit, vmax=limit, edgecolor="white", lw=2
    )
    for i, j, owner in valuation.info["block_owners"]:
        value = valuation.values[i, j]
        place = ((lefts[j] + lefts[j + 1]) / 2, (tops[i] + tops[i + 1]) / 2)
        colour = "white" if abs(value) > 0.6 * limit else "black"
        ax.text(
            *place, f"{owner}\n{value:+.3f}", ha="center", va="center", fontsize=9, color=colour
        )
    ax.set_xticks(
        (lefts[1:] + lefts[:-1]) / 2, [name.replace(" + ", "\n") for name in valuation.column_names]
    )
    ax.set_yticks((tops[1:] + tops[:-1]) / 2, [f"{size} customers" for size in heights])
    ax.tick_params(length=0)
    ax.invert_yaxis()
    ax.set_title("value of every block", loc="left", fontsize=10)
    ax.figure.colorbar(image, ax=ax, fraction=0.04, pad=0.02)


def draw_payments(payments: Any, ax: Axes) -> None:
    """Amounts with their intervals."""
    places = np.arange(len(payments))
    ax.barh(places, payments["amount"], color="#3b6ea5", height=0.6)
    spread = [payments["amount"] - payments["low"], payments["high"] - payments["amount"]]
    if np.any(spread):
        ax.errorbar(
            payments["amount"], places, xerr=spread, fmt="none", ecolor="#222222", capsize=3
        )
    for place, amount, high in zip(places, payments["amount"], payments["high"], strict=True):
        ax.text(high, place, f"  {amount:,.2f}", va="center", fontsize=9)
    ax.set_yticks(places, payments["owner"])
    ax.invert_yaxis()
    ax.set_xlim(0, 1.35 * payments["high"].max())
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title("payments out of 100,000", loc="left", fontsize=10)


def main() -> None:
    """Write docs/figures/blocks.png."""
    mpl.use("Agg")
    names = run_page(PAGE)
    figure, axes = plt.subplots(
        1, 2, figsize=(10, 3.8), width_ratios=[1.25, 1], layout="constrained"
    )
    draw_blocks(names["v"], axes[0])
    draw_payments(names["v"].payments(100_000), axes[1])
    target = PAGE.parent / "figures" / "blocks.png"
    target.parent.mkdir(exist_ok=True)
    figure.savefig(target, dpi=150)


if __name__ == "__main__":
    main()
