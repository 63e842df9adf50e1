"""Frames and the chain from the tracker on the ceiling to the tip of the arm.  Mobile display, 2."""
