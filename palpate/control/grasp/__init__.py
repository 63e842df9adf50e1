"""Grasp by friction: two palms on an object, squeezed, lifted, led; what is held yields."""
