"""Models of what the display is built of: tracker, base, lift, force sensor.  Mobile display, 1.2."""
