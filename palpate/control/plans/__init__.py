"""Planned motions: made, timed, followed, edited by a touch, taught; postures blended into each other."""
