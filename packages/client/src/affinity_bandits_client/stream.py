"""Decisions from memory: slots are leased ahead in blocks, and scores are reported behind."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol, Self, TypeVar

from affinity_bandits_client import core, messages
from affinity_bandits_client.errors import (
    AffinityError,
    InvalidInput,
    RequestRefused,
    ServiceError,
    StreamFull,
)
from affinity_bandits_client.exchange import AGAIN, within
from affinity_bandits_client.journal import LARGEST, Answer, Batch, Journal
from affinity_bandits_client.messages.base import (
    LARGEST_LEASE,
    LONGEST_LINE,
    check_number,
    check_rater,
    new_key,
)

AHEAD_SECONDS = 2.0  # slots in memory last this long at the recent rate
FEWEST_AHEAD = 32
FLUSH_SECONDS = 1.0  # the longest that an answer waits before it is sent
MOST_AT_ONCE = 20_000  # answers of a batch
MOST_OF_LINE = 5_000  # answers of one lease in a line of a request
ROOM_FOR_HEAD = 1_000  # bytes of a line beside its answers
MOST_WAITING = 1_000_000  # answers that wait without a journal
PAUSE_SECONDS = 0.05  # between two looks at whether there is something to do
AWAY_SECONDS = 1.0  # between two tries while the service is away
BY_KEY = frozenset({401, 403})  # statuses that another API key may not get
ONE_OF_THIS_STREAM = (
    "a decision of this stream that has no score yet and is not older than two leases"
)
# What to do about a refusal, by its code.
REMEDIES = {
    "not_allowed": "; a stream needs an API key with the scopes ask, tell and read",
    "gives_blocks": "; a stream cannot, because it leases slots before it knows who rates them",
    "no_such_campaign": "; check the id, and that the API key is of the campaign's tenant",
}
log = logging.getLogger(__name__)
T = TypeVar("T")
Fallback = str | Callable[[], str]


class Blocking(Protocol):
    """A client that blocks until a reply is there."""

    def send(self, request: core.Request[T]) -> T:
        """Send a request with its retries."""

    def close(self) -> None:
        """Close the connections."""


class NoDecision(AffinityError):  # noqa: N818 - reads as the fact it states
    """No slot is in memory, and there is no fallback."""


class LocalDecision(NamedTuple):
    """A decision that was made from memory.

    Attributes:
        arm: the name of the group to choose from.
        lease: the number of the lease; -1 for a fallback, which never counts.
        slot: the slot of that lease.
        until: when the lease expires, by `time.monotonic`.
    """

    arm: str
    lease: int
    slot: int
    until: float

    @property
    def is_fallback(self) -> bool:
        """Whether the fallback made it, because no slot was in memory."""
        return self.lease < 0


class StreamStats(NamedTuple):
    """Counts of a stream's decisions and answers.

    Attributes:
        decided: decisions from leased slots.
        fallback: decisions of the fallback.
        expired: leased slots whose time ran out unused; they are offered to others.
        told: answers that `tell` took, those of fallbacks left out.
        sent: of these, answers that the service acknowledged.
        counted: of these, answers that entered the comparison.
        late: answers that came too late to count.
        duplicate: answers to slots that had one already.
        dropped: answers that the service refused.
        waiting: answers that await acknowledgment, or were refused because of the API key.
        ready: slots in memory.
    """

    decided: int
    fallback: int
    expired: int
    told: int
    sent: int
    counted: int
    late: int
    duplicate: int
    dropped: int
    waiting: int
    ready: int


class StreamState:
    """Slots in memory and answers on their way; its only I/O is the journal's.

    Threads may share it.
    """

    def __init__(
        self, fallback: Fallback | None, journal: Journal | None, clock: Callable[[], float]
    ) -> None:
        self.limits: messages.Campaign | None = None
        self.ended: str | None = None
        self.error: AffinityError | None = None  # after which nothing is leased
        self.away: str | None = None  # why no slot could be leased lately
        self.refusal: str | None = None  # of the last answers that were refused
        self.closed = False
        self.refill = threading.Event()  # there may be slots to lease
        self.send = threading.Event()  # there may be answers to send
        self.fallback, self._journal, self._clock = fallback, journal, clock
        self._lock = threading.Lock()
        self._ready: deque[LocalDecision] = deque()
        self._owed: dict[int, set[int]] = {}  # slots by lease that `tell` has not been given
        self._leases: deque[tuple[float, int]] = deque()  # when to forget a lease, oldest first
        self._unsent: deque[Answer] = deque()
        self._batch: Batch | None = None
        self._kept = 0  # answers that were refused because of the API key
        self._seen: Counter[str] = Counter()
        self._oldest = math.inf  # when the oldest unsent answer came
        self._key, self._batches = new_key(), 0
        self._looked, self._decided_then, self._rate = clock(), 0, 0.0
        self._most = FEWEST_AHEAD
        self._low = 0
        if journal is not None:
            self._batch, unsent = journal.recovered()
            self._unsent.extend(unsent)
            self._seen["told"] = len(unsent) + len(self._batch.answers if self._batch else ())
            self._oldest = -math.inf if unsent else math.inf

    def next(self) -> LocalDecision:
        """Return the next decision."""
        now = self._clock()
        with self._lock:
            while self._ready:
                found = self._ready.popleft()
                if found.until > now:
                    self._seen["decided"] += 1
                    if len(self._ready) == self._low:
                        self.refill.set()
                    return found
                self._seen["expired"] += 1
                self._remove(found)
        arm = self.fallback() if callable(self.fallback) else self.fallback
        if arm is None:
            raise NoDecision(self._why_none())
        self.check_fallback(arm)
        with self._lock:
            self._seen["fallback"] += 1
        return LocalDecision(arm, -1, -1, math.inf)

    def check_fallback(self, arm: object) -> None:
        """Check that a fallback is a group of the campaign, once the campaign is known."""
        names = [found.name for found in self.limits.arms] if self.limits else []
        if names and not (arm is None or callable(arm) or arm in names):
            raise InvalidInput("fallback", f"a group of the campaign, one of {names}", arm)

    @property
    def going_on(self) -> bool:
        """Whether there may be more slots."""
        return self.ended is None and self.error is None

    def _remove(self, decision: LocalDecision) -> bool:
        """Remove a slot from those that are owed; return whether it was one of them."""
        slots = self._owed.get(decision.lease, set())
        if decision.slot not in slots:
            return False
        slots.remove(decision.slot)
        if not slots:
            del self._owed[decision.lease]
        return True

    def _why_none(self) -> str:
        if self.error is not None:
            return f"the service refused a request: {self.error}"
        if self.ended is not None:
            return f"the campaign is {self.ended}"
        return "no slot is in memory: the service is away, or the round waits for other answers"

    def tell(self, decision: LocalDecision, score: float, rater: messages.Rater | None) -> None:
        """Take the score of a decision."""
        if decision.lease < 0:
            return
        # Checked here, because the service refuses all answers of a line that has a wrong one.
        limits = self.limits
        if limits is None:
            raise InvalidInput("decision", ONE_OF_THIS_STREAM, decision)
        value = check_number("score", score, low=limits.lowest, high=limits.highest)
        if rater is not None:
            _check_rater(rater, limits)
        answer = Answer(decision.lease, decision.slot, value, *(rater or ()))
        with self._lock:
            if self.closed:
                raise InvalidInput("decision", "told before its stream is closed", decision)
            if decision.slot not in self._owed.get(decision.lease, ()):
                raise InvalidInput("decision", ONE_OF_THIS_STREAM, decision)
            if self._journal is not None:
                self._journal.append(answer)
            elif len(self._unsent) >= MOST_WAITING:
                raise StreamFull(f"{MOST_WAITING:,} answers wait for the service; is it up?")
            if not self._unsent:
                self._oldest = self._clock()
            self._unsent.append(answer)
            self._seen["told"] += 1
            self._remove(decision)
            due = not self._ready or len(self._unsent) >= MOST_AT_ONCE
        if due and not self.send.is_set():
            self.send.set()

    def wanted(self) -> int:
        """Return how many slots to ask for now."""
        now = self._clock()
        lease_seconds = math.inf if self.limits is None else self.limits.lease_seconds
        with self._lock:
            passed = now - self._looked
            if passed >= PAUSE_SECONDS:
                rate = (self._seen["decided"] - self._decided_then) / passed
                self._rate = max(rate, self._rate / 2.0)
                self._looked, self._decided_then = now, self._seen["decided"]
            ahead = max(FEWEST_AHEAD, self._rate * min(AHEAD_SECONDS, lease_seconds / 2.0))
            ahead = min(LARGEST_LEASE, self._most, ahead)
            self._low = int(ahead) // 2
            if len(self._ready) > self._low:
                return 0
            return max(1, int(ahead) - len(self._ready))

    def take(self, found: messages.Asked, asked: int, until: float) -> float:
        """Take the reply to an ask; return the seconds to wait before the next.

        Streams share the slots that may be under way. A stream that gets fewer than it asked for
        asks for half as many next time; one that gets them all may ask for twice as many.
        """
        if isinstance(found, messages.Finished):
            self.ended = found.status
            return 0.0
        if isinstance(found, messages.Wait):
            self._most = max(1, self._most // 2)
            return min(AWAY_SECONDS, max(PAUSE_SECONDS, found.retry_after))
        lease, arms = found.number, found.arms
        made = [
            LocalDecision(arms[slot % len(arms)], lease, slot, until)
            for first, count in found.runs
            for slot in range(first, first + count)
        ]
        now = self._clock()
        with self._lock:
            while self._leases and self._leases[0][0] < now:
                self._owed.pop(self._leases.popleft()[1], None)
            self._leases.append((until + (until - now), lease))
            self._owed[lease] = {one.slot for one in made}
            self._ready.extend(made)
            full = len(made) >= asked
            self._most = self._most + max(1, asked) if full else max(1, self._most // 2)
        return 0.0

    def batch(self, *, closing: bool) -> Batch | None:
        """Return the answers to send now, if any; the same as before until they are settled."""
        with self._lock:
            if self.closed:
                return None
            if self._batch is not None or not self._unsent:
                return self._batch
            age = self._clock() - self._oldest
            due = closing or not self._ready or age >= FLUSH_SECONDS
            if not due and len(self._unsent) < MOST_AT_ONCE:
                return None
            number = min(MOST_AT_ONCE, len(self._unsent))
            answers = tuple(self._unsent.popleft() for _ in range(number))
            self._batches += 1
            self._batch = Batch(f"{self._key}-{self._batches}", answers)
            self._oldest = self._clock() if self._unsent else math.inf
            if self._journal is not None:
                self._journal.begin(self._batch)
            return self._batch

    def settle(self, batch: Batch, replies: Iterable[tuple[messages.ToldLine, int, int]]) -> None:
        """Take the reply to each line of the batch, with its lease and number of answers."""
        refused: set[int] = set()
        with self._lock:
            for line, lease, number in replies:
                if line.status in BY_KEY:
                    refused.add(lease)
                    self.refusal = f"{line.detail}; its answers are kept for a stream with that key"
                    continue
                self._seen["sent"] += number
                if line.told is None:
                    self._seen["dropped"] += number
                    self.refusal = line.detail
                else:
                    self._seen.update(vars(line.told))
            kept = [answer for answer in batch.answers if answer.lease in refused]
            self._kept += len(kept)
            self._batch = None
            if self._journal is not None:
                self._journal.settle(kept)
        self.refill.set()

    def close(self) -> list[int]:
        """Close the stream's state; return the leases that still owe answers."""
        with self._lock:
            self.closed = True
            self._ready.clear()
            if self._journal is not None:
                self._journal.close()
                self._journal = None
            return list(self._owed)

    def stats(self) -> StreamStats:
        """Return the counts so far."""
        with self._lock:
            seen = self._seen
            waiting = len(self._unsent) + len(self._batch.answers if self._batch else ())
            waiting += self._kept
            return StreamStats(
                *(seen["decided"], seen["fallback"], seen["expired"], seen["told"]),
                *(seen["sent"], seen["counted"], seen["late"], seen["duplicate"]),
                *(seen["dropped"], waiting, len(self._ready)),
            )


