"""Foreign C functions from compiled code: arguments arrive in order and whole, and a gate lets nobody in once shut."""

import ctypes
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palpate import jit
from palpate.jit import entry
from palpate.jit.foreign import (
    BUSY,
    OPEN,
    address_of,
    c_address,
    call_int32,
    call_int64,
    enter_gate,
    leave_gate,
    open_gate,
    shut_gate,
)  # fmt: skip
from palpate.jit.routines import routine

pytestmark = pytest.mark.nojit
I, D = ctypes.c_int64, ctypes.c_double
MIXED = (I, D, D, I, D, I, I, D, I, I, D, I, I, D, D, D, D, D, D)  # more of both than there are registers
heard = []
mixed_function = ctypes.CFUNCTYPE(ctypes.c_int32, *MIXED)(lambda *values: heard.append(values) or -7)


@entry("intp, int64[::1], float64[::1]")
def call_mixed(address, i, d):
    given = (i[0], d[0], d[1], i[1], d[2], i[2], i[3], d[3], i[4], i[5], d[4], i[6], i[7], d[5], d[6], d[7], d[8], d[9],
             d[10])  # fmt: skip
    return call_int32(address, given)


@entry("intp, int64")
def call_one(address, x):
    return call_int32(address, (x,))


@entry("intp, int64")
def call_one_wide(address, x):
    return call_int64(address, (x,))


@entry("intp, float64[::1], float64[::1]")
def copy_from_second(memcpy, to, source):
    call_int64(memcpy, (address_of(to, 0), address_of(source, 1), 8 * to.shape[0]))


def address(function):
    return ctypes.cast(function, ctypes.c_void_p).value


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=8, max_size=8),
       st.lists(st.floats(allow_nan=False), min_size=11, max_size=11))  # fmt: skip
def test_every_argument_arrives_in_its_place(integers, floats):
    heard.clear()
    result = call_mixed(address(mixed_function), np.array(integers, dtype=np.int64), np.array(floats))
    assert result == -7  # 32 bits, with their sign
    i, d = iter(integers), iter(floats)
    assert heard == [tuple(next(i) if kind is I else next(d) for kind in MIXED)]


def test_functions_of_libc_are_called_by_their_address():
    libc = ctypes.CDLL(None)
    assert call_one(address(libc.abs), -5) == 5
    assert call_one_wide(address(libc.llabs), -(2**40)) == 2**40
    to, source = np.zeros(3), np.array([1.0, 2.0, 3.0, 4.0])
    copy_from_second(address(libc.memcpy), to, source)
    assert to.tolist() == [2.0, 3.0, 4.0]


@pytest.mark.skipif(jit.DISABLED, reason="the compiler is off")
def test_an_argument_of_another_type_does_not_compile():
    @entry("intp, float32")
    def wrong(address, x):
        return call_int32(address, (x,))

    jit.entries.remove(wrong)
    with pytest.raises(Exception, match="a foreign function takes int64 and float64"):
        wrong(1, np.float32(1.0))


@routine
def double_it(x):
    return 2 * x


def test_a_routine_is_a_C_function_for_others_to_call():
    foreign = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_ssize_t)(c_address(double_it))
    assert foreign(21) == 42


@entry("int64[::1]")
def enter_entry(gate):
    return enter_gate(gate)


@entry("int64[::1]")
def leave_entry(gate):
    leave_gate(gate)


def test_a_gate_is_shut_until_it_is_opened_and_again_after():
    gate = np.zeros(2, dtype=np.int64)
    assert not enter_entry(gate)
    open_gate(gate)
    assert enter_entry(gate)
    leave_entry(gate)
    assert shut_gate(gate)
    assert not enter_entry(gate)
    assert gate.tolist() == [0, 0]


def test_whoever_shuts_a_gate_waits_for_the_one_inside():
    gate = np.zeros(2, dtype=np.int64)
    open_gate(gate)
    assert enter_entry(gate)
    closer = threading.Thread(target=shut_gate, args=(gate,))
    closer.start()
    while gate[OPEN]:
        pass
    assert closer.is_alive()
    assert gate[BUSY] == 1
    leave_entry(gate)
    closer.join()
    assert shut_gate(gate)


def test_a_caller_that_never_leaves_does_not_hold_the_closer_for_ever():
    gate = np.zeros(2, dtype=np.int64)
    open_gate(gate)
    assert enter_entry(gate)
    assert not shut_gate(gate)
