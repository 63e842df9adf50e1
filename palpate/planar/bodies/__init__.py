"""Rigid bodies in the plane: polygons, who touches whom, impacts, forces, motion, and where the energy goes."""
