"""The work of a valuation by nearest neighbours in numbered pieces, kept in a file and done on a cluster.

With sampled columns a piece is a block of column coalitions, whose row values do not depend on what
is evaluated beside them. With all columns it is a chunk of validation rows, and chunks are added up
in their order; likewise where every chunk has column coalitions of its own. So a run that was
killed and goes on, or that a cluster did, has the same bits as any other.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from shapley2d._base.in_threads import map_in_threads
from shapley2d._estimation.workers import ordered_results
from shapley2d._knn.columns.chunk_design import ChunkLines
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from numpy.typing import NDArray

    from shapley2d._estimation.checkpoint import Checkpoint, Saved
    from shapley2d._knn.columns.chunk_design import ChunkDesign
    from shapley2d._knn.row_values import RowValues
    from shapley2d._methods.knn.chunk_sums import ChunkSums
    from shapley2d._methods.knn.stream_sums import StreamSums

    Phi = Callable[[NDArray[np.bool_]], NDArray[np.float64]]
    Chunks = Sequence[tuple[int, NDArray[np.intp]]]

BLOCK = 16
"""Coalitions of a piece here, between two looks at whether to write a file."""

CLUSTER_BLOCK = 4
"""Coalitions of a piece on a cluster."""

_LINES, _COALITIONS, _SUMS, _PLAN = "lines", "coalitions", "sums", "plan"


class ChunkWork(Protocol):
    """Numbered chunks of validation rows that have coalitions of their own."""

    def __call__(self, number: int) -> NDArray[np.float64]:
        """The design's weights times the row values of a chunk."""
        ...

    def lines(self, number: int) -> ChunkLines:
        """The same, where this process asks."""
        ...

    def design(self, number: int) -> ChunkDesign:
        """Its coalitions and weights."""
        ...

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is not this machine's processor that works."""
        ...


