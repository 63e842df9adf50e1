"""Where the robot goes: target and cases, direction and velocity laws, barrier, warnings, room.  Mobile display, 4."""
