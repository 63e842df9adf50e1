"""Balance: the capture point over the feet by the forces of the soles, and steps when that is not enough."""
