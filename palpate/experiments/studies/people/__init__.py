"""Perceptual studies: a person feels, answers, and the answers become thresholds.  `palpate study FILE`."""