class Keeper:
    """What is done of a run, in a checkpoint if there is one.

    Parameters
    ----------
    checkpoint : Checkpoint, optional
    cluster : str or distributed.Client, optional
        Where to work instead of here.
    """

    def __init__(self, checkpoint: Checkpoint | None, cluster: Any = None) -> None:
        self._checkpoint, self._cluster = checkpoint, cluster
        self._known: dict[bytes, NDArray[np.float64]] = {}
        self._saved: Saved | None = None
        self._new = 0
        self.resumed_at = 0
        if checkpoint is not None:
            self._saved = checkpoint.load(_check)

    @property
    def is_plain(self) -> bool:
        """Whether nothing is kept, and all is done here."""
        return self._checkpoint is None and self._cluster is None

    @property
    def has_chunks(self) -> bool:
        """Whether an earlier run has come to all coalitions of columns."""
        return self._saved is not None and _SUMS in self._saved.arrays

    @property
    def has_lines(self) -> bool:
        """Whether an earlier run has kept row values."""
        return self._saved is not None and _LINES in self._saved.arrays

    def keep_lines(self, phi: Phi, n_rows: int) -> Phi:
        """Row values by column coalition that look up what an earlier run has evaluated, and keep what is new."""
        if self._saved is not None and _LINES in self._saved.arrays:
            masks, lines = self._saved.arrays[_COALITIONS] > 0, self._saved.arrays[_LINES]
            if lines.shape[1] == n_rows:
                self._known = {
                    mask.tobytes(): line for mask, line in zip(masks, lines, strict=True)
                }
                self.resumed_at = len(lines)

        def kept(coalitions: NDArray[np.bool_]) -> NDArray[np.float64]:
            coalitions = np.ascontiguousarray(coalitions, dtype=np.bool_)
            missing = [
                k
                for k, mask in enumerate(coalitions)
                if not self._keeps or mask.tobytes() not in self._known
            ]
            values = np.empty((len(coalitions), n_rows))
            size = BLOCK if self._cluster is None else CLUSTER_BLOCK
            blocks = [missing[start : start + size] for start in range(0, len(missing), size)]
            results = self._evaluate(phi, [coalitions[block] for block in blocks])
            try:
                for block, lines in zip(blocks, results, strict=True):
                    values[block] = lines
                    self._note(coalitions[block], lines)
            finally:
                results.close()
            for k in set(range(len(coalitions))).difference(missing):
                values[k] = self._known[coalitions[k].tobytes()]
            return values

        return kept

    def _evaluate(
        self, phi: Phi, blocks: list[NDArray[np.bool_]]
    ) -> Generator[NDArray[np.float64], None, None]:
        if self._cluster is None:
            for block in blocks:
                yield phi(block)
        elif blocks:
            yield from ordered_results(
                LinesWork(phi, blocks), 0, len(blocks), cluster=self._cluster
            )

    @property
    def _keeps(self) -> bool:
        return self._checkpoint is not None

    def _note(self, coalitions: NDArray[np.bool_], lines: NDArray[np.float64]) -> None:
        if self._checkpoint is None:
            return
        self._known.update(
            (mask.tobytes(), line) for mask, line in zip(coalitions, lines, strict=True)
        )
        self._new += len(lines)
        if self._checkpoint.due():
            self.save_lines()

    def save_lines(self) -> None:
        """Write what is new of the lines."""
        if self._checkpoint is None or not self._new:
            return
        masks = np.array(
            [np.frombuffer(mask, dtype=np.bool_) for mask in self._known], dtype=np.float64
        )
        arrays = {_COALITIONS: masks, _LINES: np.stack(list(self._known.values()))}
        self._checkpoint.save(len(masks), arrays)
        self._new = 0

    def walk(
        self,
        parts: list[RowValues],
        chunks: Chunks,
        weights: tuple[NDArray[np.float64], NDArray[np.float64]],
        sums: list[ChunkSums],
    ) -> Generator[int, None, None]:
        """Add the chunks up, and yield how many are done after each; begin where an earlier run has ended."""
        self._known.clear()
        done = 0
        if self._saved is not None and _SUMS in self._saved.arrays:
            _restore_all(sums, self._saved, len(chunks))
            done = self.resumed_at = self._saved.count
            yield done
        work = WalkWork(parts, chunks, weights)
        started = done
        results = (
            (work(number) for number in range(done, len(chunks)))
            if self._cluster is None
            else ordered_results(work, done, len(chunks), cluster=self._cluster)
        )
        try:
            for mean in results:
                k, chunk = chunks[done]
                sums[k].add(mean, chunk.size)
                done += 1
                if self._checkpoint is not None and self._checkpoint.due():
                    self._checkpoint.save(done, {_SUMS: _all_states(sums)})
                    started = done
                yield done
        finally:
            results.close()
            if self._checkpoint is not None and done > started:
                self._checkpoint.save(done, {_SUMS: _all_states(sums)})

    @property
    def saved_plan(self) -> NDArray[np.float64] | None:
        """What an earlier run with coalitions of its own for every chunk has planned."""
        return None if self._saved is None else self._saved.arrays.get(_PLAN)

    def forget_stream(self) -> None:
        """Leave what such a run has done, because it was asked something else."""
        if self.saved_plan is not None:
            self._saved = None

    def restore_stream(self, sums: Sequence[StreamSums], plan: list[int]) -> int:
        """Chunks that such a run has added up, if it had the same plan."""
        saved = self.saved_plan
        if self._saved is None or saved is None or saved[3:5].tolist() != plan:
            return 0
        sizes = np.array(
            [[array.size for array in part.state()] for part in sums]
        )  # by split and array
        found = [self._saved.arrays.get(_name(i)) for i in range(sizes.shape[1])]
        known = [
            array
            for array, size in zip(found, sizes.sum(axis=0), strict=True)
            if array is not None and array.size == size
        ]
        if len(known) < len(found):
            raise _does_not_fit()
        cut = [np.split(array.ravel(), np.cumsum(sizes[:-1, i])) for i, array in enumerate(known)]
        for k, part in enumerate(sums):
            part.restore([pieces[k] for pieces in cut])
        if sum(part.chunks for part in sums) != self._saved.count:
            raise _does_not_fit()
        self.resumed_at = self._saved.count
        return self._saved.count

    def stream(
        self,
        work: ChunkWork,
        chunks: Chunks,
        numbers: tuple[int, int],
        sums: Sequence[StreamSums],
        plan: Callable[[], NDArray[np.float64]],
    ) -> Generator[int, None, None]:
        """Add chunks with coalitions of their own up, from one number to another, and yield how many are done.

        Where another machine or a GPU has the work, this one adds up meanwhile.
        """
        done, stop = numbers
        results: Generator[ChunkLines | NDArray[np.float64], None, None]
        if self._cluster is not None:
            results = ordered_results(work, done, stop, cluster=self._cluster)
        elif work.is_elsewhere:
            results = map_in_threads(work.lines, range(done, stop), 1)
        else:
            results = (work.lines(number) for number in range(done, stop))
        started = done
        try:
            for found in results:
                k, chunk = chunks[done % len(chunks)]
                design = work.design(done)
                lines = found if isinstance(found, ChunkLines) else ChunkLines.split(found, design)
                _whole(partial(sums[k].add, lines, design, chunk.size))
                del found, lines  # while others look at the sums
                done += 1
                yield done
                if self._checkpoint is not None and self._checkpoint.due():
                    self._save_stream(done, sums, plan())
                    started = done
        finally:
            results.close()
            done = sum(part.chunks for part in sums)
            if self._checkpoint is not None and done > started:
                self._save_stream(done, sums, plan())

    def _save_stream(
        self, done: int, sums: Sequence[StreamSums], plan: NDArray[np.float64]
    ) -> None:
        assert self._checkpoint is not None
        states = zip(
            *(part.state() for part in sums), strict=True
        )  # a file has few arrays, however many splits
        arrays = {
            _name(i): of_splits[0]
            if len(of_splits) == 1
            else np.concatenate([one.ravel() for one in of_splits])
            for i, of_splits in enumerate(states)
        }
        self._checkpoint.save(done, {_PLAN: plan, **arrays})


