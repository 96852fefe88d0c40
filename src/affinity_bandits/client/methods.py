"""Turn a function that builds requests into a method of both clients, which send them."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from affinity_bandits.client.requests import Request
from affinity_bandits.wire import Page

P = ParamSpec("P")
T = TypeVar("T")
Now = TypeVar("Now")
Later = TypeVar("Later")
Awaited = Coroutine[Any, Any, T]


class Waits:
    """A client whose methods block until the reply is there."""


class Awaits:
    """A client whose methods are awaited."""


class Method(Generic[P, Now, Later]):
    """A method of both clients, documented by the function that builds its requests.

    Args:
        build: builds the requests.
        call: sends them with a client, its first argument.
        hidden: how many of the first parameters of `build` callers do not give.
    """

    def __init__(
        self, build: Callable[..., Any], call: Callable[..., Any], hidden: int = 0
    ) -> None:
        self._build = build
        self._call = call
        whole = inspect.signature(build)
        self._signature = whole.replace(
            parameters=list(whole.parameters.values())[hidden:],
            return_annotation=inspect.Signature.empty,
        )

    @overload
    def __get__(self, client: Waits, kind: type) -> Callable[P, Now]: ...
    @overload
    def __get__(self, client: Awaits, kind: type) -> Callable[P, Later]: ...
    @overload
    def __get__(self, client: None, kind: type) -> Callable[..., Any]: ...
    def __get__(self, client: Any, kind: type) -> Callable[..., Any]:
        def bound(*given: Any, **more: Any) -> Any:
            return self._call(client, *given, **more)

        wraps(self._build)(bound).__signature__ = self._signature  # type: ignore[attr-defined]
        return bound


def sends(build: Callable[P, Request[T]]) -> Method[P, T, Awaited[T]]:
    """Return a method that sends one request and returns its reply."""
    return Method(build, lambda client, *given, **more: client._send(build(*given, **more)))


def sends_each(
    build: Callable[P, Iterator[Request[list[T]]]],
) -> Method[P, list[T], Awaited[list[T]]]:
    """Return a method that sends several requests in turn and returns all replies in one list."""
    return Method(build, lambda client, *given, **more: client._each(build(*given, **more)))


def lists(
    build: Callable[Concatenate[str | None, P], Request[Page[T]]],
) -> Method[P, Iterator[T], AsyncIterator[T]]:
    """Return a method that iterates over the items of all pages."""

    def call(client: Any, *given: P.args, **more: P.kwargs) -> Any:
        return client._pages(lambda cursor: build(cursor, *given, **more))

    return Method(build, call, hidden=1)
