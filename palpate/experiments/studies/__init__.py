"""Studies: what follows once a simulation works.  It is varied (sweeps), and people are asked."""
