"""Keepers, one per file: walls around a wall that keep it passive (haptics/contact_laws.py)."""
