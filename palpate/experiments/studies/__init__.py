"""Studies, once a simulation works: it is varied on many cores (sweeps/), and people are asked (people/)."""
