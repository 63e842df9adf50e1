"""Experiments: each a file with one function that makes claims, draws figures and can fail.  `palpate run NAME`."""

from palpate.registry import Registry

EXPERIMENTS: Registry = {
    "arm-blend": (
        "palpate.experiments.arm_blend:run",
        "I-GMS: a push shifts the arm off a plan that goes on; it stays off, or swings back",
    ),
    "arm-effort": (
        "palpate.experiments.arm_effort:run",
        "I-GMS: what pushes and pulls ask of the hand for the same task",
    ),
    "arm-line": ("palpate.experiments.arm_line:run", "the I-GMS line without interaction: link 2 meets the obstacle"),
    "arm-pull": (
        "palpate.experiments.arm_pull:run",
        "I-GMS: two pulls of the tool lead the arm around the obstacle and to the wall",
    ),
    "arm-push": (
        "palpate.experiments.arm_push:run",
        "I-GMS: two pushes on link 2 lead the arm past the obstacle and to the wall",
    ),
    "arm-resume": (
        "palpate.experiments.arm_resume:run",
        "I-GMS: one push, and a new way to the wall planned from where it led",
    ),
    "arm-swing": (
        "palpate.experiments.arm_swing:run",
        "a PUMA arm swings freely and is pushed; energy is accounted for",
    ),
    "arm-teach": (
        "palpate.experiments.arm_teach:run",
        "I-GMS: a hand leads the tool around the obstacle, and the arm does it again",
    ),
    "avatar-hand-shake": (
        "palpate.experiments.avatar_hand_shake:run",
        "a person shakes an avatar's hand at 1 to 3 Hz: how soon it is in step, and what it saves the person",
    ),
    "avatar-patterns": (
        "palpate.experiments.avatar_patterns:run",
        "AMELIF: push, pull, tap, double tap, shake, hold and stroke told apart by force alone",
    ),
    "avatar-carry": (
        "palpate.experiments.avatar_carry:run",
        "two avatars carry a plank: one leads and the other follows what its palms feel, or a hand leads both",
    ),
    "avatar-table-hrp2": (
        "palpate.experiments.avatar_table:run_hrp2",
        "AMELIF: HRP-2 takes a box from a table, and a hand moves it together with the robot",
    ),
    "avatar-table-human": (
        "palpate.experiments.avatar_table:run_human",
        "AMELIF: a person takes a box from a table, and a hand moves it together with them",
    ),
    "avatar-sequence": (
        "palpate.experiments.avatar_sequence:run",
        "AMELIF: HRP-2 takes, carries and places a box; the motion as given and optimised",
    ),
    "avatar-push": (
        "palpate.experiments.avatar_push:run",
        "HRP-2 and a person, pushed in eight directions: springs, balance and steps against the capture point's bound",
    ),
    "ball-push": (
        "palpate.experiments.ball_push:run",
        "a ball on a plane, pushed and released: rolling, slipping and what a hand feels",
    ),
    "contact-scaling": (
        "palpate.experiments.contact_scaling:run",
        "time of a contact solve over contacts and bodies: dense, Lemke and the World's",
    ),
    "friction-cones": (
        "palpate.experiments.friction_cones:run",
        "friction on a polygon against the exact cone: direction, drag, time",
    ),
    "joint-parameters": (
        "palpate.experiments.joint_parameters:run",
        "AMELIF: a spherical joint by quaternion, Euler angles, rotation vector, and three light hinges",
    ),
    "learn-by-touch": (
        "palpate.experiments.learn_by_touch:run",
        "a hand that only feels finds its way past an obstacle, and learns from trial to trial",
    ),
    "mobile-calibration": (
        "palpate.experiments.mobile_calibration:run",
        "a mobile display calibrated from recorded poses: what six offsets hide, psi, harmonics, and which to believe",
    ),
    "mobile-follow": (
        "palpate.experiments.mobile_follow:run",
        "mobile display: a robot follows a walking person: the thesis' law, at full speed, and improved",
    ),
    "mobile-forces": (
        "palpate.experiments.mobile_forces:run",
        "mobile display: what is commanded and what a force sensor measures, while hand and base move",
    ),
    "mobile-leaps": (
        "palpate.experiments.mobile_leaps:run",
        "mobile display: the haptic point leaps when the base's pose is held, and not when it is predicted",
    ),
    "mobile-lift": (
        "palpate.experiments.mobile_lift:run",
        "mobile display: a lift under the device follows the hand's height, and is not felt",
    ),
    "mobile-regions": (
        "palpate.experiments.mobile_regions:run",
        "mobile display: where a user may walk, jump and turn to in a second, over the robot's speed",
    ),
    "mobile-safety": (
        "palpate.experiments.mobile_safety:run",
        "mobile display: thousands of walkers, hostile ones too, against each planner: distance, escape, warnings",
    ),
    "mobile-two-users": (
        "palpate.experiments.mobile_two_users:run",
        "mobile display: two persons and two robots in one room keep apart, and robots change hands",
    ),
    "mobile-z-width": (
        "palpate.experiments.mobile_z_width:run",
        "mobile display: the stiffest quiet wall, over the base's speed and over how its pose is known",
    ),
    "planar-device": (
        "palpate.experiments.planar_device:run",
        "the planar pantographs over their plane: workspace, isotropy, force and resolution",
    ),
    "planar-four-channel": (
        "palpate.experiments.planar_four_channel:run",
        "a hand leads a body onto a wall: position and force, force alone, and two channels",
    ),
    "planar-observer": (
        "palpate.experiments.planar_observer:run",
        "the hand's force without a sensor: two observers, their lag and ripple, and a velocity that is biased",
    ),
    "planar-friction": (
        "palpate.experiments.planar_friction:run",
        "planar haptics: eight frictions below break-away: drift, dither, unloading, a ramp, settling",
    ),
    "planar-peg": (
        "palpate.experiments.planar_peg:run",
        "planar haptics: a peg pushed into a tight hole slips and sticks, with five frictions",
    ),
    "planar-peg-device": (
        "palpate.experiments.planar_peg_device:run",
        "planar haptics: a hand pushes the peg on the simulated device: what each friction feels like",
    ),
    "planar-rates": (
        "palpate.experiments.planar_rates:run",
        "planar haptics: what 250 Hz to 4 kHz do to each wall, and a velocity filter's best cut-off",
    ),
    "planar-walls": (
        "palpate.experiments.planar_walls:run",
        "planar haptics: a block pushed onto each wall: which create energy, which keep it, which bring it to rest",
    ),
    "planar-walls-device": (
        "palpate.experiments.planar_walls_device:run",
        "planar haptics: a hand leads a tilted block into each wall on the simulated device, relaxed and firm",
    ),
    "sync-vs-async": (
        "palpate.experiments.sync_vs_async:run",
        "a wall in step with the servo against a slow one: lag, energy, stability",
    ),
    "z-width": (
        "palpate.experiments.z_width:run",
        "which virtual walls a sampled device can show, and what remedies do",
    ),
}
