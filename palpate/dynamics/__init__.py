"""Kinematics and dynamics of trees: one algorithm per file, world-aligned and co-moving (see kinematics.py)."""
