"""Who is near whom, and which vertex is on which edge."""
