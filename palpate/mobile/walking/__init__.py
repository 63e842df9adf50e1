"""People who walk, robots that follow them, in simulated time and by the thousand.  Mobile display, 4 and 6.3."""
