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
Awaited = Coroutine[Any, Any, T]


class Method(Generic[P, T]):
    """A method that sends one request; returns what came of it."""

    def __init__(self, build: Callable[P, Request[T]]) -> None:
        self._build = build

    @overload
    def __get__(self, client: Waits, kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Awaits, kind: type) -> Callable[P, Awaited[T]]: ...
    @overload
    def __get__(self, client: None, kind: type) -> Callable[..., Any]: ...
    def __get__(self, client: Any, kind: type) -> Callable[..., Any]:
        return _bound(self._build, lambda *given, **more: client._send(self._build(*given, **more)))


class Batch(Generic[P, T]):
    """A method that sends some requests, one after the other; returns all that came of them."""

    def __init__(self, build: Callable[P, Iterator[Request[list[T]]]]) -> None:
        self._build = build

    @overload
    def __get__(self, client: Waits, kind: type) -> Callable[P, list[T]]: ...
    @overload
    def __get__(self, client: Awaits, kind: type) -> Callable[P, Awaited[list[T]]]: ...
    @overload
    def __get__(self, client: None, kind: type) -> Callable[..., Any]: ...
    def __get__(self, client: Any, kind: type) -> Callable[..., Any]:
        return _bound(self._build, lambda *given, **more: client._each(self._build(*given, **more)))


class Listing(Generic[P, T]):
    """A method that goes through pages; returns an iterator, of the client's own kind."""

    def __init__(self, build: Callable[Concatenate[str | None, P], Request[Page[T]]]) -> None:
        self._build = build

    @overload
    def __get__(self, client: Waits, kind: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, client: Awaits, kind: type) -> Callable[P, AsyncIterator[T]]: ...
    @overload
    def __get__(self, client: None, kind: type) -> Callable[..., Any]: ...
    def __get__(self, client: Any, kind: type) -> Callable[..., Any]:
        def call(*given: P.args, **more: P.kwargs) -> Any:
            return client._pages(lambda cursor: self._build(cursor, *given, **more))

        return _bound(self._build, call, hidden=1)  # where a page begins is the client's business


def _bound(
    build: Callable[..., Any], call: Callable[..., Any], hidden: int = 0
) -> Callable[..., Any]:
    """Return what is called, with the documentation and the parameters of what it is made from."""
    whole = inspect.signature(build)
    bound = wraps(build)(call)
    bound.__signature__ = whole.replace(  # type: ignore[attr-defined]
        parameters=list(whole.parameters.values())[hidden:],
        return_annotation=inspect.Signature.empty,
    )
    return bound


class Waits:
    """A client that waits for its replies."""


class Awaits:
    """A client that awaits them."""
