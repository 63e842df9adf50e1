"""Devices that exist, each behind its vendor's interface."""
