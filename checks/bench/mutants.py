"""How many small faults in the code do the tests notice?

`python -m checks.bench.mutants --seed 1 --count 150 --out FILE` draws mutants: copies of the
package with one small change, such as `<` for `<=`, a constant off by one, a dropped statement or,
in SQL, `OR` for `AND`. Each is tested until a test fails: doctests and the fast tests of its folder
first. A test counts if it fails again by itself and passes without the mutant. FILE keeps every
result at once, so an interrupted run resumes. Percentages and survivors are printed.

Which mutants are drawn depends on the seed and on the code alone. The probability of a file is
proportional to its weight times the square root of the number of its mutants.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src", "affinity_bandits")
PLACES = {
    "client/": Path("packages", "client", "src", "affinity_bandits_client"),
    "service/": Path("packages", "service", "src", "affinity_bandits_service"),
    "": PACKAGE,
}
"""How the names of measured files begin, and the folder of the rest of the name."""
FOLDERS: Mapping[str, tuple[str, ...]] = {
    "audit": ("audit", "plots", "app", "cli", "base/errors"),
    "client/messages": ("service/http", "client", "service/core"),
    "client": ("client",),
    "experiments": ("experiments", "cli", "base/errors"),
    "model": ("model", "simulation", "contracts", "base/errors"),
    "paper": ("paper",),
    "planning": ("planning", "cli", "app", "base/errors"),
    "policies": ("policies", "contracts", "simulation", "service/core", "base/errors"),
    "service/core": ("service/core", "service/trail", "service/http", "service"),
    "service/health": ("service/health", "service/core", "service/ui"),
    "service/http": ("service/http", "client", "service"),
    "service/store": ("service/store", "service/core", "service/trail", "service/http", "service"),
    "service/trail": ("service/trail", "service/core", "service"),
    "service/webhooks": ("service/webhooks", "service/http", "service"),
    "simulation": ("simulation", "contracts", "paper", "base/errors"),
    "theory": ("theory", "paper", "research/studies", "base/errors"),
    "base/declaration.py": ("base", "cli", "app", "service/http"),
    "base/digests.py": ("base", "experiments", "simulation", "service/core"),
    "base/registry.py": ("base", "experiments", "simulation", "service/core"),
    "kernels": ("kernels", "policies", "contracts", "simulation"),
}
"""The parts of the package that compute, decide, store or promise, and the tests of each."""
WEIGHTS: Mapping[str, float] = {
    "planning": 3.0,
    "simulation/rounds.py": 3.0,
    "policies/members.py": 10.0,
    "service/core/scores.py": 10.0,
    "service/store/sql/ask_function.sql": 10.0,
}
"""Drawn more often, since their tests were measured least."""
PATIENCE = 900.0
"""Seconds without a finished test after which tests are taken to hang, which counts as noticed."""
WORDS_ONLY = {"__repr__", "__str__", "_repr_html_", "describe", "examples", "judging", "explain"}
"""Functions that return sentences; tests of words are not what is measured."""
OPPOSITE: Mapping[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
TWINS = {"min": "max", "max": "min", "any": "all", "all": "any", "ceil": "floor", "floor": "ceil"}
SQL = (
    (r"<=", "<"),
    (r">=", ">"),
    (r"(?<![<>=-])<(?![=>-])", "<="),
    (r"(?<![<>=-])>(?![=>])", ">="),
    (r"<>", "="),
    (r"\bAND\b", "OR"),
    (r"\bOR\b", "AND"),
    (r"\bNOT\b ", ""),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r"(?<=[ (,])1(?=[ ;),])", "2"),
    (r"(?<=[ (,])0(?=[ ;),])", "1"),
    (r"\bIS NULL\b", "IS NOT NULL"),
    (r"\bIS NOT NULL\b", "IS NULL"),
    (r" FOR UPDATE\b", ""),
    (r"\bfalse\b", "true"),
    (r"\btrue\b", "false"),
)


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the characters from `start` to `end` are replaced."""

    file: str
    line: int
    kind: str
    before: str
    after: str
    start: int
    end: int

    def apply(self, source: bytes) -> bytes:
        """Return the file's content with the change."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def find_mutants(file: str) -> list[Mutant]:
    """Return all mutants of a file, named as `measured_files` does."""
    source = (ROOT / path_of(file)).read_bytes()
    found = list(_find_in_sql(file, source) if file.endswith(".sql") else _find(file, source))
    return [one for one in found if one.before != one.after]


def _find_in_sql(file: str, source: bytes) -> Iterator[Mutant]:
    position = 0
    for number, raw in enumerate(source.splitlines(keepends=True), 1):
        code = raw.decode().split("--")[0]
        for pattern, after in SQL:
            for one in re.finditer(pattern, code):
                start = position + len(code[: one.start()].encode())
                end = start + len(one[0].encode())
                yield Mutant(file, number, "sql", one[0], after, start, end)
        position += len(raw)


def _find(file: str, source: bytes) -> Iterator[Mutant]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for kind, node, replacement in _changes(ast.parse(source), inside=False):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        after = ast.unparse(replacement)
        if isinstance(replacement, ast.expr) and not isinstance(replacement, ast.Constant):
            after = f"({after})"
        yield Mutant(file, node.lineno, kind, source[start:end].decode(), after, start, end)


def _changes(
    node: ast.AST, *, inside: bool
) -> Iterator[tuple[str, ast.expr | ast.stmt, ast.expr | ast.stmt]]:
    """Yield each kind of change, the node that it replaces, and what replaces it."""
    if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr | ast.Assert):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        if node.name in WORDS_ONLY:
            return
        inside = True
    if isinstance(node, ast.expr):
        yield from (("expression", node, changed) for changed in _changed_expression(node))
    if isinstance(node, ast.stmt) and inside:
        yield from ((kind, old, new) for kind, old, new in _changed_statement(node))
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_comment"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _changes(child, inside=inside)


def _changed_expression(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Compare):
        for opposite in OPPOSITE.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [opposite(), *node.ops[1:]], node.comparators)  # type: ignore[list-item]
    elif isinstance(node, ast.BinOp) and not _is_text(node.left):
        for opposite in OPPOSITE.get(type(node.op), ()):
            yield ast.BinOp(node.left, opposite(), node.right)  # type: ignore[arg-type]
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(OPPOSITE[type(node.op)][0](), node.values)  # type: ignore[arg-type]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield ast.Constant(not node.value)
        elif isinstance(node.value, int):
            yield ast.Constant(node.value + 1)
        elif isinstance(node.value, float):
            yield ast.Constant(2.0 * node.value if node.value else 1.0)
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in TWINS:
            if isinstance(node.func, ast.Name):
                yield ast.Call(ast.Name(TWINS[name]), node.args, node.keywords)
            elif isinstance(node.func, ast.Attribute):
                twin = ast.Attribute(node.func.value, TWINS[name])
                yield ast.Call(twin, node.args, node.keywords)
        elif len(node.args) > 1 and not any(isinstance(one, ast.Starred) for one in node.args):
            swapped = [node.args[1], node.args[0], *node.args[2:]]
            yield ast.Call(node.func, swapped, node.keywords)


def _changed_statement(
    node: ast.stmt,
) -> Iterator[tuple[str, ast.expr | ast.stmt, ast.expr | ast.stmt]]:
    if _is_droppable(node):
        yield "dropped statement", node, ast.Pass()
    elif isinstance(node, ast.Break):
        yield "break", node, ast.Continue()
    elif isinstance(node, ast.Continue):
        yield "continue", node, ast.Break()
    elif isinstance(node, ast.If):
        kind = "dropped check" if isinstance(node.body[-1], ast.Raise) else "branch never taken"
        yield kind, node.test, ast.Constant(False)


def _is_droppable(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Attribute | ast.Subscript)
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    return isinstance(node, ast.AugAssign)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def measured_files() -> list[str]:
    """Return the files of the measured parts, as `PLACES` names them."""
    files = []
    for begin, package in PLACES.items():
        folder = ROOT / package
        for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.sql")]):
            name = begin + path.relative_to(folder).as_posix()
            if _part(name) and path.name != "__init__.py":
                files.append(name)
    return files


def path_of(file: str) -> Path:
    """Return the path in a checkout of a file that `measured_files` names."""
    begin = next(one for one in PLACES if file.startswith(one))
    return PLACES[begin] / file.removeprefix(begin)


def _tests(folder: str) -> str:
    package, _, room = folder.partition("/")
    return f"packages/{package}/tests/{room}" if f"{package}/" in PLACES else f"tests/{folder}"


def _part(file: str) -> str:
    return next((part for part in FOLDERS if file == part or file.startswith(part + "/")), "")


def draw_mutants(seed: int, count: int) -> list[Mutant]:
    """Draw mutants, at most one per line of a file."""
    draw = random.Random(seed)
    left = {file: find_mutants(file) for file in measured_files()}
    for mutants in left.values():
        draw.shuffle(mutants)
    drawn: list[Mutant] = []
    while len(drawn) < count:
        files = [file for file, mutants in left.items() if mutants]
        weights = [_weight(file) * len(left[file]) ** 0.5 for file in files]
        file = draw.choices(files, weights)[0]
        one = left[file].pop()
        if all((one.file, one.line) != (other.file, other.line) for other in drawn):
            drawn.append(one)
    return drawn


def _weight(file: str) -> float:
    return next((weight for part, weight in WEIGHTS.items() if file.startswith(part)), 1.0)


def copy_checkout(folder: Path) -> None:
    """Copy all files that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)


