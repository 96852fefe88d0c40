"""Files that are complete or absent, in a directory or on an object store."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import uuid
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from affinity_bandits.base.errors import InvalidInput, need
from affinity_bandits.base.workers import in_threads

TEMPORARY = ".tmp-"
"""Prefix of unfinished files. A writer that is killed leaves one behind."""
WITHOUT_FOLDERS = ("s3", "gcs")
"""Filesystems of pyarrow where a folder is only a part of names, and making one is a request."""
DELAYED = "allow_delayed_open"
"""The option of S3 by which a small file is one request instead of three."""
AT_ONCE = 16
"""Files that are read from an object store at once."""
_HALF_A_URI = re.compile(r"[a-z][a-z0-9+.-]+:/")


class Files:
    """Files on a filesystem that pyarrow supports: S3, Google Cloud, Azure, HDFS, ...

    Names are paths relative to the root, with forward slashes. Writes are atomic: an object store
    shows an object when its upload is complete.

    Args:
        filesystem: of pyarrow.
        root: the folder, e.g. "bucket/sweeps/first".
    """

    def __init__(self, filesystem: Any, root: str) -> None:
        self.filesystem = filesystem
        self.root = root.rstrip("/")

    def names(self, folder: str) -> list[str]:
        """Return the names of the finished files in a folder, which need not exist."""
        return list(self.sizes(folder))

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the finished files in a folder, which need not exist, by name, with their sizes.

        On an object store this is one request per 1,000 files.
        """
        from pyarrow import fs

        selector = fs.FileSelector(f"{self.root}/{folder}".rstrip("/"), allow_not_found=True)
        infos = (info for info in self.filesystem.get_file_info(selector) if info.is_file)
        found = {info.base_name: info.size for info in infos}
        return {name: found[name] for name in sorted(found) if not name.startswith(TEMPORARY)}

    def read(self, name: str) -> bytes:
        with self.filesystem.open_input_stream(f"{self.root}/{name}") as stream:
            return bytes(stream.read())

    def read_each(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the content of each file, or None for one that is gone."""
        for at in range(0, len(names), AT_ONCE):
            yield from in_threads(self._read_if_there, names[at : at + AT_ONCE], AT_ONCE)

    def open(self, name: str) -> Any:
        """Return a file of pyarrow, to read parts of it."""
        return self.filesystem.open_input_file(f"{self.root}/{name}")

    def write(self, name: str, content: bytes) -> None:
        """Write a file atomically."""
        path = self._path_in_folder(name)
        with self.filesystem.open_output_stream(path) as stream:
            stream.write(content)

    def move(self, name: str, to: str) -> None:
        """Move a file, unless another process has moved it."""
        with contextlib.suppress(FileNotFoundError):
            self.filesystem.move(f"{self.root}/{name}", self._path_in_folder(to))

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        with contextlib.suppress(FileNotFoundError):
            self.filesystem.delete_file(f"{self.root}/{name}")

    def _read_if_there(self, name: str) -> bytes | None:
        try:
            return self.read(name)
        except FileNotFoundError:
            return None

    def _path_in_folder(self, name: str) -> str:
        path = f"{self.root}/{name}"
        if self.filesystem.type_name not in WITHOUT_FOLDERS:
            self.filesystem.create_dir(path.rpartition("/")[0], recursive=True)
        return path


class LocalFiles(Files):
    """Files in a directory on a local disk, which is created if needed.

    A file is written under a temporary name, synced and renamed.
    """

    def __init__(self, filesystem: Any, root: str) -> None:
        super().__init__(filesystem, str(Path(root).absolute()))
        Path(self.root).mkdir(parents=True, exist_ok=True)

    def read_each(self, names: Sequence[str]) -> Iterator[bytes | None]:
        return map(self._read_if_there, names)

    def write(self, name: str, content: bytes) -> None:
        target = Path(self.root, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f"{TEMPORARY}{uuid.uuid4().hex}")
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(target.parent)


def _sync_folder(path: Path) -> None:
    """Write a folder's entries to the disk, except on Windows, which cannot open folders."""
    if sys.platform == "win32":
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def files_at(root: str) -> Files:
    """Return the files under a path or a URI such as s3://bucket/sweeps/first."""
    need("experiments", "pyarrow")
    from pyarrow import fs

    if "://" not in root:
        if _HALF_A_URI.match(root):
            raise InvalidInput("store", "a directory, or a URI with ://", root)
        return LocalFiles(fs.LocalFileSystem(), root)
    try:
        filesystem, path = _filesystem(root)
    except (ValueError, OSError) as error:
        raise InvalidInput("store", "a directory or a URI that pyarrow knows", root) from error
    return (LocalFiles if isinstance(filesystem, fs.LocalFileSystem) else Files)(filesystem, path)


@lru_cache(maxsize=16)
def _filesystem(uri: str) -> tuple[Any, str]:
    """Return the filesystem and the path of a URI; a process keeps its connections."""
    from pyarrow import fs

    if uri.startswith("s3://") and DELAYED not in uri:
        uri += f"{'&' if '?' in uri else '?'}{DELAYED}=true"
    found: tuple[Any, str] = fs.FileSystem.from_uri(uri)
    return found


def leave_token(files: Files) -> str:
    """Write an empty file and return its name, for `sees`."""
    token = f"{TEMPORARY}{uuid.uuid4().hex}"
    files.write(token, b"")
    return token


def sees(root: str, token: str) -> bool:
    """Return whether a file is under a root, which is not created."""
    if "://" not in root and not Path(root).is_dir():
        return False
    try:
        files_at(root).read(token)
    except FileNotFoundError:
        return False
    return True
