"""Two banks and two shops on the credit-card table: from CSV files to payments and a picture.

Run: SHAPLEY2D_DATA=folder python docs/credit_blocks.py The folder holds credit.csv.gz (UCI 350,
Default of Credit Card Clients). Banks know a client's limit, person and record of payment; shops
know what was billed and paid. Two regions split the clients.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from shapley2d import MonteCarlo, value_blocks

TARGET = "default_payment_next_month"


def main() -> None:
    credit = pd.read_csv(Path(os.environ["SHAPLEY2D_DATA"]) / "credit.csv.gz", index_col="ID")
    credit = credit.sample(8000, random_state=0)
    train, valid = credit[:6000], credit[6000:]
    shop_columns = [name for name in train if name.startswith(("BILL_AMT", "PAY_AMT"))]
    bank_columns = [name for name in train if name not in (*shop_columns, TARGET)]
    region = np.where(np.arange(len(train)) < 4500, "North", "South")

    folder = Path(tempfile.mkdtemp())
    claims = [
        (f"{kind} {where}", where, ";".join(columns))
        for where in ("North", "South")
        for kind, columns in (("Bank", bank_columns), ("Shop", shop_columns))
    ]
    pd.DataFrame(claims, columns=["owner", "row", "column"]).to_csv(
        folder / "owners.csv", index=False
    )

    v = value_blocks(
        train.drop(columns=TARGET),
        train[TARGET],
        valid.drop(columns=TARGET),
        valid[TARGET],
        rows=region,
        owners=folder / "owners.csv",
        parties="known",
        valid_parts=10,
        method=MonteCarlo(DecisionTreeClassifier(max_depth=5)),
        scoring="matthews_corrcoef",
    )
    print(v)
    payments = v.payments(100_000)
    print(payments.round(4).to_string(index=False))

    figure, ax = plt.subplots(figsize=(6, 2.4))
    place = np.arange(len(payments))
    error = np.abs(payments[["low", "high"]].to_numpy().T - payments["amount"].to_numpy())
    ax.barh(place, payments["amount"], xerr=error, color="#2166ac", ecolor="#555555", capsize=3)
    ax.set_yticks(place, payments["owner"])
    ax.invert_yaxis()
    ax.set_xlabel("payment out of 100,000, with 95 % intervals")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(
        Path(__file__).parent / "figures" / "credit-blocks.png", dpi=120, bbox_inches="tight"
    )


if __name__ == "__main__":
    mpl.use("Agg")
    main()
