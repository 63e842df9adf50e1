"""The planar haptic interface, whole: a redundant parallel device, its control, rigid bodies among walls, and laws."""
