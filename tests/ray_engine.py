"""Ray and MPI compute the same draws: the same bits. Run by ``make test-ray``, in an environment of its own."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import ray

from shapley2d import KNN, Forest, MonteCarlo, value_cells, value_game
from shapley2d.exceptions import InputError

PAGE = Path(__file__).parents[1] / "docs" / "cluster.md"
OPTIONS = {"method": MonteCarlo(max_draws=60, tolerance=0), "progress": False}
random = np.random.default_rng(0)
X, X_VALID = random.normal(size=(60, 6)).round(1), random.normal(size=(24, 6)).round(1)
Y, Y_VALID = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int), (X_VALID[:, 0] > 0).astype(int)
METHODS = {
    "knn sampled": KNN(subsets="sampled", n_subsets=40),
    "knn exact": KNN(subsets="all"),
    "mc": MonteCarlo("gaussian_nb", max_draws=8, tolerance=0),
    "forest": Forest(max_draws=24, tolerance=0),
}


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def pool():
    """The pool of the page on clusters."""
    (code,) = re.findall(
        r"```py\n(import ray\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    names = {}
    exec(code, names)
    return names["RayPool"]()


def game_noting_processes(folder, wait=0.0):
    def utility(S, F):
        import os
        import time

        time.sleep(wait)
        (folder / str(os.getpid())).touch()
        return float(np.sqrt(S.sum() * F[0] + S[0]) + 0.1 * F.sum())

    return utility


def bits(found):
    names = ("values", "stderr", "row_stderr", "column_stderr")
    return [getattr(found, name).tobytes() for name in names]


def plain_game(tmp_path):
    (tmp_path / "plain").mkdir()
    return value_game(game_noting_processes(tmp_path / "plain"), 8, 3, **OPTIONS)


def processes(folder):
    return {int(path.name) for path in folder.iterdir()}


@pytest.mark.parametrize("kind", METHODS)
def test_a_pool(kind, pool, tmp_path):
    data, options = (X, Y, X_VALID, Y_VALID), {"method": METHODS[kind], "progress": False}
    plain = bits(value_cells(*data, **options))
    path = tmp_path / "run.npz"
    assert bits(value_cells(*data, cluster=pool, checkpoint=path, **options)) == plain
    assert bits(value_cells(*data, checkpoint=path, **options)) == plain


def test_a_killed_worker(pool, tmp_path):
    folder = tmp_path / "ray"
    folder.mkdir()

    def kill():
        while not processes(folder):
            pass
        os.kill(next(iter(processes(folder))), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    found = value_game(game_noting_processes(folder, wait=0.002), 8, 3, cluster=pool, **OPTIONS)
    killer.join()
    assert len(processes(folder)) > 1 and os.getpid() not in processes(folder)
    assert bits(found) == bits(plain_game(tmp_path))


def test_a_pool_of_actors_has_another_submit():
    with pytest.raises(
        InputError, match="has a submit, but not one that takes a function with its arguments"
    ):
        value_game(lambda S, F: S.sum(), 3, 2, cluster=ray.util.ActorPool([]), **OPTIONS)


SCRIPT = """
import sys
import numpy as np
from mpi4py.futures import MPIPoolExecutor
from shapley2d import KNN, value_cells

if __name__ == "__main__":
    data = np.load(sys.argv[1])
    with MPIPoolExecutor() as pool:
        found = value_cells(
            *(data[name] for name in ("X", "y", "X_valid", "y_valid")),
            method=KNN(subsets="sampled", n_subsets=40), progress=False, cluster=pool,
        )
    np.save(sys.argv[2], found.values)
"""


def test_a_pool_of_mpi(tmp_path):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    start = shutil.which(
        "mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    if start is None:
        pytest.skip("there is no mpiexec")
    np.savez(tmp_path / "data.npz", X=X, y=Y, X_valid=X_VALID, y_valid=Y_VALID)
    (tmp_path / "run.py").write_text(SCRIPT)
    call = [start, "-n", "3", sys.executable, "-m", "mpi4py.futures", tmp_path / "run.py"]
    subprocess.run([*call, tmp_path / "data.npz", tmp_path / "found.npy"], check=True, timeout=300)
    plain = value_cells(X, Y, X_VALID, Y_VALID, method=METHODS["knn sampled"], progress=False)
    assert np.load(tmp_path / "found.npy").tobytes() == plain.values.tobytes()
