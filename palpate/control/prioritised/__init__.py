"""Tasks in order of priority, at velocity level (pp.Tasks)."""
