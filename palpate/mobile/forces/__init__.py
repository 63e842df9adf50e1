"""What a hand feels beside what was asked for, on a base that moves.  Mobile display, 5.5."""
