"""A session's recording: the process that writes it, and the player that shows it again."""
