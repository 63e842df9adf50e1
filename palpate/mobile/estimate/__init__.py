"""Where the base is at every tick: prediction that cannot leap, a survey of the floor.  Mobile display, 1.3, 1.4."""
