"""A World in a session: as a Simulation, and what surrounds it."""
