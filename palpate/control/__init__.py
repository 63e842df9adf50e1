"""Trajectories and the controllers that follow them."""
