"""Digests of code: what a function, a class or an object does, wherever it is written.

A digest covers all that the code reaches: functions and classes, of its own module and of others,
the constants it reads, default arguments, variables of enclosing functions, bound names, inherited
methods, class variables. It does not depend on the process, the folder, line numbers or comments.
Bytecode is what is read, so it works for code typed at a prompt, too, and another version of
Python, which compiles to other bytecode, is other code.

What it cannot see: what code reads while it runs (files, the environment, the clock), and names
that it puts together at run time.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from affinity_bandits.bytecode import imported, installed_version, is_generated, reads, top_of
from affinity_bandits.errors import NotSupported, shown

PACKAGE = "affinity_bandits"
FOUNDATIONS = frozenset({PACKAGE, "numpy", "numba", "llvmlite", *sys.stdlib_module_names})
"""What the package itself is and stands on: counted by name, as for the built-in policies."""
PLACES = frozenset({"__file__", "__path__", "__spec__", "__loader__", "__cached__", "__name__"})
"""Globals that say where a module lies, not what it does."""
BESIDE = frozenset(
    (
        "__dict__",
        "__weakref__",
        "__doc__",
        "__module__",
        "__qualname__",
        "_abc_impl",
        "__annotations__",
        "__annotate__",
        "__annotate_func__",
        "__annotations_cache__",
        "__dataclass_fields__",
        "__dataclass_params__",
        "__match_args__",
        "__orig_bases__",
        "__parameters__",
        "__type_params__",
        "__firstlineno__",
        "__static_attributes__",
        "__slotnames__",  # noted by pickle at its first sight of the class
    )
)
"""Attributes of a class that do nothing, or are read in another way."""
C_FUNCTIONS = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)


def code_digest(value: Any) -> str:
    """Return a digest of code with all that it reaches, the package's own code included.

    It tells apart equal code in different modules, because machine code names its module.
    """
    walk = _Walk(whole=True, strict=False)
    walk.feed(value)
    return walk.hexdigest()


def own_code(value: Any, *, strict: bool = True) -> str | None:
    """Return a digest of the user's own code in an object, or None if there is none.

    The package's code, numpy, numba and the standard library count by name; other installed
    packages by name and version, but for the one in which the object itself is defined.

    Args:
        value: a policy, a bias, a function, or a tuple of such things.
        strict: refuse what cannot be digested; otherwise it is different in every process.

    Raises:
        NotSupported: the code reads something whose content cannot be compared, e.g. a lock.
    """
    walk = _Walk(whole=False, strict=strict)
    try:
        walk.feed(value)
    except RecursionError:
        raise NotSupported(
            f"the code of {shown(value)} reads data that is nested too deeply to be compared"
        ) from None
    return walk.hexdigest() if walk.found else None


class _Walk:
    """One walk over the objects that code reaches."""

    def __init__(self, whole: bool, strict: bool) -> None:
        self.whole = whole
        self.strict = strict
        self.found = False  # code of the user's
        self._state = hashlib.blake2b(digest_size=12)
        self._seen: dict[int, int] = {}
        self._open: list[int] = []
        self._alive: list[Any] = []  # ids are of use only while their objects live
        self._home: set[str] = set()
        self._path: list[str] = []

    def hexdigest(self) -> str:
        return self._state.hexdigest()

    def feed(self, value: Any) -> None:
        """Add a value, with all that it reaches, to the digest."""
        if type(value) is int:
            self._put("int", f"{value:x}")  # of any length, unlike repr
        elif value is None or type(value) in (bool, float, complex, str, bytes):
            self._put(type(value).__name__, repr(value))
        elif isinstance(value, types.CodeType):
            self._code(value)
        elif isinstance(value, types.FunctionType):
            self._once(value, self._function)
        elif isinstance(value, type):
            self._once(value, self._class)
        elif isinstance(value, types.ModuleType):
            self._module(value, frozenset())
        elif id(value) in self._open:  # it contains itself
            self._put("inside", str(self._open.index(id(value))))
        else:
            self._alive.append(value)
            self._open.append(id(value))
            self._data(value)
            self._open.pop()

    def _put(self, tag: str, text: str | bytes = "") -> None:
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        self._state.update(f"{tag}:{len(data)}:".encode())
        self._state.update(data)

    def _named(self, name: str, value: Any) -> None:
        self._put("name", name)
        self._path.append(name)
        self.feed(value)
        self._path.pop()

    def _once(self, value: Any, read: Callable[[Any], None]) -> None:
        """Read a function or a class the first time; after that, add its number only."""
        if id(value) in self._seen:
            self._put("again", str(self._seen[id(value)]))
            return
        self._seen[id(value)] = len(self._seen)
        self._alive.append(value)
        read(value)

    def _data(self, value: Any) -> None:
        kind = type(value)
        self._put(kind.__name__)
        if kind in (tuple, list):
            self._put("length", str(len(value)))
            for item in value:
                self.feed(item)
        elif kind in (dict, types.MappingProxyType):
            # In the order of insertion, on which a loop over it depends.
            self.feed(list(value.items()))
        elif kind in (set, frozenset):
            for digest in sorted(self._apart(item) for item in value):
                self._put("element", digest)
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self._put("shape", f"{value.dtype.str} {value.shape}")
            self._put("values", np.ascontiguousarray(value).tobytes())
        elif isinstance(value, np.generic | np.dtype | np.ufunc):
            self._put("numpy", repr(value))
        elif kind is types.CellType:
            self._cell(value)
        elif kind is types.MethodType:
            self.feed((value.__self__, value.__func__))
        elif isinstance(value, staticmethod | classmethod):
            self.feed(value.__func__)
        elif isinstance(value, property):
            self.feed((value.fget, value.fset, value.fdel))
        elif isinstance(value, functools.cached_property):
            self.feed(value.func)
        elif isinstance(value, functools.partial):
            self.feed((value.func, value.args, value.keywords))
        elif isinstance(getattr(value, "py_func", None), types.FunctionType):
            # Compiled by the user: options such as fastmath change what it computes.
            self.feed((value.py_func, dict(getattr(value, "targetoptions", {}))))
        elif isinstance(getattr(value, "__wrapped__", None), types.FunctionType):
            self.feed(value.__wrapped__)  # functools.lru_cache
        elif isinstance(value, C_FUNCTIONS):
            self._c_function(value)
        elif top_of(kind.__module__) == "numba":
            self._put("numba", repr(value))
        elif dataclasses.is_dataclass(value):
            self._described(value)
        else:
            self._object(value)

    def _apart(self, value: Any) -> bytes:
        """Return the digest of one element of a set, whose elements have no order."""
        walk = _Walk(self.whole, self.strict)
        walk._open, walk._home, walk._path = self._open, self._home, self._path
        walk._seen, walk._alive = dict(self._seen), self._alive
        walk.feed(value)
        self.found |= walk.found
        return walk._state.digest()

    def _cell(self, cell: Any) -> None:
        try:
            content = cell.cell_contents
        except ValueError:
            self._put("empty")
        else:
            self.feed(content)

    def _described(self, value: Any) -> None:
        """Read an instance of a dataclass: a policy, a bias, or a constant of the user's."""
        self.feed(type(value))
        for item in dataclasses.fields(value):
            self._named(item.name, getattr(value, item.name, None))
        kernels = getattr(value, "kernels", None)
        if callable(kernels) and self._is_read(type(value).__module__):
            try:
                made = tuple(kernels())
            except Exception:  # running it will say what is wrong
                made = ()
            self._named("kernels", made)  # with whatever the class binds to them

    def _object(self, value: Any) -> None:
        """Read any other object by its pickled form."""
        try:
            reduced = value.__reduce_ex__(4)
        except Exception:
            self._opaque(value)
            return
        if isinstance(reduced, str):
            self._put("name", f"{type(value).__module__} {reduced}")
            return
        for part in reduced:
            # Contents of lists and dictionaries come as iterators.
            self.feed(list(part) if hasattr(part, "__next__") else part)

    def _opaque(self, value: Any) -> None:
        if self.strict:
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            raise NotSupported(
                f"{' > '.join(self._path) or 'the code'} is a {kind}, whose content cannot be "
                f"compared: results of this code could not be told apart from those of an edited "
                f"one. Make it a number, text, array or function, or create it where it is used"
            )
        self._put("opaque", str(id(value)))

    def _function(self, function: types.FunctionType) -> None:
        # Whoever hands in a function chose it, even if it is one of ours: there are no others that
        # a policy's or a bias's settings lead to.
        self.found = True
        module = str(function.__globals__.get("__name__", ""))
        if not self._is_read(module):
            self._put("function", f"{module}.{function.__qualname__} {self._version(module)}")
            home = sys.modules.get(module)
            if home is None or function.__globals__ is not vars(home):
                self._follow(function)  # a kernel of ours with names that were bound to it
            elif top_of(module) in sys.stdlib_module_names:
                self.feed(function.__closure__)  # a decorator's wrapper holds what it wraps
            return
        self._is_found(module)
        self._put("function", f"{module}.{function.__qualname__}" if self.whole else "")
        self._path.append(function.__qualname__)
        self._code(function.__code__)
        self.feed(function.__defaults__)
        self.feed(function.__kwdefaults__)
        self.feed(function.__closure__)
        self.feed(function.__dict__)
        self._follow(function)
        self._path.pop()

    def _follow(self, function: types.FunctionType) -> None:
        """Read the globals that a function reads, and what it imports."""
        read = reads(function.__code__)
        for name in read.names:
            if name in function.__globals__ and name not in PLACES:
                value = function.__globals__[name]
                if isinstance(value, types.ModuleType):
                    self._put("global", name)
                    self._module(value, read.attributes)
                else:
                    self._named(name, value)
        for name, level, taken in read.imports:
            if level > 0 or top_of(name) not in FOUNDATIONS:
                module = imported(name, level, taken, function.__globals__.get("__package__"))
                if module is not None:
                    self._module(module, read.attributes)

    def _module(self, module: types.ModuleType, attributes: frozenset[str]) -> None:
        """Read what is taken of a module: whatever it has of the attributes that code names."""
        if not self._is_read(module.__name__):
            self._put("module", f"{module.__name__} {self._version(module.__name__)}")
            return
        for name in sorted(attributes & vars(module).keys()):
            value = vars(module)[name]
            if isinstance(value, types.ModuleType):
                self._put("module", name)
                self._once(value, functools.partial(self._module, attributes=attributes))
            else:
                self._named(name, value)

    def _class(self, cls: type) -> None:
        name = f"{cls.__module__}.{cls.__qualname__}"
        if not self._is_read(cls.__module__):
            self._put("class", f"{name} {self._version(cls.__module__)}")
            return
        self._is_found(cls.__module__)
        self._put("class", name if self.whole else "")
        self._path.append(cls.__qualname__)
        self.feed(type(cls))
        for base in cls.__bases__:
            self.feed(base)
        if dataclasses.is_dataclass(cls):
            for item in dataclasses.fields(cls):
                self._put("field", f"{item.name} {item.init} {item.kw_only}")
                self.feed((item.default, item.default_factory))
        for key in sorted(vars(cls).keys() - BESIDE):
            value = vars(cls)[key]
            if not is_generated(cls, key, value):
                self._named(key, value)
        self._path.pop()

    def _code(self, code: types.CodeType) -> None:
        self._put("code", code.co_code)
        self._put("caught", code.co_exceptiontable)
        # Names of arguments too: two empty functions of different signatures have the same bytes.
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_varnames, code.co_names, code.co_freevars, code.co_cellvars)
        self._put("names", repr((counts, names)))
        self.feed(code.co_consts)

    def _c_function(self, function: Any) -> None:
        """Read a function that is not Python: by name and, if it is the user's, by its file."""
        owner = getattr(function, "__objclass__", function)
        module = getattr(owner, "__module__", None) or "builtins"
        self._put("name", f"{module}.{function.__qualname__} {self._version(module)}")
        bound = getattr(function, "__self__", None)
        if not isinstance(bound, types.ModuleType | None):
            self.feed(bound)
        file = getattr(sys.modules.get(module), "__file__", None)
        if self._is_read(module) and file is not None:
            self._is_found(module)
            self._put("file", hashlib.blake2b(Path(file).read_bytes()).digest())

    def _is_found(self, module: str) -> None:
        if top_of(module) != PACKAGE:
            self.found = True
            self._home.add(top_of(module))

    def _is_read(self, module: str) -> bool:
        """Return whether a module's code is read; otherwise it counts by name and version."""
        top = top_of(module)
        if top in FOUNDATIONS:
            return self.whole and top == PACKAGE
        return self.whole or not self._home or top in self._home or not installed_version(top)

    def _version(self, module: str) -> str:
        return "" if top_of(module) in FOUNDATIONS else installed_version(top_of(module))
