"""The TypeScript client with its packages, compiled; made once for all tests."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.environments import MADE, ROOT

SOURCE = ROOT / "clients" / "typescript"
KEPT = MADE / "cache"  # the rest is removed when another wheel is tested
NPM_CACHE = KEPT / "npm"
BUILT = ("node_modules", "dist", "*.tgz")


def npm(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run npm in a folder."""
    variables = {"npm_config_cache": str(NPM_CACHE), "npm_config_loglevel": "error"}
    return subprocess.run(
        ["npm", *words],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def typescript_client() -> Path:
    """Return a copy of clients/typescript in which `npm ci` and `npm pack` were run."""
    if shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    KEPT.mkdir(parents=True, exist_ok=True)
    sources = [path for path in SOURCE.glob("*") if path.is_file()] + [*SOURCE.glob("src/*")]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(sources)))
    place = KEPT / f"typescript-{digest.hexdigest()[:16]}"
    with (KEPT / "lock-typescript").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "ready").exists():
            for old in KEPT.glob("typescript-*"):
                shutil.rmtree(old)
            shutil.copytree(SOURCE, place, ignore=shutil.ignore_patterns(*BUILT))
            if npm(place, "ci").returncode != 0:
                pytest.skip("the registry of npm cannot be reached")
            done = npm(place, "pack")
            assert done.returncode == 0, done.stdout + done.stderr
            (place / "ready").touch()
    return place
