"""The executor that runs tasks on a Ray cluster. Only this file imports Ray."""

from __future__ import annotations

import contextlib
import logging
import pickle
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from affinity_bandits.base import checks
from affinity_bandits.base.digests import own_files
from affinity_bandits.base.errors import AffinityError, InvalidInput, need
from affinity_bandits.base.progress import delay
from affinity_bandits.experiments.cutting import TASK_SECONDS, Task
from affinity_bandits.experiments.executors import (
    HERE,
    Done,
    Retries,
    check_limit,
    unsendable_cell,
)
from affinity_bandits.experiments.files import leave_token, sees
from affinity_bandits.experiments.store import Store
from affinity_bandits.experiments.work import Report, Sent, received, run_task, to_send

PATIENCE = 10.0  # seconds to wait for a cluster's machine to answer
HEAD_PATIENCE = 20.0  # the same for the head of a cluster that did answer; Ray itself waits 60
LOOK_SECONDS = 5.0  # how often the driver looks for new machines, and for the head
RAY_RETRIES = 0  # of Ray itself: it would run a task that is out of memory again for ever
WINDOW = 3  # tasks in flight for each core: Ray keeps a record of every one
DRIVER_TASKS = 100  # tasks a second that the driver is given at most, by making them longer
MOST_SECONDS = 60.0  # of a task, which a machine that dies loses
MAX_LOSSES = 20  # machines that a task may lose before it is reported as failed
AGAIN = "finished work is in the store: run the same command again once the cluster is back"


class RayExecutor:
    """Tasks on a Ray cluster; the store must be reachable from all of its machines.

    Modules of your own that cells need are sent to the cluster if this executor connects to it.

    Args:
        address: of an existing cluster ("auto", or host:port); by default the one that Ray is
            connected to, or else a temporary one of this machine.
        workers: cores to use; by default all of the cluster, including those of machines that join
            later.
        time_limit: see `ProcessExecutor`.
        tell: called with the address of the cluster's dashboard, if it has one.
    """

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        time_limit: float | None = None,
        tell: Callable[[str], object] = bool,
    ) -> None:
        self.address = address
        self.asked = None if workers is None else checks.integer("workers", workers, low=1)
        self.time_limit = check_limit(time_limit)
        self._tell = tell
        self._task_seconds = TASK_SECONDS

    def task_seconds(self) -> float:
        return self._task_seconds

    def run(self, tasks: Iterable[Task], root: str, done: Done) -> None:
        queue = iter(tasks)
        first = next(queue, None)  # planning it has found the modules that `_connected` sends
        if first is None:
            return
        store = Store(root)
        token = leave_token(store.files)
        try:
            with self._connected() as ray:
                self._run(ray, chain([first], queue), root, token, done)
        finally:
            with contextlib.suppress(OSError):
                store.files.remove(token)

    def _run(self, ray: Any, queue: Iterator[Task], root: str, token: str, done: Done) -> None:
        remote = ray.remote(num_cpus=1, max_retries=RAY_RETRIES)(run_sent)
        cluster = _Cluster(ray, self.asked)
        retries = Retries(root, done)
        losses: Counter[str] = Counter()
        again: deque[Task] = deque()
        running: dict[Any, Task] = {}
        try:
            while True:
                cores = cluster.cores()
                # With more cores, longer tasks: the driver does a number of them each second.
                self._task_seconds = min(max(TASK_SECONDS, cores / DRIVER_TASKS), MOST_SECONDS)
                while len(running) < WINDOW * cores:
                    task = again.popleft() if again else next(queue, None)
                    if task is None:
                        break
                    sent = _pickled(task)
                    running[remote.remote(sent, root, token, self.time_limit)] = task
                if not running:
                    return
                ready, _ = ray.wait(list(running), num_returns=1, timeout=LOOK_SECONDS)
                if ready:  # all that is: each call looks at every task in flight
                    ready, _ = ray.wait(list(running), num_returns=len(running), timeout=0)
                for reference in ready:
                    task = running.pop(reference)
                    try:
                        answer = ray.get(reference)
                    except ray.exceptions.RayError as fault:
                        again += _after(ray, fault, task, retries, losses, done)
                        continue
                    if isinstance(answer, Refusal):
                        raise answer.error(task, root)
                    for report in received(answer, task):
                        done(report)
        finally:
            for reference in running:
                with contextlib.suppress(Exception):  # the cluster may be gone
                    ray.cancel(reference, force=True)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        need("ray", "ray")
        import ray

        if self.address is None and ray.is_initialized():
            yield ray
            return
        if self.address is not None:
            _reach(self.address)
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        try:
            with delay("starting Ray"):
                if self.address is None:
                    # A cluster of our own, even where another runs on this machine.
                    ray.init("local", num_cpus=self.asked, include_dashboard=False, **quiet)
                else:
                    modules = sorted(set(_own_modules()))
                    if modules:
                        quiet["runtime_env"] = {"py_modules": modules}
                    found = ray.init(self.address, **quiet)
                    if found.dashboard_url:
                        self._tell(f"http://{found.dashboard_url}")
        except Exception as error:  # Ray raises whatever the part that failed raises
            place = f"{self.address or 'this machine'}: {_first_line(error)}"
            raise AffinityError(
                f"no Ray cluster at {place}; without Ray: --executor processes"
            ) from error
        try:
            yield ray
        finally:
            ray.shutdown()


