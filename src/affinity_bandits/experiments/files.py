"""The file operations of a store, on a local disk or on any filesystem that pyarrow supports.

Names are paths relative to the store's root, with forward slashes. `write` makes a file appear
whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from affinity_bandits.errors import InvalidInput, MissingExtra

_HALF_A_URI = re.compile(r"[a-z][a-z0-9+.-]+:/")
TEMPORARY = ".tmp-"
"""What names of unfinished files begin with."""
STALE_SECONDS = 24 * 3600.0


class Files(Protocol):
    """The file operations that a store needs."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the finished files in a folder, none if there is no such folder."""

    def folders(self, folder: str) -> Iterator[str]:
        """Yield the names of the folders in a folder."""

    def read(self, name: str) -> bytes:
        """Return a file's content."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all."""

    def move(self, name: str, to: str) -> None:
        """Move a file; do nothing if another process has moved it."""

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""


class LocalFiles:
    """Files in a directory on a local disk.

    A file is written under a temporary name, synced, renamed, and its directory synced: after a
    crash it is there with its whole content, or it is not there.

    Args:
        root: the directory; it is made if need be.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def names(self, folder: str) -> list[str]:
        """Return the names of the finished files in a folder, none if there is no such folder."""
        try:
            # Plain text, not a Path: a million cells are looked for at the start of a run.
            with os.scandir(f"{self.root}/{folder}") as entries:
                found = [entry for entry in entries if entry.is_file()]
        except FileNotFoundError:
            return []
        for entry in found:
            if entry.name.startswith(TEMPORARY):
                _remove_if_stale(entry)
        return sorted(entry.name for entry in found if not entry.name.startswith(TEMPORARY))

    def folders(self, folder: str) -> Iterator[str]:
        """Yield the names of the folders in a folder."""
        try:
            with os.scandir(self.root / folder) as entries:
                yield from sorted(entry.name for entry in entries if entry.is_dir())
        except FileNotFoundError:
            return

    def read(self, name: str) -> bytes:
        """Return a file's content."""
        return (self.root / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all."""
        target = self.root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f"{TEMPORARY}{uuid.uuid4().hex}")
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                temporary.unlink()
        _sync_directory(target.parent)

    def move(self, name: str, to: str) -> None:
        """Move a file; do nothing if another process has moved it."""
        target = self.root / to
        target.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            (self.root / name).replace(target)

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        with contextlib.suppress(FileNotFoundError):
            (self.root / name).unlink()


class ArrowFiles:
    """Files on a filesystem that pyarrow supports: S3, Google Cloud, Azure, HDFS, ...

    An object store shows an object when its upload is complete, so one upload is one write.

    Args:
        filesystem: of pyarrow.
        root: the folder, e.g. "bucket/sweeps/first".
    """

    def __init__(self, filesystem: Any, root: str) -> None:
        self.filesystem = filesystem
        self.root = root.rstrip("/")

    def names(self, folder: str) -> list[str]:
        """Return the names of the finished files in a folder, none if there is no such folder."""
        return sorted(info.base_name for info in self._infos(folder) if info.is_file)

    def folders(self, folder: str) -> Iterator[str]:
        """Yield the names of the folders in a folder."""
        yield from sorted(info.base_name for info in self._infos(folder) if not info.is_file)

    def read(self, name: str) -> bytes:
        """Return a file's content."""
        with self.filesystem.open_input_stream(f"{self.root}/{name}") as stream:
            return bytes(stream.read())

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all."""
        path = f"{self.root}/{name}"
        # A no-op on object stores; others need the folder.
        self.filesystem.create_dir(path.rpartition("/")[0], recursive=True)
        with self.filesystem.open_output_stream(path) as stream:
            stream.write(content)

    def move(self, name: str, to: str) -> None:
        """Move a file; do nothing if another process has moved it."""
        target = f"{self.root}/{to}"
        self.filesystem.create_dir(target.rpartition("/")[0], recursive=True)
        with contextlib.suppress(FileNotFoundError):
            self.filesystem.move(f"{self.root}/{name}", target)

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        with contextlib.suppress(FileNotFoundError):
            self.filesystem.delete_file(f"{self.root}/{name}")

    def _infos(self, folder: str) -> list[Any]:
        from pyarrow import fs

        selector = fs.FileSelector(f"{self.root}/{folder}".rstrip("/"), allow_not_found=True)
        return list(self.filesystem.get_file_info(selector))


def files_at(root: str | Path) -> Files:
    """Return the files under a path or a URI such as s3://bucket/sweeps/first."""
    text = str(root)
    if "://" not in text:
        if _HALF_A_URI.match(text):
            raise InvalidInput("store", "a directory, or a URI with ://", text)
        return LocalFiles(Path(text))
    try:
        from pyarrow import fs
    except ImportError as error:
        raise MissingExtra("pyarrow", "experiments") from error
    try:
        filesystem, path = fs.FileSystem.from_uri(text)
    except (ValueError, OSError) as error:
        raise InvalidInput("store", "a directory or a URI that pyarrow knows", text) from error
    if isinstance(filesystem, fs.LocalFileSystem):
        return LocalFiles(Path(path))
    return ArrowFiles(filesystem, path)


def _remove_if_stale(entry: os.DirEntry[str]) -> None:
    """Remove the temporary file of a writer that was killed; a live writer's is younger."""
    with contextlib.suppress(FileNotFoundError):
        if time.time() - entry.stat().st_mtime > STALE_SECONDS:
            Path(entry.path).unlink()


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
