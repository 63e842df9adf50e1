"""The device: two five-bar pantographs joined by a crank, which a hand moves in x, y and without limit in angle."""
