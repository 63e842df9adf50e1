"""A mobile haptic display in a World: person, trackers, estimate, planner, base, and the arms that it carries."""
