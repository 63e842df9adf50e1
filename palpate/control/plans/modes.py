"""What a planned motion does when it is touched, and afterwards (reference on articulated bodies 2.4).

wait    the arm yields and the plan waits; let go, it comes back to where it was on the plan
hold    while touched the hand's push adds to the acceleration in force; let go, the mean acceleration of the last 50 ms
        of contact is kept until the next touch: the experiments of I-GMS
resume  while touched the planned acceleration goes on and the push adds to it; let go, a new way to the goal is planned
        from where the tool is and how it moves
blend   the plan goes on, and the hand drives an offset from it, like a mass on a damper (and a spring, if there is one)
teach   the arm weighs nothing and follows the hand; what it did becomes a plan

planned, touched, edited: before, while and after a hand acts;  ended: a motion without a plan has reached the wall, or
a limit of a joint, and was stopped
"""

MODES = ("wait", "hold", "resume", "blend", "teach")
WAIT, HOLD, RESUME, BLEND, TEACH = range(len(MODES))
STAGES = ("planned", "touched", "edited", "ended")
PLANNED, TOUCHED, EDITED, ENDED = range(len(STAGES))
