"""Vectors of 256 bits at most, in our own compiled code.

Left alone LLVM makes a Six one register of 512 bits, where the processor has them: it is loaded in two parts that are
then put together and taken apart again to be stored, and one of the processor's units waits while there are any.  As
one of 256 and one of 128 bits a step of a humanoid takes a twentieth less time, and one of 200 balls a twelfth.
"""

from __future__ import annotations

import re
from typing import Any

import llvmlite.binding
from numba.core import compiler
from numba.core.codegen import JITCodeLibrary

# As clang says it of every function; llvmlite knows only attributes without a value.
AT_MOST_256 = ('"min-legal-vector-width"="0"', '"prefer-vector-width"="256"')


class NarrowLibrary(JITCodeLibrary):
    """LLVM code of one of ours.  A function says how wide it may be, and no longer does if one that does not is inlined
    into it: so numba's own (max, min, in) say it, too, which makes no difference to others.
    """

    def add_ir_module(self, module: Any) -> None:
        for function in module.functions:
            if not function.is_declaration:
                set.update(function.attributes, AT_MOST_256)
        super().add_ir_module(module)

    def add_linking_library(self, library: Any) -> None:
        super().add_linking_library(library)
        if not isinstance(library, NarrowLibrary) and not hasattr(library, "is_narrow"):
            library._shared_module, library.is_narrow = _narrowed(library._get_module_for_linking()), True


def _narrowed(module: Any) -> Any:
    """The same with these attributes: those of functions stand in groups, once LLVM has looked at them."""
    text = re.sub(r"^attributes #\d+ = {", rf"\g<0> {' '.join(AT_MOST_256)}", str(module), flags=re.MULTILINE)
    return llvmlite.binding.parse_assembly(text)


class NarrowCompiler(compiler.Compiler):
    """Numba's, of entries and shared functions."""

    def compile_extra(self, function: Any) -> Any:
        self.state.library = NarrowLibrary(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()  # as numba does with one of its own
        return super().compile_extra(function)
