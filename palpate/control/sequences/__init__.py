"""Sequences of tasks (reach, take, lift, carry, place): described, optimised off-line, played."""
