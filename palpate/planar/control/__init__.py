"""Control of the planar device: the hand's force from joint angles, impedance, and four channels to a body."""
