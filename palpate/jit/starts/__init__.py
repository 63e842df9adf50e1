"""First starts: who compiles what, and what somebody who waits is told.

ahead         more processes that compile.
remaining     what is left, and for how long.
progress      what is said meanwhile.
garbage       the collector, which looks rarely meanwhile.
prebuilding   what a wheel is to bring.
"""
