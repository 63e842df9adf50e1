"""What a touch means: a second of force on one body, its features, a decision list, and when to say what."""
