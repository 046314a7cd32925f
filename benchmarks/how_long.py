"""What each question takes by method and size of the table: the first table of docs/choosing-a-method.md.

Run: taskset -c 0,1 python benchmarks/how_long.py [ROWS ...] [WORDS OF A QUESTION ...]

Every line is a fresh process with compiled code at hand, on a made-up table of 10 columns, two of them text, and two
classes, without a validation table where the question does not name one. Seconds by the wall clock and of all
threads together; a busy machine changes the second least.
"""

from __future__ import annotations

import json
import subprocess
import sys

QUESTIONS = {
    "which entries are wrong": "inspect_cells(X, y)",
    "what cells are worth: forest": 'value_cells(X, y, method="forest")',
    "what cells are worth: a fitted forest": "value_cells(X, y, method=Forest(model), cv=5)",
    "what cells are worth: knn": 'value_cells(X, y, method="knn")',
    "what cells are worth: knn in five minutes": 'value_cells(X, y, method="knn", max_time="5m")',
    "what cells are worth: knn, 32 validation rows": "value_cells(X[32:], y[32:], X[:32], y[:32])",
}
LIMIT_S = 540

PROCESS = """
import json, sys, time, warnings
import numpy as np, pandas as pd
from shapley2d import Forest, inspect_cells, value_cells
warnings.simplefilter("ignore")
call, n = sys.argv[1], int(sys.argv[2])
random = np.random.default_rng(0)
X = pd.DataFrame(random.normal(size=(n, 8)).round(3), columns=list("abcdefgh"))
X["i"], X["j"] = random.choice(list("pqrs"), n), random.choice(list("uvw"), n)
y = np.where(X.a + X.b * X.c + (X.i == "p") + random.normal(size=n) > 0.3, "yes", "no")
if "model" in call:
    from sklearn.ensemble import RandomForestClassifier
    X = X.drop(columns=["i", "j"])
    model = RandomForestClassifier(100, min_samples_leaf=5, random_state=0, n_jobs=-1).fit(X, y)
begin, wall = time.process_time(), time.perf_counter()
eval(call)
print(json.dumps([time.process_time() - begin, time.perf_counter() - wall]))
"""


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()] or [1_000, 24_000, 1_000_000]
    words = [word for word in sys.argv[1:] if not word.isdigit()]
    print(f"{'':48}{'rows':>10}{'wall s':>9}{'CPU s':>9}")
    for question, call in QUESTIONS.items():
        if words and not any(word in question for word in words):
            continue
        for n in sizes:
            try:
                done = subprocess.run(
                    [sys.executable, "-c", PROCESS, call, str(n)],
                    capture_output=True, text=True, timeout=LIMIT_S, check=True,
                )  # fmt: skip
                cpu, wall = json.loads(done.stdout)
                shown = f"{wall:9.1f}{cpu:9.1f}"
            except subprocess.TimeoutExpired:
                shown = f"  more than {LIMIT_S} s"
            print(f"{question:48}{n:10,}{shown}", flush=True)


if __name__ == "__main__":
    main()
