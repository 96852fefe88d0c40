"""Calls from Python: the numbers of all arguments in one block, and its address the only argument.

numba gives every function that Python calls a second one that takes Python's objects apart. For a
loop, whose arguments are some forty arrays, that takes as long to compile as the loop itself, and
anew for every policy. Here Python writes down where the arrays lie, and the loop begins by reading.
"""

from __future__ import annotations

import ctypes
import hashlib
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic

from affinity_bandits.kernels import Function, bind, unbound
from affinity_bandits.simulation.code_cache import as_it_is, interpreted
from affinity_bandits.simulation.compiled import compiled
from affinity_bandits.simulation.pointers import Types, types_of

WORD = 8
compiler: Any = numba
loop: Function = unbound
unpacked: Function = unbound


def enter(block: int) -> Any:
    """Call the loop with the arguments whose numbers lie in a block; a kernel."""
    return loop(*unpacked(block))


@lru_cache(maxsize=256)
def unpacker(types: Types) -> Function:
    """Return a kernel from the address of a block to the arguments that it has the numbers of."""

    def unpack(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            packer = context.get_arg_packer(types)
            words = []
            for place, kind in enumerate(packer.argument_types):
                at = builder.add(given[0], given[0].type(WORD * place))
                words.append(builder.load(builder.inttoptr(at, kind.as_pointer())))
            values = packer.from_arguments(builder, words)
            return context.make_tuple(builder, signature.return_type, values)

        return compiler.types.Tuple(types)(numba.intp), generate

    # The name is what digests see of it.
    unpack.__name__ = f"unpack_{hashlib.blake2b(repr(types).encode(), digest_size=12).hexdigest()}"
    made: Function = intrinsic(unpack)
    return made


@lru_cache(maxsize=256)
def entry(kernel: Function, types: Types) -> Function:
    """Return the compiled function (address of a block) that calls a kernel."""
    return compiled(bind(enter, loop=kernel, unpacked=unpacker(types)), inlined=False)


class Call:
    """A kernel with its arguments, for Python to call again and again.

    Args:
        kernel: a plain function, not yet compiled.
        fixed: its first arguments. Arrays stay where they are, so that a call sees what they have
            by then.
        others: examples of all other arguments. What is given in their place is of the same types:
            arrays have their numbers side by side.
    """

    def __init__(self, kernel: Function, fixed: tuple[Any, ...], others: tuple[Any, ...]) -> None:
        self._fixed = fixed
        if interpreted():
            self._kernel = as_it_is(kernel)
            return
        self._entry: Any = entry(kernel, types_of(*fixed, *others))
        words = list(_words(fixed))
        self._first = len(words)
        self._block = np.zeros(self._first + len(list(_words(others))), dtype=np.int64)
        self._block[: self._first] = words
        self._others = self._block[self._first :]
        self._address = self._block.ctypes.data

    def compile(self) -> None:
        """Compile the kernel, or load what was compiled before."""
        if not interpreted():
            self._entry.compile((numba.intp,))

    def __call__(self, *others: Any) -> Any:
        if interpreted():
            return self._kernel(*self._fixed, *others)
        self._others[:] = list(_words(others))
        return self._entry(self._address)


def _words(value: Any) -> Any:
    """Yield the numbers of a value in the order in which numba takes them, each as eight bytes."""
    if isinstance(value, tuple):
        for part in value:
            yield from _words(part)
    elif isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError("the numbers of an array lie side by side")
        # Nobody counts references to it, and it is not Python's.
        yield from (0, 0, value.size, value.itemsize, value.ctypes.data)
        yield from value.shape
        yield from value.strides
    elif isinstance(value, np.random.Generator):
        source = value.bit_generator.ctypes
        calls = (source.next_uint64, source.next_uint32, source.next_double)
        yield from (0, source.state_address, source.state.value)
        yield from (ctypes.cast(call, ctypes.c_void_p).value for call in calls)
        yield from (source.bit_generator.value, 0, 0)
    elif isinstance(value, float | np.floating):
        yield int(np.float64(value).view(np.int64))
    else:
        yield int(np.uint64(value).view(np.int64)) if isinstance(value, np.uint64) else int(value)