class Copy:
    """A copy of the checkout, in which mutants are tested."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(str(folder / one.parent) for one in PLACES.values()),
            "NUMBA_CACHE_DIR": str(folder / "compiled"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._sound: set[str] = set()
        self._unsound: set[str] = set()

    def notices(self, mutant: Mutant) -> str:
        """Return the stage of tests that fails on a mutant; an empty string if none does."""
        first, *rest = (_tests(one) for one in FOLDERS[_part(mutant.file)])
        stages = {
            "doctests": (["--doctest-modules"], [str(path_of(mutant.file))]),
            "fast tests of the folder": (["-m", "not slow and not nightly"], [first]),
            "slow tests of the folder": (["-m", "slow and not nightly"], [first]),
            "tests of other folders": (["-m", "not nightly"], rest),
        }
        if mutant.file.endswith(".sql"):
            del stages["doctests"]
        for stage, (options, folders) in stages.items():
            present = [one for one in folders if (self.folder / one).exists()]
            passing: list[str] = []  # failed once, and not again
            while present:
                left_out = [f"--deselect={one}" for one in (*self._unsound, *passing)]
                failed = self.failure(mutant, *options, *left_out, *present)
                if not failed:
                    break
                broken = failed == "hangs" or failed.startswith("exit status")
                if broken or self._is_evidence(mutant, failed, *options):
                    return f"{stage}: {failed}"
                passing.append(failed)
        return ""

    def _is_evidence(self, mutant: Mutant, test: str, *options: str) -> bool:
        if not self.failure(mutant, *options, test):
            return False
        if test not in self._sound | self._unsound:
            (self._unsound if self.failure(None, *options, test) else self._sound).add(test)
        return test in self._sound

    def failure(self, mutant: Mutant | None, *arguments: str) -> str:
        """Return how tests fail: the first that does, a crash or a hang; empty if they pass."""
        if mutant is None:
            return self.run_tests(arguments)
        target = self.folder / path_of(mutant.file)
        source = target.read_bytes()
        target.write_bytes(mutant.apply(source))
        try:
            return self.run_tests(arguments)
        finally:
            target.write_bytes(source)

    def run_tests(self, arguments: Sequence[str]) -> str:
        """Run tests of the copy as it is; return what `failure` does."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                [*command, *arguments],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            status = _wait_while_tests_finish(process, output.fileno())
            if status is None:
                return "hangs"
            if status in {0, 5}:  # 5: no test has these marks
                return ""
            output.seek(0)
            named = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output.read(), re.MULTILINE)
            return named[0] if named else f"exit status {status}"


