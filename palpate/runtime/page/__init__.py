"""A session's page: its process, and what it requests."""
