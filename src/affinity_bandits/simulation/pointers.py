"""Calls through a pointer: what many loops share is compiled once, and not into each of them.

numba links whatever a function calls into it and optimises the whole again. That makes a call at
every pull free, and is wasted on one that is made once a round: the draws of a round are several
times the code of a policy. Such a kernel is compiled by itself, and the loop is given its address.
"""

from __future__ import annotations

import hashlib
from functools import cached_property, lru_cache
from typing import Any

import numba
import numba.core.cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from affinity_bandits.kernels import Function
from affinity_bandits.simulation.code_cache import interpreted

Types = tuple[Any, ...]
cgutils: Any = numba.core.cgutils  # has no types
compiler: Any = numba


def types_of(*examples: Any) -> Types:
    """Return the compiler's types of a kernel's arguments, of each of which there is an example."""
    return tuple(compiler.typeof(example) for example in examples)


class Shared:
    """A compiled kernel, to be called through its address.

    Args:
        kernel: of `compiled`, with `shared`.
        types: of its arguments.
        returns: the type of what it returns, if that is anything.
    """

    def __init__(self, kernel: Any, types: Types, returns: Any = numba.void) -> None:
        self._kernel = kernel
        self._types = types
        self._returns = returns

    @cached_property
    def address(self) -> Any:
        """Where its machine code lies; it is compiled when this is first asked for."""
        if interpreted():
            return self._kernel
        self._kernel.compile(self._types)
        made = self._kernel.overloads[self._types]
        found = made.signature.return_type
        if found != (compiler.types.none if self._returns == numba.void else self._returns):
            raise TypingError(f"a kernel should return {self._returns}, not {found}")
        return made.library.get_pointer_to_function(made.fndesc.llvm_func_name)


@lru_cache(maxsize=64)
def caller(types: Types, returns: Any = numba.void) -> Function:
    """Return a kernel (address, tuple of arguments) that calls what lies there.

    Numbers are converted to the given types, which must be those of the `Shared` kernel; a loop
    whose other arguments are of other types does not compile.
    """
    if interpreted():
        return plain_call

    def call(typing_context: Any, address: Any, arguments: Any) -> Any:
        given_types = tuple(arguments.types)
        if len(given_types) != len(types) or not all(map(_fits, given_types, types)):
            raise TypingError(f"a kernel for {types} cannot be called with {given_types}")

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            convention = context.call_conv
            function = convention.get_function_type(returns, types).as_pointer()
            status, found = convention.call_function(
                builder,
                builder.inttoptr(given[0], function),
                returns,
                types,
                cgutils.unpack_tuple(builder, given[1]),
            )
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return context.get_dummy_value() if returns == numba.void else found

        return returns(numba.intp, compiler.types.Tuple(types)), generate

    # The name is what digests see of it.
    call.__name__ = (
        f"call_{hashlib.blake2b(repr((types, returns)).encode(), digest_size=12).hexdigest()}"
    )
    made: Function = intrinsic(call)
    return made


def _fits(given: Any, wanted: Any) -> bool:
    number = compiler.types.Number
    return given == wanted or (isinstance(given, number) and isinstance(wanted, number))


def plain_call(kernel: Function, arguments: tuple[Any, ...]) -> Any:
    """Call a kernel that is not compiled, whose address is itself."""
    return kernel(*arguments)
