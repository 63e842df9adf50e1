"""Sweeps: a function of parameters and a seed, over grids, lists and samples, on every core and every machine.

plan.py       a TOML file, or what `pp.sweep` was given -> tasks, each with a key
samples.py    grids, lists, random and Latin-hypercube samples
keys.py       what makes two tasks the same
task.py       what a worker does with a chunk of tasks
executors.py  where they run: any concurrent.futures.Executor; processes.py is the one of this machine
running.py    chunks out, outcomes in; those that fail, hang or die
results.py    outcomes in a file, line by line; the table of them
kept.py       which tasks' recordings stay
progress.py   what is shown meanwhile
figures.py    what is drawn afterwards
front.py      `palpate sweep` and `pp.sweep`
"""
