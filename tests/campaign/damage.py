"""Files that a disk or a transfer has damaged: flipped bits, cuts, splices, zeroed blocks.

A saved valuation and a checkpoint are refused in one line, or hold what they held before; a
checkpoint may also give way to the one before it, and the run ends with the same bits. A table of
the user's has no checksum: it is refused or read, never with a traceback.

    python -m tests.campaign.damage --count 2000
"""

import os
import sys
import tempfile
import warnings
from pathlib import Path

from shapley2d._tables.reading.files import read_table
from shapley2d.exceptions import InputError

from .common import main, run_command
from .crafted import check_line
from .samples import RUNS, content, loaded, write_samples

COUNT = 2000


def damaged(good, random, other):
    """A file's bytes after an accident, and its name."""
    data = bytearray(good)
    size = len(data)
    kinds = (
        "flip,flip,flip,flips,cut,cut start,zeros,splice,other end,insert,swap,before,after,tail"
    )
    kind = kinds.split(",")[random.integers(14)]
    place = int(random.integers(size))
    length = int(random.integers(1, max(2, size // 3)))
    if kind == "flip":
        data[place] ^= 1 << int(random.integers(8))
    elif kind == "flips":
        for spot in random.integers(size, size=int(random.integers(2, 20))):
            data[spot] ^= 1 << int(random.integers(8))
    elif kind == "cut":
        del data[place:]
    elif kind == "cut start":
        del data[:length]
    elif kind == "zeros":
        data[place : place + length] = bytes(len(data[place : place + length]))
    elif kind == "splice":
        data[place : place + length] = other[place : place + length]
    elif kind == "other end":  # from any place to the end, so that it may be the whole other file
        data[place:] = other[place:]
    elif kind == "insert":
        data[place:place] = random.bytes(length)
    elif kind == "swap":
        data[:] = data[place:] + data[:place]
    elif kind == "before":
        data[:0] = other
    elif kind == "after":  # readers that start at the end find the other file
        data += other
    else:
        data += other[-length:]
    return bytes(data), kind


class Damage:
    """Cases by number."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.samples = write_samples(self.folder)
        self.contents = {path: loaded(path) for path in self.samples["valuation"]}
        self.results = {kind: plain_result(run()) for kind, run in RUNS.items()}

    def __call__(self, number, random):
        kind = ("valuation", "checkpoint", "table")[random.choice(3, p=[0.5, 0.35, 0.15])]
        paths = self.samples[kind]
        path = paths[random.integers(len(paths))]
        other = paths[random.integers(len(paths))].read_bytes()
        good = path.read_bytes()
        data, _ = damaged(good, random, other)
        if data == other:  # nothing is damaged then
            return f"{kind}s identical"
        target = self.folder / f"damaged-{path.name}"
        target.write_bytes(data)
        try:
            return f"{kind}s {getattr(self, kind)(path, target, random, data == good)}"
        finally:
            for left in self.folder.glob(f"damaged-{path.name}*"):
                left.unlink()

    def valuation(self, path, target, random, same):
        if random.random() < 0.1:
            return self.command("report", str(target), "-o", str(self.folder / "report.html"))
        try:
            found = loaded(target)
        except InputError as error:
            check_line(error)
            assert not same
            return "refused"
        assert found == self.contents[path], "other content was loaded"
        return "identical"

    def checkpoint(self, path, target, _, same):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = RUNS[path.stem](target)
            except InputError as error:
                check_line(error)
                assert not same, "a good state was there"
                return "refused"
        assert plain_result(found) == self.results[path.stem], "the run ended with other values"
        return "identical"

    def table(self, path, target, random, same):
        if random.random() < 0.3:
            return self.command(
                "cells", str(target), "-t", "label", "-k", "2", "--cv", "2", "--json"
            )
        try:
            read_table(str(target))
        except InputError as error:
            check_line(error)
            assert not same
            return "refused"
        return "read"

    def command(self, *arguments):
        """The same through the command line: exit 0 or 2, one line, no traceback."""
        return "refused" if run_command(list(arguments))[0] else "read"


def plain_result(valuation):
    """Values, errors and names; how a run came about differs once it was resumed."""
    return content(valuation).split("('info'")[0] + repr(valuation.history)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        sys.exit(main("damage", __doc__, Damage(place), COUNT))
