"""Kernels as parts of others: their LLVM code is kept as it is lowered, and becomes machine code with who calls them.

Numba optimises every function by itself, makes machine code of it, and does both again with each function that it is
inlined into.  Of a kernel nobody but compiled code ever calls, all that is for nothing: it took a third of a first
start.  Here a kernel is linked from what it calls and left alone; an entry, a routine or a shared function is optimised
once, with all its kernels in it.
"""

from __future__ import annotations

import re
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import base, callconv, cgutils, compiler, imputils, types
from numba.core.runtime.nrt import rtsys

from palpate.jit.compiler.narrow import NarrowLibrary

KIND = "part"  # of what is kept, beside numba's "object" and "bitcode"
_FAILING = re.compile(r"^  ret i32 (?!0$|-2$)", re.MULTILINE)  # other than numba's codes for a value and for None


class PartLibrary(NarrowLibrary):
    """LLVM code of a kernel and of all that it calls, for whoever links it."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._failing: dict[str, bool] = {}  # by name

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if library is not rtsys.library:  # a kernel allocates nothing
                self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvmlite.binding.Linkage.external:
                function.linkage = "linkonce_odr"  # defined wherever it is called from
        self._finalize_dynamic_globals()
        self._shared_module, self._finalized = self._final_module, True

    def may_fail(self, name: str) -> bool:
        """Whether a function of it can raise: of those that were compiled with bounds checks most can."""
        if name not in self._failing:
            self._failing[name] = bool(_FAILING.search(str(self._final_module.get_function(name))))
        return self._failing[name]

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0  # there is no machine code

    @property
    def codegen(self) -> Any:
        return self  # numba asks it for one thing only:

    def set_env(self, name: str, environment: Any) -> None:
        """Of the Python objects of a function, which a kernel has none of."""

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        self._ensure_finalized()
        return self.name, KIND, self._final_module.as_bitcode()


class PartCompiler(compiler.Compiler):
    """Numba's, of kernels."""

    def compile_extra(self, func: Any) -> Any:
        self.state.library = PartLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


def reduced(result: Any) -> tuple[Any, ...]:
    """A CompileResult to be kept, without the annotated source, which names folders of this machine."""
    *first, _, reload_init, environments = result._replace(type_annotation="")._reduce()
    return (*first, "", reload_init, environments)


def rebuilt(context: Any, content: tuple[Any, ...]) -> Any:
    """What `reduced` took apart, a kernel or another function."""
    (name, kind, code), *rest = content
    if kind != KIND:
        return compiler.CompileResult._rebuild(context, *content)
    fndesc, environment, signature, objectmode, lifted, annotation, reload_init, environments = rest
    library = PartLibrary(context.codegen(), name)
    library._final_module = library._shared_module = llvmlite.binding.parse_bitcode(code)
    library._finalized = True
    return compiler.compile_result(
        target_context=context, typing_context=context.typing_context, library=library, environment=environment,
        entry_point=context.get_executable(library, fndesc, environment), fndesc=fndesc, type_annotation=annotation,
        signature=signature, objectmode=objectmode, lifted=lifted, reload_init=reload_init,
        referenced_envs=environments,
    )  # fmt: skip


def caller(fndesc: Any, libraries: Any = ()) -> Any:
    """What is emitted where a compiled function is called: of a kernel that cannot raise nobody asks whether it did."""
    usual = imputils.user_function(fndesc, libraries)
    library = libraries[0] if libraries else None
    if not isinstance(library, PartLibrary) or isinstance(fndesc.restype, types.Optional):
        return usual

    def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if library.may_fail(fndesc.llvm_func_name):
            return usual(context, builder, sig, args)
        function, convention = context.declare_function(builder.module, fndesc), context.call_conv
        result = cgutils.alloca_once(builder, convention.get_return_type(fndesc.restype).pointee)
        no_failure = ir.Constant(ir.PointerType(ir.PointerType(callconv.excinfo_t)), None)
        given = convention._get_arg_packer(fndesc.argtypes).as_arguments(builder, args)
        builder.call(function, [result, no_failure, *given])
        value = context.get_returned_value(builder, fndesc.restype, builder.load(result))
        return imputils.impl_ret_new_ref(context, builder, fndesc.restype, value)

    call.signature, call.libs = usual.signature, usual.libs  # type: ignore[attr-defined]
    return call


base.user_function = caller
