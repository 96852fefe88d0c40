"""Machine code that was compiled on another machine, for processes of the command `affinity`.

A pack is a folder with files of numba's cache. According to numba's manual, machines can share
such files if the names and the features of their processors agree. So a pack is compiled for a
processor whose features nearly all have, and so is everything else in a process that uses the pack:
the command sets `NUMBA_CPU_NAME` and `NUMBA_CPU_FEATURES` before it imports numba. An import of the
library never does this.

The name of a pack has everything that must agree: system, processor, Python, numba, and a digest of
the package's source, which includes kernels, compiler options and intrinsics.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import uuid
import warnings
from collections.abc import MutableMapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
SHIPPED = PACKAGE / "machine_code"
"""Where a wheel for one platform has its pack; a pure wheel and a checkout have none."""
DIGESTS = "digests.json"
VARIABLE = "AFFINITY_MACHINE_CODE"
"""Tells a process and those that it starts which pack to use; empty for none."""
COMMON = {"x86_64": "x86-64-v3", "amd64": "x86-64-v3"}
"""Names that LLVM has for what nearly all processors of a kind can do; of others, the least."""
NEEDED = {
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
    "generic": (),
}
HARMLESS = {"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS"}
_refused: list[str] = []


def pack_processor() -> dict[str, str]:
    """Return numba's variables for the processor that packs are compiled for on this machine."""
    name = COMMON.get(platform.machine().lower(), "generic")
    return {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": ""}


def missing_features() -> list[str]:
    """Return what this machine's processor lacks to run code of packs.

    Raises:
        RuntimeError: LLVM cannot tell what this processor can do.
    """
    from llvmlite.binding import get_host_cpu_features  # in llvmlite's manual; numba imports it

    features = get_host_cpu_features()
    needed = NEEDED[pack_processor()["NUMBA_CPU_NAME"]]
    return [name for name in needed if not features.get(name)]


def pack_name() -> str:
    """Return the name of the pack that fits this package, Python and machine.

    Raises:
        PackageNotFoundError: numba is not installed.
    """
    source = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        source.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0")
        source.update(path.read_bytes())
    parts = (
        *(sys.platform, platform.machine().lower(), pack_processor()["NUMBA_CPU_NAME"]),
        *(sys.implementation.cache_tag, "numba", version("numba"), source.hexdigest()[:16]),
    )
    return "-".join(map(str, parts))


def make_pack(cache: Path, folder: Path) -> Path:
    """Make a pack from the files in a directory that was numba's cache, and return its folder."""
    pack = folder / pack_name()
    pack.mkdir(parents=True)
    digests = {}
    for path in sorted(cache.rglob("*.nb[ci]")):
        data = path.read_bytes()
        (pack / path.name).write_bytes(data)
        digests[path.name] = hashlib.sha256(data).hexdigest()
    (pack / DIGESTS).write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")
    return pack


def use_pack(variables: MutableMapping[str, str] = os.environ) -> None:
    """Let this process use the pack that came with the package, if there is one that fits.

    Call it before numba is imported, and only in a process of one's own. It changes nothing if
    the user has set variables of numba that change machine code.
    """
    own = {name for name in variables if name.startswith("NUMBA_")} - HARMLESS
    if VARIABLE in variables or own or "numba" in sys.modules or not SHIPPED.is_dir():
        return
    try:
        name = pack_name()
    except PackageNotFoundError:
        return
    problem = _problem(name)
    if problem:
        _refused.append(problem)
        return
    import platformdirs

    root = variables.get("NUMBA_CACHE_DIR") or platformdirs.user_cache_dir("affinity-bandits")
    # A folder of its own: in numba's files there would be code for this processor, too.
    place = Path(root).absolute() / "machine-code" / name
    variables.update(pack_processor(), NUMBA_CACHE_DIR=str(place))
    variables[VARIABLE] = str(SHIPPED / name)


def _problem(name: str) -> str:
    """Return why no pack can be used, or an empty text."""
    try:
        if not (SHIPPED / name).is_dir():
            made = ", ".join(sorted(path.name for path in SHIPPED.iterdir())) or "nothing"
            return f"is for {made}, this is {name}"
        _read_digests(SHIPPED / name)
        lacking = missing_features()
    except (OSError, RuntimeError, ValueError) as error:
        return f"cannot be used ({error})"
    return f"needs a processor with {', '.join(lacking)}" if lacking else ""


@cache
def _read_digests(pack: Path) -> dict[str, str]:
    digests = json.loads((pack / DIGESTS).read_text(encoding="utf-8"))
    if not isinstance(digests, dict):
        raise ValueError(f"{DIGESTS} has no table")  # noqa: TRY004 - like any other wrong content
    return digests


def pack_in_use() -> Path | None:
    """Return the pack of this process, if it uses one."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def lay_code(pack: Path, name: str, place: Path) -> None:
    """Put the machine code of a kernel where numba looks for it, unless there is some.

    A file that is not what it was when the pack was made is left out, and a warning says so once.

    Args:
        pack: the folder of the pack.
        name: the kernel's qualified name, which has a digest of its code.
        place: the directory where numba keeps the kernel's files.
    """
    try:
        files = sorted(file for file in _read_digests(pack) if f".{name}-" in file)
        if not files or (place / files[-1]).exists():  # the index, which is the last to be laid
            return
        contents = {file: _read_checked(pack, file) for file in files}
    except (OSError, ValueError) as error:
        _refused.append(f"cannot be used ({error})")
        tell_refusal()
        return
    with suppress(OSError):  # then it is compiled
        for file, data in contents.items():
            part = place / f"{file}.{uuid.uuid4().hex}"
            part.write_bytes(data)
            part.replace(place / file)


def _read_checked(pack: Path, file: str) -> bytes:
    """Return the content of a file of a pack.

    Raises:
        ValueError: it is not what it was when the pack was made.
    """
    data = (pack / file).read_bytes()
    if hashlib.sha256(data).hexdigest() != _read_digests(pack)[file]:
        raise ValueError(f"{file} is damaged")
    return data


def tell_refusal() -> None:
    """Warn once that a pack cannot be used; called when something is compiled instead."""
    if _refused:
        warnings.warn(_words(_refused[0]), stacklevel=2)
        _refused.clear()


@cache
def _words(problem: str) -> str:
    return f"the machine code of the package {problem}; it is compiled here, once"
