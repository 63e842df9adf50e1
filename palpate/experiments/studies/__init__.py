"""Studies: what is varied on many cores (sweeps/), and what people are asked (people/)."""
