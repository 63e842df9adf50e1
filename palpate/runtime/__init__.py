"""Running for real: the tick, the loop that times it, and the shared memory that everyone else reads."""
