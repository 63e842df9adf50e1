"""What numba does slowly while it compiles, done sooner and the same.

A first start asks numba's Python a hundred thousand small questions: which signature a call has, which variables a
statement, whether somebody registered something new.  Here the answers are remembered, or found on a shorter way, and
logs that nobody reads are not written; where nothing is known, numba's own functions are asked.  The LLVM code that it
gives is the same to the letter, but for variables that are let go of (tests/test_sooner.py).

Numba's version is pinned; what is replaced here was read in that one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir as llvm
from numba.core import analysis, base, codegen, event, ir, lowering, types
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.typing.context import BaseContext as Typing

# ---- settings of functions: compared for every call that is typed, option by option through properties

_equal = TargetConfig.__eq__


def _same(self: TargetConfig, other: Any) -> Any:
    if self is other or (type(self) is type(other) and self._values == other._values):
        return True
    return _equal(self, other)  # one may say what is the other's default


TargetConfig.__eq__ = _same
TargetConfig.__hash__ = lambda self: hash(tuple(self.options))  # of the names alone, as numba's

# ---- variables of a statement: asked some ten times of each, and found by looking into all that it has

_NO_VARIABLES = frozenset({str, int, float, bool, type(None), ir.Loc, ir.Const, ir.Global, ir.FreeVar, ir.Arg})


def _gather(values: Iterable[Any], found: list[ir.Var]) -> list[ir.Var]:
    for value in values:
        kind = type(value)
        if kind is ir.Var:
            found.append(value)
        elif kind in _NO_VARIABLES:
            continue
        elif isinstance(value, ir.Inst):
            found += value.list_vars()
        elif isinstance(value, (list, tuple)):
            _gather(value, found)
        elif isinstance(value, dict):
            _gather(value.values(), found)
        elif isinstance(value, ir.Var):
            found.append(value)
    return found


ir.Stmt.list_vars = lambda self: _gather(self.__dict__.values(), [])
ir.Expr.list_vars = lambda self: _gather(self._kws.values(), [])


def _use_defs(blocks: dict[int, ir.Block]) -> Any:
    """analysis.compute_use_defs, which lists the variables of what is assigned once, not twice."""
    uses: dict[int, set[str]] = {}
    definitions: dict[int, set[str]] = {}
    for offset, block in blocks.items():
        used = uses[offset] = set()
        defined = definitions[offset] = set()
        for statement in block.body:
            kind = type(statement)
            if kind in analysis.ir_extension_usedefs:
                analysis.ir_extension_usedefs[kind](statement, used, defined)
            elif kind is ir.Assign:
                value, target = statement.value, statement.target.name
                names = {v.name for v in _gather((value,), [])}
                if target not in names:
                    defined.add(target)
                else:
                    names.add(target)
                used |= names - defined
            else:
                used |= {v.name for v in statement.list_vars()} - defined
    return analysis._use_defs_result(usemap=uses, defmap=definitions)


analysis.compute_use_defs = _use_defs


# ---- which signature a call has: of thirty thousand calls of arithmetic there are a few hundred different ones


_settings: list[dict[str, Any]] = [{}]  # of functions being compiled, all different
_last_setting = 0


def _setting() -> int:
    """Which of them the function has that is being compiled: code of its calls depends on it."""
    global _last_setting
    flags = ConfigStack.top_or_none()
    values = flags._values if flags is not None else {}
    if values != _settings[_last_setting]:
        for k, known in enumerate(_settings):
            if known == values:
                _last_setting = k
                break
        else:
            _settings.append(dict(values))
            _last_setting = len(_settings) - 1
    return _last_setting


_asked = types.Function.get_call_type
_signatures: dict[tuple[Any, ...], tuple[Any, ...]] = {}


def _call_type(self: types.Function, context: Any, args: Any, kws: Any) -> Any:
    key = (id(self), id(context), tuple(args), _setting()) if not kws else None
    if key is None or any(not isinstance(each, types.Type) for each in args):
        return _asked(self, context, args, kws)
    known = _signatures.get(key)
    if known is None:
        signature = _asked(self, context, args, kws)
        if signature is not None:  # kept alive, so that no other has their numbers
            _signatures[key] = signature, self._impl_keys[signature.args], self, context
        return signature
    signature, implementation = known[:2]
    self._impl_keys[signature.args] = implementation
    return signature


types.Function.get_call_type = _call_type

_resolved = Typing._resolve_user_function_type


def _user_function(self: Any, func: Any, args: Any, kws: Any, literals: Any = None) -> Any:
    known = self._lookup_global(func)
    kind = type(func if known is None else known)
    if kind is types.Function or issubclass(kind, types.Dispatcher):  # which have no __call__ to look for
        return (func if known is None else known).get_call_type(self, args, kws)
    return _resolved(self, func, args, kws, literals)


Typing._resolve_user_function_type = _user_function


# ---- what was registered since: asked before each function, and for each call that is looked up in a second place

_refresh = base.BaseContext.refresh
_registered: dict[int, tuple[Any, int]] = {}
_LISTS = ("functions", "getattrs", "setattrs", "casts", "constants", "attributes", "globals")


def _count(context: Any) -> int:
    """How much is registered where numba looks."""
    registries = (*context._registries, *context.typing_context._registries)
    return sum(len(getattr(registry, name, ())) for registry in registries for name in _LISTS)


def _refresh_if_new(self: Any) -> None:
    before = _registered.get(id(self._registries))
    if before is None or before[1] != _count(self):
        _refresh(self)
        _registered[id(self._registries)] = self._registries, _count(self)


base.BaseContext.refresh = _refresh_if_new


# ---- events: of locks taken, of passes run; mostly nobody listens


def _if_heard(name: str) -> Callable[..., None]:
    slowly = getattr(event, name)

    def tell(kind: str, *args: Any, **kwargs: Any) -> None:
        if event._registered.get(kind):
            slowly(kind, *args, **kwargs)

    return tell


event.start_event, event.end_event = _if_heard("start_event"), _if_heard("end_event")


# ---- how large a type is: LLVM is asked in a module of text

_sizes: dict[tuple[str, str], int] = {}
_size_of = llvm.Type.get_abi_size


def _abi_size(self: Any, target_data: Any, context: Any = None) -> int:
    if context is not None or isinstance(self, llvm.IdentifiedStructType):  # a name that says nothing of its members
        return _size_of(self, target_data, context)
    key = str(target_data), str(self)
    if key not in _sizes:
        _sizes[key] = _size_of(self, target_data, context)
    return _sizes[key]


llvm.Type.get_abi_size = _abi_size


# ---- passes over single functions: also over those that are only declared, each with passes of its own


def _optimize_functions(self: Any, module: Any) -> None:
    module.data_layout = self._codegen._data_layout
    for function in module.functions:
        if not function.is_declaration:
            passes, builder = self._codegen._function_pass_manager()
            with self._recorded_timings.record(f"Function passes on {function.name!r}", builder):
                passes.run(function, builder)


codegen.CPUCodeLibrary._optimize_functions = _optimize_functions


# ---- variables of functions without numba's runtime own nothing: what they had is not looked at when it goes

_storevar, _delvar = lowering.Lower.storevar, lowering.Lower.delvar


def _store(self: Any, value: Any, name: str, argidx: int | None = None) -> None:
    is_register = name in self._singly_assigned_vars and not self._disable_sroa_like_opt
    if self.context.enable_nrt or is_register or argidx is not None:
        _storevar(self, value, name, argidx)
        return
    self._alloca_var(name, self.typeof(name))
    pointer = self.getvar(name)
    if value.type != pointer.type.pointee:
        raise AssertionError(f"storing {value.type} to {name}, which is {pointer.type.pointee}")
    self.builder.store(value, pointer)


def _delete(self: Any, name: str) -> None:
    if self.context.enable_nrt:
        _delvar(self, name)
        return
    if name not in self._blk_local_varmap and not self._disable_sroa_like_opt:
        self._singly_assigned_vars.discard(name)  # in a loop, before it is set
    self._alloca_var(name, self.typeof(name))


lowering.Lower.storevar, lowering.Lower.delvar = _store, _delete
