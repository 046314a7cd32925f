"""How long a newcomer waits: the first call ever, the first of a later process, and one more in the same process.

Run: python benchmarks/first_use.py      (a minute; close other programs)

Every line is a fresh process on a table of 200 rows and 10 columns, with numba's cache empty and
with it filled. ``import`` is ``import shapley2d``; the calls are ``value_cells(X, y)``, whose first
includes the imports that it needs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

PROCESS = """
import json, sys, time
start = time.perf_counter()
import shapley2d
seconds = {"import": time.perf_counter() - start}
import numpy as np
random = np.random.default_rng(0)
X = random.normal(size=(200, 10))
y = X[:, 0] + X[:, 1] if sys.argv[1] == "regression" else X[:, 0] + X[:, 1] > 0
call = (lambda: shapley2d.inspect_cells(X, y)) if sys.argv[1] == "inspect" else (lambda: shapley2d.value_cells(X, y))
for name in ("first call", "second call"):
    start = time.perf_counter()
    call()
    seconds[name] = time.perf_counter() - start
print(json.dumps(seconds))
"""


# a user's Python keeps what it has compiled
_ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}


def run(task: str, cache: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", PROCESS, task],
        env={**_ENVIRONMENT, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def main() -> None:
    print(f"{'':34} {'import':>8} {'first call':>11} {'second call':>12}   seconds")
    for task in ("classification", "regression", "inspect"):
        with tempfile.TemporaryDirectory() as cache:
            for name in ("nothing compiled yet", "a later process"):
                seconds = run(task, cache)
                print(
                    f"{task + ', ' + name:34.45} {seconds['import']:8.2f} {seconds['first call']:11.2f} "
                    f"{seconds['second call']:12.2f}"
                )


if __name__ == "__main__":
    main()
