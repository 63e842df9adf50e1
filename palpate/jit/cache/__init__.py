"""Compiled code on disk: where it is kept, when it is stale, whether it is whole, and whose turn it is to make it.

functions   the files of one function, read and written.
folders     folders that only we can fill.
stamps      digests of all source that code was made from.
digests     files that say whether they are whole.
prebuilt    what a wheel brought.
turns       of several processes one compiles, the others wait.
"""
