"""Numba as it is used here: what it is told, what it keeps of kernels, and what it does otherwise than by itself.

flags    our arithmetic, and the settings that change machine code.
parts    kernels as LLVM code, which becomes machine code with whoever calls them.
items    items and rows of arrays in few instructions.
sooner   what it does slowly, done sooner and the same.
"""