class Refusal(NamedTuple):
    """Why a worker cannot run any task.

    Attributes:
        store: whether it does not see the driver's store; otherwise, it cannot load the task.
        words: the machine's name, or the error.
    """

    store: bool
    words: str

    def error(self, task: Task, root: str) -> AffinityError:
        """Return the error to raise for it."""
        if self.store:
            rule = (
                "a place that all machines of the cluster share, such as s3://bucket/folder or a "
                f"network disk (machine {self.words} does not see what this one wrote there)"
            )
            return InvalidInput("store", rule, root)
        return unsendable_cell(task[0].planned.cell(), self.words, f"install it there, or {HERE}")


_shared: set[str] = set()
"""Tokens that this process has seen."""


def run_sent(sent: bytes, root: str, token: str, time_limit: float | None) -> list[Sent] | Refusal:
    """Run a pickled task on a machine of the cluster.

    Args:
        sent: the task.
        root: of the store.
        token: a file that the driver has written to the store.
        time_limit: see `ProcessExecutor`.
    """
    if token not in _shared:
        if not sees(root, token):
            return Refusal(True, socket.gethostname())
        _shared.add(token)
    try:
        task = pickle.loads(sent)
    except Exception as error:  # a module that is not there, a class that its file does not have
        return Refusal(False, f"{type(error).__name__}: {error}, on {socket.gethostname()}")
    return to_send(run_task(task, root, time_limit), task)


def _pickled(task: Task) -> bytes:
    try:
        return pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise unsendable_cell(task[0].planned.cell(), str(error)) from None


class _Cluster:
    """Looks at a cluster now and then.

    Args:
        ray: the library.
        asked: cores to use, if not all.
    """

    def __init__(self, ray: Any, asked: int | None) -> None:
        self._ray = ray
        self._asked = asked
        self._head = str(getattr(ray.get_runtime_context(), "gcs_address", ""))
        try:
            _reach(self._head)
        except AffinityError:  # a client from outside of the cluster's network
            self._head = ""
        self._cores = 1
        self._due = 0.0

    def cores(self) -> int:
        """Return the cores to use; an autoscaler adds machines for tasks that wait.

        Raises:
            AffinityError: the head is gone.
        """
        if time.monotonic() >= self._due:
            self._check_head()
            found = int(self._ray.cluster_resources().get("CPU", 1))
            self._cores = self._asked or max(1, found)
            self._due = time.monotonic() + LOOK_SECONDS
        return self._cores

    def _check_head(self) -> None:
        # Without a head, Ray ends this process after a minute, by a message in C++.
        until = time.monotonic() + HEAD_PATIENCE
        while True:
            try:
                _reach(self._head)
            except AffinityError:
                if time.monotonic() > until:
                    raise AffinityError(f"Ray's head at {self._head} is gone; {AGAIN}") from None
                time.sleep(1.0)
            else:
                return


def _after(
    ray: Any, fault: Exception, task: Task, retries: Retries, losses: Counter[str], done: Done
) -> list[Task]:
    """Return the tasks to run in place of one that Ray did not finish."""
    errors = ray.exceptions
    if isinstance(fault, errors.WorkerCrashedError):
        return retries.after(task)
    if isinstance(fault, errors.OutOfMemoryError):
        return retries.after(task, "its machine was out of memory")
    if isinstance(fault, errors.NodeDiedError | errors.ObjectLostError):
        name = task[0].name
        losses[name] += 1
        if losses[name] < MAX_LOSSES:
            return [task]
        for shard in task:
            done(Report(shard, 0.0, f"its machine was lost {MAX_LOSSES} times"))
        return []
    if isinstance(fault, errors.LocalRayletDiedError):
        raise AffinityError(f"Ray on this machine is gone; {AGAIN}") from None
    # The function itself raises nothing.
    raise AffinityError(
        f"a machine of the cluster cannot run tasks: {_last_line(fault)}; install the same Python, "
        f"package and versions there, with the extras experiments and ray"
    ) from fault


def _own_modules() -> Iterator[str]:
    """Yield the files, or the folders of the packages, that the user's own code is in."""
    for name, path in own_files().items():
        above = name.count(".") + (path.name == "__init__.py")
        if name != "__main__" and (above or path.suffix == ".py"):
            yield str(path.parents[above - 1] if above else path)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _last_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[-1].strip()


def _reach(address: str) -> None:
    """Raise at once if the address is dead; Ray itself keeps trying for minutes."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal():  # "auto", ray://..., a session's name
        return
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise AffinityError(f"no Ray cluster at {address}: {error}") from None
