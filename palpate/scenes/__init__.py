"""Ready-made scenes: functions shared by tests, benchmarks, experiments, page and command line."""

from palpate.registry import Registry

SCENES: Registry = {
    "arm": ("palpate.scenes.arm:arm", "a PUMA 560 draws a line there and back; pull it anywhere and it yields"),
    "arm-line": ("palpate.scenes.arm:arm_line", "the I-GMS line: a wall to reach, and an obstacle on the way"),
    "arm-rest": ("palpate.scenes.arm:arm_at_rest", "the same arm at rest: nothing moves until you pull"),
    "ball-on-plane": ("palpate.scenes.balls:ball_on_plane", "a ball to push: it slides first, then rolls"),
    "bouncing-balls": ("palpate.scenes.balls:bouncing_balls", "six balls dropped together, each with its restitution"),
    "box-on-table": ("palpate.scenes.blocks:box_on_table", "a box of 2 kg on a table: drag it about"),
    "bridge": ("palpate.scenes.bridge:bridge", "planks on spherical joints hang between two posts"),
    "cards": ("palpate.scenes.blocks:cards", "two cards lean on each other, by friction alone"),
    "carry-two": ("palpate.scenes.tables:carry_two", "two persons carry a plank; lead it, or let one of them lead"),
    "cradle": ("palpate.scenes.balls:cradle", "Newton's cradle: one ball in, one ball out"),
    "crowd": ("palpate.scenes.crowd:crowd", "200 boxes, balls, capsules and cylinders around a PUMA 560"),
    "dominoes": ("palpate.scenes.blocks:dominoes", "a row of twenty tiles, the first one falling"),
    "hand-over": ("palpate.scenes.acting:hand_over", "it takes a box and holds it out: pull, and it is yours"),
    "hand-shake": ("palpate.scenes.acting:hand_shake", "it offers its hand: take it, and it shakes along with you"),
    "hrp2": ("palpate.scenes.standing:hrp2_standing", "HRP-2 stands on soles of 32 points; push it and it recovers"),
    "human": ("palpate.scenes.standing:human_standing", "a person of 75 kg stands on soles of 104 points"),
    "incline": ("palpate.scenes.blocks:incline", "a box on a slope, held by friction until you push"),
    "inspection": ("palpate.scenes.past:inspection", "lead a PUMA's tool behind a pillar; the score is kept"),
    "push-me": ("palpate.scenes.pushed:push_me", "push HRP-2: it keeps its balance, and steps when it must"),
    "push-me-human": ("palpate.scenes.pushed:push_me_human", "push a person, who keeps the balance and steps"),
    "stack": ("palpate.scenes.blocks:stack", "five boxes on each other"),
    "table-hrp2": ("palpate.scenes.tables:table_hrp2", "HRP-2 takes a box from a table; drag it, and it comes along"),
    "table-human": ("palpate.scenes.tables:table_human", "a person takes a box from a table; drag it with them"),
    "tap": ("palpate.scenes.acting:tap", "tap it and it nods, stroke it and it softens, lead it by the hand"),
    "tippe-top": ("palpate.scenes.spinning:tippe_top", "a ball with its weight off the middle spins and turns over"),
    "training": ("palpate.scenes.past:training", "bring a puck round a bar to a target, again and again"),
    "top": ("palpate.scenes.spinning:spinning_top", "a top on a pivot circles slowly"),
}
