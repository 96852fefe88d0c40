"""Make one documented function a method of both clients: it builds a request, they send it."""

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
    """A client that waits for its replies."""


class Awaits:
    """A client that awaits them."""


class Method(Generic[P, Now, Later]):
    """A method with the documentation and the parameters of what builds its requests.

    Args:
        build: makes requests.
        call: sends them by a client, the first argument.
        hidden: how many parameters of `build` are the client's business.
    """

    def __init__(
        self, build: Callable[..., Any], call: Callable[..., Any], hidden: int = 0
    ) -> None:
        self._build = build
        self._call = call
        self._hidden = hidden

    @overload
    def __get__(self, client: Waits, kind: type) -> Callable[P, Now]: ...
    @overload
    def __get__(self, client: Awaits, kind: type) -> Callable[P, Later]: ...
    @overload
    def __get__(self, client: None, kind: type) -> Callable[..., Any]: ...
    def __get__(self, client: Any, kind: type) -> Callable[..., Any]:
        def bound(*given: Any, **more: Any) -> Any:
            return self._call(client, *given, **more)

        whole = inspect.signature(self._build)
        wraps(self._build)(bound).__signature__ = whole.replace(  # type: ignore[attr-defined]
            parameters=list(whole.parameters.values())[self._hidden :],
            return_annotation=inspect.Signature.empty,
        )
        return bound


def sends(build: Callable[P, Request[T]]) -> Method[P, T, Awaited[T]]:
    """Return a method that sends one request; it returns what came of it."""
    return Method(build, lambda client, *given, **more: client._send(build(*given, **more)))


def sends_each(
    build: Callable[P, Iterator[Request[list[T]]]],
) -> Method[P, list[T], Awaited[list[T]]]:
    """Return a method that sends requests one after the other; it returns all that came of them."""
    return Method(build, lambda client, *given, **more: client._each(build(*given, **more)))


def lists(
    build: Callable[Concatenate[str | None, P], Request[Page[T]]],
) -> Method[P, Iterator[T], AsyncIterator[T]]:
    """Return a method that goes through pages; it returns an iterator of the client's own kind."""

    def call(client: Any, *given: P.args, **more: P.kwargs) -> Any:
        return client._pages(lambda cursor: build(cursor, *given, **more))

    return Method(build, call, hidden=1)
