"""Calibration of the mobile display: where tracker, robot and device sit on each other, from recorded poses."""
