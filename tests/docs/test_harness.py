"""Negative controls of the harness: pages that must fail."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from tests.docs import reader
from tests.docs.pages import BadPage, commands, read_page
from tests.docs.reader import NotAsPrinted, follow, matches
from tests.support.environments import CLIENT, SERVICE, SERVING, Needs, hidden

slow = pytest.mark.slow  # starts processes

NEEDS = "This page needs: `pip install .`"


def page(folder: Path, *parts: str) -> Path:
    path = folder / "made-up.md"
    path.write_text("\n\n".join(("# Made up", *parts)) + "\n", encoding="utf-8")
    return path


def console(*lines: str) -> str:
    return "\n".join(("```console", *lines, "```"))


def python(*lines: str) -> str:
    return "\n".join(("```python", *lines, "```"))


def try_out(folder: Path, *parts: str, needs: str = NEEDS, **adapted: str) -> None:
    here = folder / "reader"
    here.mkdir()
    instead = {name.replace("_", " "): text for name, text in adapted.items()}
    follow(read_page(page(folder, needs, *parts)), here, instead)


@slow
def test_a_page_that_does_what_it_says_passes(tmp_path: Path) -> None:
    try_out(
        tmp_path,
        console(
            "$ printf '%s\\n' one two \\",
            "    three",
            "one",
            "...",
            "three",
            "$ PLACE=here",
            "$ mkdir $PLACE && cd $PLACE",
            "$ python -c 'import affinity_bandits'",
        ),
        python("import os", "", "place = os.environ['PLACE'], os.getcwd()[-4:]"),
        python("print(*place)", "# here here"),
        "Save this as `one.toml`:\n\n```toml\nx = 1\n```",
        console("$ cat one.toml", "x = 1"),
        "Save this as `two.py`:\n\n" + python("print('imported')"),
        python("import two", "# imported"),
        python("print('twice')"),
        "```text\ntwice\n```",
    )


BROKEN = {
    "a command that fails": (console("$ affinity simulat"), "ends with status 2"),
    "a command that fails in a pipe": (console("$ false | cat"), "ends with status 1"),
    "other output": (console("$ echo one", "two"), "prints something else"),
    "more output than shown": (console("$ printf 'a\\nb\\n'", "a"), "prints something else"),
    "no output where some is shown": (console("$ true", "a"), "prints something else"),
    "an extra that was not named": (
        console("$ affinity simulate --means 0.4,0.6 --horizon 10 --replicates 1 --plot p.png"),
        r"\.\[plot\]",
    ),
    "a package that was not named": (python("import matplotlib"), "No module named 'matplotlib'"),
    "more to install": (console('$ pip install ".[plot]"'), "did not say"),
    "a name that nobody made": (python("print(nowhere)"), "NameError"),
    "other output of Python": (python("print(1)", "# 2"), "prints something else"),
    "other output below Python": (
        python("print(1)") + "\n\n```text\n2\n```",
        "prints something else",
    ),
    "an example that only compiles with annotations left alone": (
        python(
            "from typing import NamedTuple",
            "",
            "class State(NamedTuple):",
            '    pulls: "numpy array of whole numbers"',
        ),
        "Forward reference must be an expression",
    ),
    "a server that does not stay up": (
        "<!-- stays up: it serves -->\n" + console("$ echo up"),
        "does not stay up",
    ),
}


@slow
@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_page_fails(broken: str, tmp_path: Path) -> None:
    text, said = BROKEN[broken]
    with pytest.raises(NotAsPrinted, match=said):
        try_out(tmp_path, text)


@slow
def test_a_command_that_hangs_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "PATIENCE", 1.0)
    with pytest.raises(NotAsPrinted, match="is not over"):
        try_out(tmp_path, console("$ sleep 1000"))


@slow
def test_a_server_is_up_for_what_follows_and_gone_in_the_end(tmp_path: Path) -> None:
    serve = "from http.server import *; s = HTTPServer(('127.0.0.1', 0), SimpleHTTPRequestHandler)"
    tell = "print(s.server_port, file=open('port', 'w')); print('up', flush=True)"
    (tmp_path / "serve.py").write_text(f"{serve}; {tell}; s.serve_forever()", encoding="utf-8")
    try_out(
        tmp_path,
        "<!-- stays up: it serves -->\n" + console("$ python SERVER"),
        console("$ curl --silent --fail http://127.0.0.1:$(cat port)/port > got", "$ test -s got"),
        console(f"$ cp port {tmp_path}/port"),
        SERVER=str(tmp_path / "serve.py"),
    )
    port = (tmp_path / "port").read_text().strip()
    until = time.monotonic() + 30
    while time.monotonic() < until:
        answer = subprocess.run(["curl", "--silent", f"http://127.0.0.1:{port}/"], check=False)
        if answer.returncode != 0:
            return
    pytest.fail("the server is still there")


def test_what_is_not_named_is_hidden() -> None:
    assert {"matplotlib", "pyarrow", "httpx", "pytest", "yaml"} <= set(hidden(Needs()))
    assert "numpy" not in hidden(Needs())
    assert not {"matplotlib", "pyarrow"} & set(hidden(Needs(("audit",))))
    assert {"affinity_bandits_client", "affinity_bandits_service", "asyncpg", "httpx2"} <= set(
        hidden(Needs())
    )
    assert not {"affinity_bandits_service", "asyncpg"} & set(hidden(SERVING))
    assert "pyarrow" in hidden(SERVING)
    assert "pyarrow" not in hidden(Needs((), (CLIENT, f"{SERVICE}[archive]")))


UNREADABLE = {
    "nothing says what is needed": (console("$ true"), "does not say what it needs"),
    "it is said twice": (f"{NEEDS}\n\n{NEEDS}\n", "2 times"),
    "quotes that cmd.exe does not know": ("This page needs: `pip install '.[plot]'`", "cmd.exe"),
    "another name for the shell": (f"{NEEDS}\n\n```bash\ntrue\n```", "would not be run"),
    "TypeScript without a file": (f"{NEEDS}\n\n```typescript\n1;\n```", "would not be run"),
    "commands in a block of text": (f"{NEEDS}\n\n```text\n$ true\n```", "would not be run"),
    "a block without an end": (f"{NEEDS}\n\n```console\n$ true", "does not end"),
    "an address to install from": (
        "This page needs: `pip install https://example.org/x.whl`",
        "neither a package of ours",
    ),
}


@pytest.mark.parametrize("unreadable", UNREADABLE)
def test_a_page_that_would_hide_something_is_refused(unreadable: str, tmp_path: Path) -> None:
    text, said = UNREADABLE[unreadable]
    with pytest.raises(BadPage, match=said):
        read_page(page(tmp_path, text))


def test_a_command_goes_on_to_the_end_of_its_quotation(tmp_path: Path) -> None:
    made = read_page(page(tmp_path, NEEDS, console("$ echo 'a", "b'", "a", "b", "$ true # it's")))
    first, second = commands(made.blocks[0])
    assert (first.text, first.shown) == ("echo 'a\nb'", "a\nb")
    assert (second.text, second.shown) == ("true # it's", None)


def test_an_exception_has_a_reason_and_is_listed(tmp_path: Path) -> None:
    text = "<!-- not run: it would\ncost money -->\n" + console("$ buy")
    made = read_page(page(tmp_path, NEEDS, text))
    assert made.exceptions == ["made-up:8: it would cost money"]
    follow(made, tmp_path)


def test_three_dots_stand_for_anything_and_nothing_else_does() -> None:
    assert matches("a ... z", "a b\nc z")
    assert matches("a\n...", "a\nb\nc")
    assert not matches("a.c", "abc")
    assert not matches("a", "a\nb")
    assert matches("a  \n", "a")
