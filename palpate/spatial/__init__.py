"""Rotations, transforms and spatial vectors: values for people, kernels for machines."""