def _wait_while_tests_finish(process: subprocess.Popen[bytes], output: int) -> int | None:
    """Return the exit status; None if the output stopped growing, and the process was killed."""
    size, since = 0, time.monotonic()
    while True:
        try:
            return process.wait(1.0)
        except subprocess.TimeoutExpired:
            pass
        now = os.fstat(output).st_size
        if now > size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > PATIENCE:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None


def main() -> None:
    """Draw, test, print and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--only", default="", help="files whose path begins like this")
    parser.add_argument("--out", type=Path, required=True, help="results, one JSON object per line")
    parser.add_argument("--list", action="store_true", help="print what is drawn; test nothing")
    options = parser.parse_args()
    drawn = [
        one
        for one in draw_mutants(options.seed, options.count)
        if one.file.startswith(options.only)
    ]
    if options.list:
        for one in drawn:
            print(f"{one.file}:{one.line}: {one.kind}: {one.before!r} -> {one.after!r}")
        return
    known = set()
    if options.out.exists():
        lines = options.out.read_text(encoding="utf-8").splitlines()
        known = {(row["file"], row["start"], row["after"]) for row in map(json.loads, lines)}
    with tempfile.TemporaryDirectory() as folder:
        copy_checkout(Path(folder))
        copy = Copy(Path(folder))
        for number, one in enumerate(drawn, 1):
            if (one.file, one.start, one.after) in known:
                continue
            began = time.monotonic()
            stage = copy.notices(one)
            row = asdict(one) | {"noticed": stage, "seconds": round(time.monotonic() - began)}
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{number}/{len(drawn)} {one.file}:{one.line}: {stage or 'SURVIVED'}", flush=True)
    _print_summary(options.out)


def _print_summary(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rooms: dict[str, list[bool]] = {}
    for row in rows:
        rooms.setdefault(row["file"].split("/")[0], []).append(bool(row["noticed"]))
    for room, noticed in sorted(rooms.items()):
        print(f"{room}: {sum(noticed)} of {len(noticed)}")
    survivors = [row for row in rows if not row["noticed"]]
    print(f"{len(rows) - len(survivors)} of {len(rows)} mutants noticed")
    for row in survivors:
        print(f"{row['file']}:{row['line']}: {row['kind']}: {row['before']!r} -> {row['after']!r}")


if __name__ == "__main__":
    main()