def _name(i: int) -> str:
    return f"array {i}"


def _whole(task: Callable[[], None]) -> None:
    """Do something in full, although Ctrl-C may come meanwhile: that is raised when it is done."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(task).result()


class MeanValues:
    """Row values by column coalition, the mean over the splits; nothing else, so that a cluster gets no more.

    Parameters
    ----------
    parts : list of RowValues
        One per split.
    rows : list of ndarray
        The rows of the table that are in each split; the others get 0.
    n_rows : int
    empty_is_zero : bool
        Whether no columns are worth 0.
    """

    def __init__(
        self,
        parts: list[RowValues],
        rows: list[NDArray[np.intp]],
        n_rows: int,
        *,
        empty_is_zero: bool,
    ) -> None:
        self._parts, self._rows, self._n_rows = parts, rows, n_rows
        self._empty_is_zero = empty_is_zero

    def __call__(self, coalitions: NDArray[np.bool_]) -> NDArray[np.float64]:
        if len(self._parts) == 1 and np.array_equal(self._rows[0], np.arange(self._n_rows)):
            mean = self._parts[0].values(coalitions)
        else:
            mean = np.zeros((len(coalitions), self._n_rows))
            for part, rows in zip(self._parts, self._rows, strict=True):
                mean[:, rows] += part.values(coalitions) / len(self._parts)
        if self._empty_is_zero:
            mean[~coalitions.any(axis=1)] = 0.0
        return mean


class LinesWork:
    """Row values of numbered blocks of coalitions."""

    def __init__(self, phi: Phi, blocks: list[NDArray[np.bool_]]) -> None:
        self._phi, self._blocks = phi, blocks

    def __call__(self, number: int) -> NDArray[np.float64]:
        return self._phi(self._blocks[number])


class WalkWork:
    """Values of all column coalitions for numbered chunks of validation rows."""

    def __init__(
        self,
        parts: list[RowValues],
        chunks: Chunks,
        weights: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> None:
        self._parts, self._chunks, self._weights = parts, chunks, weights

    def __call__(self, number: int) -> NDArray[np.float64]:
        k, chunk = self._chunks[number]
        return self._parts[k].walk(*self._weights, valid=chunk)


def _check(saved: Saved) -> None:
    arrays = saved.arrays
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise ValueError("not all of its numbers are finite")
    if _PLAN in arrays:
        return
    if _SUMS in arrays:
        if arrays[_SUMS].ndim != 1:
            raise ValueError("its sums are not a list of numbers")
        return
    lines, masks = arrays.get(_LINES), arrays.get(_COALITIONS)
    if lines is None or masks is None or lines.ndim != 2 or masks.ndim != 2:
        raise ValueError("it has neither sums nor row values")
    if not len(lines) == len(masks) == saved.count:
        raise ValueError("its row values do not fit its count")


def _all_states(sums: list[ChunkSums]) -> NDArray[np.float64]:
    return np.concatenate([part.state() for part in sums])


def _restore_all(sums: list[ChunkSums], saved: Saved, n_chunks: int) -> None:
    state, sizes = saved.arrays[_SUMS], [part.state().size for part in sums]
    if state.size == sum(sizes) and saved.count <= n_chunks:
        for part, size in zip(sums, sizes, strict=True):
            part.restore(state[:size])
            state = state[size:]
        if sum(part.chunks for part in sums) == saved.count:
            return
    raise _does_not_fit()


def _does_not_fit() -> InputError:
    return InputError(
        Setting("checkpoint"), " does not fit this run: delete the file to start again"
    )
