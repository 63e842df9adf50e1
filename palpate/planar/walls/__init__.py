"""Walls, one law per file (haptics/contact_laws.py)."""
