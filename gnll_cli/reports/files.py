"""Files that are never half written, and folders that belong to one run at a time."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from gnll_cli.errors import UsageError

LOCK_NAME = ".gnll-lock"
#: Folders locked by this process: a POSIX record lock does not hold against its own process.
_held: set[Path] = set()


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[TextIO]:
    """A text stream (UTF-8) whose content becomes ``path`` when the block ends well; otherwise ``path`` stays as it
    was.

    The temporary file lies beside the target, so that the final rename is one step of the file system. A symbolic link
    is followed: the file it points to is replaced.
    """
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


class FolderLock:
    """The right to write into a report folder. Freed by ``release`` and by the end of the process, however it ends.

    A record lock (``lockf``) and not ``flock``: worker processes that outlive a killed run do not inherit it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._path = self.folder / LOCK_NAME
        self._fd = -1
        if self.folder in _held:
            raise self._refusal(os.getpid())
        while self._fd < 0:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                pid = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
                os.close(fd)
                if error.errno in (errno.EACCES, errno.EAGAIN):
                    raise self._refusal(pid or "unknown") from None
                raise
            # The run that held the lock removes the file when it ends. If that happened between our open and our
            # lock, we have locked a file that nobody else will find: try again with the one that is there now.
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(fd), os.stat(self._path)):
                    self._fd = fd
                    break
            os.close(fd)
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)
        _held.add(self.folder)

    def _refusal(self, pid: int | str) -> UsageError:
        return UsageError(
            f"another run (process {pid}) is writing its reports here",
            where=str(self.folder),
            hint="wait for it to end, or give this run a folder of its own with --report-dir",
        )

    def release(self) -> None:
        """Give the folder free; nothing happens the second time."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                self._path.unlink()
            os.close(self._fd)
            self._fd = -1
            _held.discard(self.folder)
