"""Devices that are simulated, played back or scripted."""
