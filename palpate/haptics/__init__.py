"""The hand's way: device reading, coupling or proxy, wrench on bodies and force on the hand, safety."""
