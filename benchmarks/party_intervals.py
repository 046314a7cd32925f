"""How often intervals of known parties hold the truth: other validation rows, other seeds.

Three owners of 40 rows each; a forest of 5 trees judges. The truth is the mean of 20 seeds on
20,000 validation rows. Each draw has validation rows and a seed of its own; printed is the share of
draws whose 95 % interval holds the truth, for values and for payments.

    python benchmarks/party_intervals.py [draws] [validation rows]
"""

import sys
import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from shapley2d import MonteCarlo, value_blocks


def population(n, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + random.normal(0, 0.7, n) > 0).astype(int)
    return X, y


def valued(train, valid, n_parts, seed):
    return value_blocks(
        *train,
        *valid,
        rows=np.repeat(["A", "B", "C"], 40),
        method=MonteCarlo(RandomForestClassifier(5)),
        valid_parts=n_parts,
        random_state=seed,
        progress=False,
    )


def main(draws, n_valid):
    warnings.simplefilter("ignore")
    train = population(120, 0)
    truth = valued(train, population(20_000, 1), 20, 1)
    amounts = truth.payments(100_000)["amount"].to_numpy()
    values = truth.owners["value"].to_numpy()
    in_value, in_amount, widths = [], [], []
    for draw in range(draws):
        v = valued(train, population(n_valid, 100 + draw), 10, 100 + draw)
        paid, reach = v.payments(100_000), v._payee_errors.reach
        in_value.append(np.abs(v.owners["value"] - values) <= reach)
        in_amount.append((paid["low"] <= amounts) & (amounts <= paid["high"]))
        widths.append((paid["high"] - paid["low"]).mean())
    print(f"{draws} draws of {n_valid} validation rows, three owners")
    print(f"values inside: {np.mean(in_value):.3f}; payments inside: {np.mean(in_amount):.3f}")
    print(f"mean width of a payment's interval, of 100,000: {np.mean(widths):,.0f}")


if __name__ == "__main__":
    main(*(int(one) for one in (sys.argv[1:] + ["60", "200"][len(sys.argv) - 1 :])))
