"""Hands and gaze as behaviours ask, within the limits that keep a person safe."""
