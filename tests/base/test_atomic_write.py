"""Files are written whole or not at all."""

import errno
import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from shapley2d._base.atomic_write import atomic_write, remove_stale, why_unwritable
from shapley2d.exceptions import InputError


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_file_has_the_permissions_of_any_new_file(tmp_path, mask):
    old = os.umask(mask)
    try:
        with atomic_write(tmp_path / "a.txt") as temporary:
            temporary.write_text("done")
        (tmp_path / "b.txt").write_text("done")
    finally:
        os.umask(old)
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a.txt", "b.txt")}
    assert modes == {0o666 & ~mask}


def test_the_process_keeps_its_umask_while_files_are_written(tmp_path, monkeypatch):
    """A file that another thread makes meanwhile must not be open to everyone."""
    changed = []
    monkeypatch.setattr(os, "umask", lambda mask: changed.append(mask) or 0)
    with atomic_write(tmp_path / "a.txt") as temporary:
        temporary.write_text("done")
    assert changed == []


def test_many_writers_of_one_file_leave_one_whole_file(tmp_path):
    path = tmp_path / "a.txt"

    def write_digits(k):
        with atomic_write(path) as temporary:
            temporary.write_text(str(k) * 10_000)

    threads = [threading.Thread(target=write_digits, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = path.read_text()
    assert len(text) == 10_000 and len(set(text)) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_file_that_is_taken_for_left_behind_before_it_is_locked_is_made_again(
    tmp_path, monkeypatch
):
    from shapley2d._base import atomic_write as module

    target, real, seen = tmp_path / "a.txt", module._locks.flock, []

    def flock(handle, kind):
        if not seen:  # another writer looks around between the making of the file and its lock
            seen.append(names(tmp_path))
            module.remove_stale(target)
        return real(handle, kind)

    monkeypatch.setattr(module._locks, "flock", flock)
    with module.atomic_write(target) as temporary:
        temporary.write_text("done")
    assert len(seen[0]) == 1
    assert names(tmp_path) == ["a.txt"] and target.read_text() == "done"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write(path, text):
    with atomic_write(path) as temporary:
        temporary.write_text(text)


def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "a.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    for text in ("new", "newer"):  # at first the file is not there yet
        write(link, text)
        assert link.is_symlink() and target.read_text() == text
    assert names(tmp_path / "there") == ["a.txt"]
    around = tmp_path / "around"
    around.symlink_to(around)
    assert why_unwritable(around) == "it is a link that leads to itself, choose another name"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe, read = tmp_path / "pipe.txt", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write(pipe, "x" * 200_000)  # more than a pipe holds
    reader.join()
    assert read == ["x" * 200_000]
    assert stat.S_ISFIFO(pipe.lstat().st_mode) and names(tmp_path) == ["pipe.txt"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_device_is_written_to_and_not_replaced(tmp_path):
    link = tmp_path / "full.txt"
    link.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        write(link, "x")
    assert Path("/dev/full").is_char_device() and link.is_symlink()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with pytest.raises(InputError, match="neither a file nor a pipe"):
            write(tmp_path / "s", "x")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x" * 240 + ".txt", ""),
        ("x" * 300, "the name is too long, choose a shorter one"),
        ("nowhere/a.txt", "the folder {}/nowhere does not exist, make it first"),
        (".", "it is a folder, name a file in it"),
    ],
)
def test_what_cannot_be_written_is_known_beforehand(tmp_path, name, message):
    assert why_unwritable(tmp_path / name) == message.format(tmp_path)
    assert names(tmp_path) == []
    if message:
        with pytest.raises(InputError, match=message.format(tmp_path)):
            write(tmp_path / name, "x")
    else:
        write(tmp_path / name, "x")  # a temporary name of the usual kind would be too long
        assert (tmp_path / name).read_text() == "x"


def test_a_full_disk_and_a_read_only_one_are_known_beforehand(tmp_path, monkeypatch):
    for number, message in (
        (errno.ENOSPC, "the disk is full"),
        (errno.EROFS, "cannot be written to"),
        (errno.EIO, "Input/output error"),
    ):

        def failing(*_, number=number, **__):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr("shapley2d._base.atomic_write.os.open", failing)
        assert message in why_unwritable(tmp_path / "a.txt")


def test_only_what_killed_processes_left_for_this_file_is_removed(tmp_path):
    own, others = (
        ".a.txt.0123abcd.part",
        [".a.txt.more.0123abcd.part", ".b.txt.0123abcd.part", ".a.txt.mine.part"],
    )
    for name in (own, *others):
        (tmp_path / name).write_text("x")
    with atomic_write(
        tmp_path / "a.txt"
    ) as living:  # another process may look while this one writes
        living.write_text("done")
        remove_stale(tmp_path / "a.txt")
        assert living.exists() and not (tmp_path / own).exists()
    assert names(tmp_path) == sorted([*others, "a.txt"])