def _check_rater(given: messages.Rater, limits: messages.Campaign) -> None:
    try:
        if given.rater is not None:
            check_rater(given.rater)
    except ValueError:
        rule = "a pseudonym without spaces and no e-mail address, such as r17"
        raise InvalidInput("rater", rule, given.rater) from None
    if given.group is not None and given.group not in [arm.name for arm in limits.arms]:
        raise InvalidInput("rater", "of a group of the campaign", given.group)


class BulkPart(NamedTuple):
    """A bulk request with some lines of a batch, and the lease and number of answers of each."""

    request: core.Request[list[messages.ToldLine]]
    leases: list[int]
    answers: list[int]


def bulk_parts(campaign: str, batch: Batch) -> list[BulkPart]:
    """Return a batch as requests; they are the same each time."""
    by_lease: dict[int, list[str]] = {}
    for lease, slot, score, rater, group in batch.answers:
        # Put together by hand: as dictionaries, this would take most of what a decision costs.
        said = "" if rater is None else f',"rater":{json.dumps(rater)}'
        said += "" if group is None else f',"rater_group":{json.dumps(group)}'
        line = f'{{"slot":{slot},"score":{score!r}{said}}}'
        if lease in by_lease:
            by_lease[lease].append(line)
        else:
            by_lease[lease] = [line]
    parts: list[BulkPart] = []
    lines: list[bytes] = []
    leases: list[int] = []
    answers: list[int] = []
    number = 0
    for lease, told in by_lease.items():
        fitting = (LONGEST_LINE - ROOM_FOR_HEAD) // (1 + max(map(len, told)))
        most = min(MOST_OF_LINE, fitting)
        for first in range(0, len(told), most):
            some = told[first : first + most]
            number += 1
            key = json.dumps(f"{batch.key}:{number}")
            text = f'{{"lease":{lease},"key":{key},"answers":[{",".join(some)}]}}\n'.encode()
            if lines and sum(map(len, lines)) + len(text) > core.LARGEST_PART:
                request = core.bulk_request(campaign, lines, 1, f"{batch.key}/{len(parts)}")
                parts.append(BulkPart(request, leases, answers))
                lines, leases, answers = [], [], []
            lines.append(text)
            leases.append(lease)
            answers.append(len(some))
    request = core.bulk_request(campaign, lines, 1, f"{batch.key}/{len(parts)}")
    return [*parts, BulkPart(request, leases, answers)]


