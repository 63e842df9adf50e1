"""Impacts of planar bodies: all contacts of a step at once, with or without friction, never creating energy."""
