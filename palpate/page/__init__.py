"""The page: a process that shows frames in a browser and brings the hand and the buttons back.  No compiler here."""