class DecisionStream:
    """Decisions from leased slots in memory; `Client.stream` makes one.

    One thread leases slots ahead, another sends answers in bulk. Use it in a `with` block: at the
    end all answers are sent, and unused slots are given back. Threads may share it.

    Args:
        client: sends the requests.
        campaign: a campaign, or its id.
        fallback: the decision if no slot is in memory: the name of a group of the campaign, or a
            function that returns one. The policy is not told of it: if such people join the
            committee, a guarantee that counts the chosen is lost.
        journal: a file for answers that await acknowledgment. The next stream with this file sends
            the answers that a killed process left there.
        sync: "disk": an answer that `tell` took survives a failure of the machine. "kernel": it
            survives the end of the process only.
        largest_journal: bytes of the file at most.
        clock: the time in seconds.
    """

    def __init__(
        self,
        client: Blocking,
        campaign: core.AnyCampaign,
        *,
        fallback: Fallback | None = None,
        journal: str | Path | None = None,
        sync: str = "kernel",
        largest_journal: int = LARGEST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not (fallback is None or isinstance(fallback, str) or callable(fallback)):
            raise InvalidInput("fallback", "the name of a group, or a function of none", fallback)
        self._client = client
        self._id = core.campaign_id(campaign)
        kept = None if journal is None else Journal(Path(journal), self._id, sync, largest_journal)
        self._state = StreamState(fallback, kept, clock)
        self._clock = clock
        self._closing = threading.Event()
        self._warned: str | None = None
        self._threads = {
            self._state.refill: threading.Thread(target=self._lease, daemon=True),
            self._state.send: threading.Thread(target=self._report, daemon=True),
        }
        for thread in self._threads.values():
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def ended(self) -> str | None:
        """The final status once the campaign hands out no more slots: "exhausted" or "stopped"."""
        return self._state.ended

    @property
    def problem(self) -> str | None:
        """Why the service refused a request or cannot be reached; None while all is well.

        It is logged as a warning, too.
        """
        state = self._state
        remedy = REMEDIES.get(getattr(state.error, "code", ""), "")
        return f"{state.error}{remedy}" if state.error else state.away or state.refusal

    def next(self) -> LocalDecision:
        """Return a decision from memory, in microseconds; never wait for the service.

        If no slot is in memory, the decision is the fallback's: it is marked, and never counts.

        Raises:
            NoDecision: no slot is in memory, and there is no fallback.
            InvalidInput: the fallback is not a group of the campaign.
        """
        return self._state.next()

    def tell(
        self, decision: LocalDecision, score: float, *, rater: messages.Rater | None = None
    ) -> None:
        """Take the score of a decision, which is sent within a second.

        Raises:
            StreamFull: the answer was refused, because too many wait for the service.
        """
        self._state.tell(decision, score, rater)

    def stats(self) -> StreamStats:
        """Return the counts so far."""
        return self._state.stats()

    def wait(self, seconds: float = 10.0) -> bool:
        """Wait until a slot is in memory or the campaign has ended; return whether one is.

        Raises:
            InvalidInput: the fallback is not a group of the campaign.
        """
        end = self._clock() + seconds
        while not self.stats().ready and self._state.going_on and self._clock() < end:
            time.sleep(0.001)
        if isinstance(self._state.error, InvalidInput):
            raise self._state.error
        return self.stats().ready > 0

    def close(self, seconds: float = 10.0) -> None:
        """Send waiting answers, give unused slots back, and stop.

        Args:
            seconds: how long to wait for the service. Answers that it has not acknowledged by then
                stay in the journal, and are lost if there is none: see `stats().waiting`.
        """
        if self._closing.is_set():
            return
        self._closing.set()
        end = self._clock() + seconds
        for event, thread in self._threads.items():
            event.set()
            thread.join(max(0.0, end - self._clock()))
        away = any(thread.is_alive() for thread in self._threads.values())
        leases = self._state.close()
        if leases and not away:
            with suppress(TimeoutError, ServiceError):  # they expire
                within(max(0.0, end - self._clock()), lambda: self._release(leases))

    def _release(self, leases: list[int]) -> None:
        for lease in leases:
            # A restored backup does not know a lease that was given after it was made.
            with suppress(RequestRefused):
                self._client.send(core.release(self._id, lease))

    def _lease(self) -> None:
        """Keep slots in memory; the first thread."""
        state, pause = self._state, 0.0
        while not self._closing.is_set() and state.going_on:
            if pause or not (wanted := state.wanted()):
                state.refill.wait(pause or PAUSE_SECONDS)
                state.refill.clear()
                pause = 0.0
                continue
            try:
                if state.limits is None:
                    state.limits = self._client.send(core.campaign(self._id))
                    state.check_fallback(state.fallback)
                until = self._clock() + state.limits.lease_seconds
                found = self._client.send(core.ask(self._id, wanted))
                pause = state.take(found, wanted, until)
                state.away = None
            except (RequestRefused, InvalidInput) as error:
                state.error = error
            except ServiceError as error:  # the service is away, or fails
                said = str(error).removesuffix(AGAIN.format(error.idempotency_key))
                state.away, pause = f"{said} (the stream tries again by itself)", AWAY_SECONDS
            except Exception:
                if not state.closed:  # afterwards the client may be closed, too
                    raise
            self._warn()

    def _warn(self) -> None:
        """Log the problem, if it is new."""
        problem = self.problem
        if problem is not None and problem != self._warned:
            log.warning("stream of campaign %s: %s", self._id, problem)
        self._warned = problem

    def _report(self) -> None:
        """Send answers; the second thread."""
        state = self._state
        while not state.closed:
            closing = self._closing.is_set()  # once: an answer may come between two looks
            batch = state.batch(closing=closing)
            if batch is None:
                if closing:
                    return
                state.send.wait(PAUSE_SECONDS)
                state.send.clear()
                continue
            replies: list[tuple[messages.ToldLine, int, int]] = []
            failed = False
            try:
                for part in bulk_parts(self._id, batch):
                    told = self._client.send(part.request)
                    replies += zip(told, part.leases, part.answers, strict=True)
            except RequestRefused as error:
                state.error = error
                self._warn()
                return
            except ServiceError:
                failed = True
            except Exception:
                if not state.closed:
                    raise
            else:
                failed = any(line.status >= 500 or line.status == 429 for line, *_ in replies)
                if not failed:
                    state.settle(batch, replies)
                    self._warn()
            if failed:  # the same batch is sent again
                self._closing.wait(AWAY_SECONDS)
                time.sleep(PAUSE_SECONDS)


class AsyncDecisionStream(DecisionStream):
    """A stream for asyncio; `AsyncClient.stream` makes one.

    Call `next` and `tell` directly, without `await`: they take microseconds, or with `sync="disk"`
    as long as the disk.
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)
        self._client.close()
