"""A package of experiments that need no simulation, as others install theirs: by entry points."""

from pathlib import Path

NAMES = ("quick", "failing", "endless", "dying")
PICTURES = {
    ".png": bytes.fromhex(  # one pixel
        "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c636800000082008177cd72b6"
        "0000000049454e44ae426082"
    ),
    ".svg": b'<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"><path d="M0 0h4v3z"/></svg>',
}
MODULE = f"""
import os, time
from pathlib import Path

class Drawing:
    def savefig(self, file, format, **options):
        file.write({PICTURES!r}["." + format])

def quick(report):
    report.say("it begins")
    print(3)  # whatever is printed is said, and nothing else
    os.write(1, b'{{"done": true}}\\n')
    report.claim("priority", os.nice(0), low=10)
    report.claim("a sum", 1.0 + 1.0, 2.0, 2.0, "m")
    report.claim("nothing", float("nan"), high=1.0)
    report.figure("drawing", Drawing())
    report.recording("motion").write_bytes(b"recorded")

def failing(report):
    report.figure("half", Drawing())
    raise RuntimeError("the arm fell off\\nand more")

def endless(report):
    report.figure("half", Drawing())
    report.say(f"I am {{os.getpid()}}")
    while True:
        time.sleep(0.01)

def dying(report):
    os._exit(7)
"""


def install(folder: Path) -> None:
    """Put the package there; the folder belongs on the path of whoever should find it."""
    info = folder / "some_experiments-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "some_experiments.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-experiments\nVersion: 1.0\n")
    points = "\n".join(f"{name} = some_experiments:{name}" for name in NAMES)
    (info / "entry_points.txt").write_text(f"[palpate.experiments]\n{points}\n")
